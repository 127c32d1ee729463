import { A, AAAA, MessageReader, MX, TXT } from "../../src/dns/message/records.ts";
import { decodeResponse, interpret, type Question } from "../../src/dns/message/wire.ts";
import { message, pointer, questionOctets, TYPE, uint16 } from "./dns-message.ts";
import { rightAnswer, type ServedName } from "./dns-zone.ts";

/** 256 records of two names each, up to 127 labels and 127 pointers. */
export const STEPS_MAX = 256 * 2 * (127 + 127);

const NAMES = new Map<string, ServedName>([
  ["two.example", { mx: ["10 a.mail.example", "20 b.mail.example"], a: ["192.0.2.1"] }],
  ["alias.example", { cname: "two.example" }],
  ["text.example", { txtStrings: [["v=spf1 ", "-all"], ["x".repeat(300)]] }],
  ["six.example", { aaaa: ["2001:db8::1"], a: ["192.0.2.1", "192.0.2.2"] }],
]);

interface Seed {
  readonly octets: Buffer;
  readonly question: Question<unknown>;
}

function seeds(): readonly Seed[] {
  const kinds = [MX, A, AAAA, TXT];
  const found = [...NAMES.keys(), "none.example"].flatMap((name) =>
    kinds.map((kind) => {
      const question = questionOctets(name, kind.type);
      const soa = { ttlSeconds: 60, minimumSeconds: 60 };
      const octets = rightAnswer(NAMES, { name, type: kind.type, question, soa });
      return { octets, question: { name, kind } };
    }),
  );
  return [...found, pointerBomb()];
}

/** 64 KiB of pointers, each to the one before, and MX records that start at the far end of them. */
function pointerBomb(): Seed {
  const question = questionOctets("two.example", TYPE.MX);
  const head = message({ question, answerCount: 256 });
  const chain = Array.from({ length: 8_000 }, (_, index) =>
    pointer(head.length + Math.max(0, index - 1) * 2),
  );
  const record = Buffer.concat([pointer(12), uint16(15), uint16(1), Buffer.alloc(4), uint16(4)]);
  const data = Buffer.concat([uint16(10), pointer(0x3000)]);
  const records = Array.from({ length: 256 }, () => Buffer.concat([record, data]));
  const octets = Buffer.concat([head, ...chain, ...records]);
  return { octets, question: { name: "two.example", kind: MX } };
}

/** A small random generator (mulberry32), so that a failing case can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Copies `octets` and corrupts one to eight places; truncates one copy in eight. */
function mutated(octets: Buffer, pick: (below: number) => number): Buffer {
  const copy = Buffer.from(octets);
  for (let left = pick(8); left >= 0; left -= 1) {
    const at = pick(copy.length);
    // Decoders break on lengths and pointers, so these are changed more often than by chance.
    const value = [pick(256), 0xc0 | pick(4), pick(64), 0xff][pick(4)] ?? 0;
    copy[at] = value;
  }
  return pick(8) === 0 ? copy.subarray(0, pick(copy.length)) : copy;
}

export interface FuzzResult {
  readonly decoded: number;
  readonly refused: number;
  readonly mostSteps: number;
}

/** Decodes `count` corrupted messages; throws if the decoder throws, which it must not. */
export function fuzzDecoder(count: number, seed: number): FuzzResult {
  const pick = numbers(seed);
  const kept = seeds();
  let decoded = 0;
  let mostSteps = 0;
  for (let done = 0; done < count; done += 1) {
    const { octets, question } = kept[done % kept.length] ?? pointerBomb();
    const reader = new MessageReader(mutated(octets, pick));
    const response = decodeResponse(reader.bytes, question, reader);
    if (response !== undefined) {
      interpret(question, response);
      decoded += 1;
    }
    mostSteps = Math.max(mostSteps, reader.steps);
  }
  return { decoded, refused: count - decoded, mostSteps };
}
