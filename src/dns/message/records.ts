import type { MailExchange } from "../../core/mail/lookup.ts";

/** Longest name on the wire, length octets and root label counted (RFC 1035 section 2.3.4). */
export const NAME_MAX_OCTETS = 255;

const POINTER_HOPS_MAX = 127;

/** A message that breaks RFC 1035 or a bound of ours. Thrown by the reader, caught by the decoder. */
export class MalformedMessage extends Error {
  constructor(what: string) {
    super(what);
    this.name = "MalformedMessage";
  }
}

const DOT = 46;
const BACKSLASH = 92;
const ZERO = 48;

/** Room for a name whose every octet needs the four characters of "\ddd". */
const text = new Uint8Array(NAME_MAX_OCTETS * 4);

/** Never leaves its message. Each name costs at most 127 labels and 127 pointers, which must lead strictly backward. */
export class MessageReader {
  readonly bytes: Uint8Array;
  steps = 0;
  end = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  uint8(at: number): number {
    const value = this.bytes[at];
    if (value === undefined) throw new MalformedMessage("ends early");
    return value;
  }

  uint16(at: number): number {
    return (this.uint8(at) << 8) | this.uint8(at + 1);
  }

  uint32(at: number): number {
    return this.uint16(at) * 0x1_0000 + this.uint16(at + 2);
  }

  /** Lower case, no trailing dot. Other octets are escaped (RFC 1035 section 5.1), so that none passes for a host name. */
  name(at: number): string {
    const used = this.#walk(at, true);
    return used === 0 ? "" : latin1(text.subarray(0, used - 1));
  }

  skip(at: number): void {
    this.#walk(at, false);
  }

  #walk(at: number, isKept: boolean): number {
    let from = at;
    let fragment = at;
    let hops = 0;
    let octets = 1;
    let used = 0;
    this.end = -1;
    for (let length = this.uint8(from); length !== 0; length = this.uint8(from)) {
      this.steps += 1;
      if (length < 0x40) {
        octets += length + 1;
        if (octets > NAME_MAX_OCTETS) throw new MalformedMessage("name over 255 octets");
        const stop = from + 1 + length;
        if (stop >= this.bytes.length) throw new MalformedMessage("label ends early");
        if (isKept) used = this.#label(from + 1, stop, used);
        from = stop;
        continue;
      }
      from = this.#pointer(from, fragment);
      fragment = from;
      hops += 1;
      if (hops > POINTER_HOPS_MAX) throw new MalformedMessage("too many pointers");
    }
    if (this.end < 0) this.end = from + 1;
    return used;
  }

  #pointer(at: number, fragment: number): number {
    const value = this.uint16(at);
    if (value < 0xc000) throw new MalformedMessage("reserved label type");
    if (this.end < 0) this.end = at + 2;
    const target = value & 0x3fff;
    if (target >= fragment) throw new MalformedMessage("pointer not backward");
    return target;
  }

  #label(start: number, stop: number, used: number): number {
    let to = used;
    for (let at = start; at < stop; at += 1) {
      const octet = this.uint8(at);
      if (octet <= 32 || octet >= 127 || octet === DOT || octet === BACKSLASH) {
        to = writeEscape(octet, to);
      } else {
        text[to] = octet >= 65 && octet <= 90 ? octet | 32 : octet;
        to += 1;
      }
    }
    text[to] = DOT;
    return to + 1;
  }
}

function writeEscape(octet: number, to: number): number {
  text[to] = BACKSLASH;
  text[to + 1] = ZERO + Math.floor(octet / 100);
  text[to + 2] = ZERO + (Math.floor(octet / 10) % 10);
  text[to + 3] = ZERO + (octet % 10);
  return to + 4;
}

/** Arguments of one call; V8 takes more, other engines differ. */
const CHUNK_OCTETS = 8_192;

/** Each octet as the character of its number. (`Buffer` exists only in Node; a spread is slower.) */
export function latin1(octets: Uint8Array): string {
  let characters = "";
  for (let at = 0; at < octets.length; at += CHUNK_OCTETS) {
    const chunk = octets.subarray(at, at + CHUNK_OCTETS);
    characters += Reflect.apply(String.fromCharCode, undefined, chunk) as string;
  }
  return characters;
}

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

/** RFC 3596 section 2.2, written as RFC 5952 has it, which is how URLs write it. */
export const AAAA: RecordKind<string> = {
  type: 28,
  read(reader, start, length) {
    sized(length, 16);
    const groups: string[] = [];
    for (let at = start; at < start + 16; at += 2) groups.push(reader.uint16(at).toString(16));
    return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
  },
};

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

/** RFC 6672: all names below its owner are those below its target. */
export const DNAME: RecordKind<string> = { ...NS, type: 39 };

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
