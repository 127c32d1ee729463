import type { MailExchange } from "../../core/mail/lookup.ts";
import { latin1, MalformedMessage, type MessageReader } from "./message-reader.ts";

export interface RecordKind<T> {
  readonly type: number;
  readonly read: (reader: MessageReader, start: number, length: number) => T;
}

function sized(actual: number, expected: number): void {
  if (actual !== expected) throw new MalformedMessage("record data of the wrong length");
}

function nameToEnd(reader: MessageReader, start: number, stop: number): string {
  const name = reader.name(start);
  sized(reader.end, stop);
  return name;
}

/** RFC 1035 section 3.3.9. */
export const MX: RecordKind<MailExchange> = {
  type: 15,
  read: (reader, start, length) => ({
    preference: reader.uint16(start),
    host: nameToEnd(reader, start + 2, start + length),
  }),
};

/** RFC 1035 section 3.4.1: dotted decimal. */
export const A: RecordKind<string> = {
  type: 1,
  read(reader, start, length) {
    sized(length, 4);
    return Array.from(reader.bytes.subarray(start, start + 4)).join(".");
  },
};

/** RFC 3596 section 2.2, written as RFC 5952 has it. */
export const AAAA: RecordKind<string> = {
  type: 28,
  read(reader, start, length) {
    sized(length, 16);
    const groups: string[] = [];
    for (let at = start; at < start + 16; at += 2) groups.push(reader.uint16(at).toString(16));
    return compressed(groups);
  },
};

/** Replaces the first longest run of two zero groups or more by "::" (RFC 5952 section 4.2). */
function compressed(groups: readonly string[]): string {
  let best = 0;
  let bestAt = 0;
  for (let at = 0, run = 0; at < groups.length; at += 1) {
    run = groups[at] === "0" ? run + 1 : 0;
    if (run > best) {
      best = run;
      bestAt = at + 1 - run;
    }
  }
  if (best < 2) return groups.join(":");
  return `${groups.slice(0, bestAt).join(":")}::${groups.slice(bestAt + best).join(":")}`;
}

/** RFC 1035 section 3.3.14, joined without a separator (RFC 7208 section 3.3): UTF-8 where valid, else Latin-1. */
export const TXT: RecordKind<string> = {
  type: 16,
  read(reader, start, length) {
    const stop = start + length;
    const isOne = length > 0 && start + 1 + reader.uint8(start) === stop;
    if (isOne) return textOf(reader.bytes.subarray(start + 1, stop)); // nearly all of them
    const joined = new Uint8Array(length);
    let used = 0;
    for (let at = start; at < stop;) {
      const from = at + 1;
      at = from + reader.uint8(at);
      if (at > stop) throw new MalformedMessage("character-string ends early");
      joined.set(reader.bytes.subarray(from, at), used);
      used += at - from;
    }
    return textOf(joined.subarray(0, used));
  },
};

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(octets: Uint8Array): string {
  try {
    return UTF8.decode(octets);
  } catch {
    return latin1(octets);
  }
}

/** RFC 1035 section 3.3.11, asked of the root only to see whether the server answers. */
export const NS: RecordKind<string> = {
  type: 2,
  read: (reader, start, length) => nameToEnd(reader, start, start + length),
};

/** RFC 1035 section 3.3.1. */
export const CNAME: RecordKind<string> = { ...NS, type: 5 };

/** RFC 1035 section 3.3.13: of a start of authority only MINIMUM, in seconds, matters here. */
export const SOA_MINIMUM: RecordKind<number> = {
  type: 6,
  read(reader, start, length) {
    reader.skip(start);
    reader.skip(reader.end);
    sized(reader.end + 20, start + length);
    return reader.uint32(reader.end + 16);
  },
};
