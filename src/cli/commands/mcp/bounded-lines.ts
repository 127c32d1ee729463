import { Transform } from "node:stream";

const LINE_MAX_OCTETS = 1_000_000;
/** Of a longer line so much of each end is kept, for its id. */
const ENDS_OCTETS = 10_000;

type MessageId = string | number;

/** Lines as they came; one that is too long is left out, and told with its id where an end of it shows one. */
export function boundedLines(told: (id: MessageId, why: string) => void): Transform {
  let line: Buffer[] = [];
  let octets = 0;
  const why = `The message is longer than ${String(LINE_MAX_OCTETS)} octets.`;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      for (let from = 0; from < chunk.length;) {
        const at = chunk.indexOf("\n", from);
        const end = at < 0 ? chunk.length : at + 1;
        line.push(chunk.subarray(from, end));
        octets += end - from;
        from = end;
        const isLong = octets > LINE_MAX_OCTETS;
        if (isLong) {
          const all = Buffer.concat(line);
          line = [all.subarray(0, ENDS_OCTETS), all.subarray(-ENDS_OCTETS)];
        }
        if (at < 0) continue;
        const text = Buffer.concat(line);
        [line, octets] = [[], 0];
        if (!isLong) this.push(text);
        else {
          const id = idIn(text.toString());
          if (id !== undefined) told(id, why);
        }
      }
      done();
    },
    flush(done) {
      done(null, octets > LINE_MAX_OCTETS ? null : Buffer.concat(line));
    },
  });
}

function idIn(text: string): MessageId | undefined {
  const found = /"id"\s*:\s*("[^"\\]{1,200}"|\d{1,15})/.exec(text)?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as MessageId);
}
