import { once } from "node:events";
import { type Readable, Transform, type Writable } from "node:stream";
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const LINE_OCTETS_MAX = 1_048_576;
/** A longer line keeps so much of both ends, where its id may stand. */
const END_OCTETS = 4_096;

const ID = String.raw`"id"\s*:\s*("[^"\\\x00-\x1f]*"|-?(?:0|[1-9]\d*))`;
/** The message's own id, before its first inner object or behind its last. */
const IDS = [
  new RegExp(`^[^{]*\\{[^{}[\\]]*?${ID}`),
  new RegExp(`${ID}\\s*(?:,[^{}[\\]]*)?\\}\\s*$`),
];

/** Passes whole lines on. The library would read nothing more after one that is too long: it is refused here, with its id. */
function boundedLines(output: Writable): Transform {
  let line = Buffer.alloc(0);
  let octets = 0;
  const take = (piece: Buffer): void => {
    octets += piece.length;
    line = Buffer.concat([line, piece]);
    if (octets <= LINE_OCTETS_MAX) return;
    line = Buffer.concat([line.subarray(0, END_OCTETS), line.subarray(-END_OCTETS)]);
  };
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      let from = 0;
      for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", from)) {
        take(piece.subarray(from, end + 1));
        if (octets <= LINE_OCTETS_MAX) this.push(line);
        else output.write(`${JSON.stringify(refusal(line))}\n`);
        line = Buffer.alloc(0);
        octets = 0;
        from = end + 1;
      }
      take(piece.subarray(from));
      done();
    },
  });
}

function refusal(line: Buffer): object {
  const ends = [line.subarray(0, END_OCTETS), line.subarray(-END_OCTETS)].map(String);
  const [id = "null"] = IDS.flatMap((form, at) => form.exec(ends[at] ?? "")?.[1] ?? []);
  const message = `A message has at most ${String(LINE_OCTETS_MAX)} octets.`;
  return { jsonrpc: "2.0", id: JSON.parse(id) as unknown, error: { code: -32_600, message } };
}

/** The library's transport, but requests that are open when the input ends are still answered, and long lines refused. */
export function answeringTransport(
  input: Readable,
  output: Writable,
): { readonly transport: Transport; readonly ended: Promise<unknown> } {
  const held = input.pipe(boundedLines(output), { end: false });
  const wire = new StdioServerTransport(held, output);
  const open = new Set<unknown>();
  const endIfAnswered = (): void => {
    const isRead = input.readableEnded && held.readableLength + held.writableLength === 0;
    if (isRead && open.size === 0) held.end();
  };
  input.once("end", () => setImmediate(endIfAnswered));
  const transport: Transport = {
    async start() {
      wire.onclose = () => transport.onclose?.();
      wire.onmessage = (message: JSONRPCMessage) => {
        if (isJSONRPCRequest(message)) open.add(message.id);
        else if ("method" in message && message.method === "notifications/cancelled") {
          open.delete(message.params?.["requestId"]); // it is never answered
        }
        transport.onmessage?.(message);
      };
      await wire.start();
    },
    async send(message) {
      await wire.send(message);
      if (!("method" in message)) open.delete(message.id);
      endIfAnswered();
    },
    close: () => wire.close(),
  };
  return { transport, ended: Promise.race([once(held, "end"), once(output, "close")]) };
}
