import { message, pointer, TYPE, uint16, uint32 } from "./dns-message.ts";
import type { Misbehaviour } from "./dns-zone.ts";

const SERVFAIL = 2;
const REFUSED = 5;
const FORMERR = 1;
const NOTIMP = 4;

export interface Query {
  readonly octets: Buffer;
  readonly id: number;
  readonly name: string;
  readonly type: number;
  readonly question: Buffer;
  readonly hasEdns: boolean;
}

/** Reads the one question of a query from a well-behaved client. */
export function readQuery(octets: Buffer): Query {
  const labels: string[] = [];
  let at = 12;
  for (let length = octets[at] ?? 0; length > 0; length = octets[at] ?? 0) {
    labels.push(octets.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return {
    octets,
    id: octets.readUInt16BE(0),
    name: labels.join("."),
    type: octets.readUInt16BE(at + 1),
    question: octets.subarray(12, at + 5),
    hasEdns: octets.readUInt16BE(10) > 0,
  };
}

const withRcode = (query: Query, rcode: number): Buffer =>
  message({ id: query.id, question: query.question, rcode });

export const truncated = (query: Query): Buffer =>
  message({ id: query.id, question: query.question, truncated: true });

/** The UDP answers; an answer that does not fit is truncated as in RFC 2181 section 9. */
export function udpReplies(
  query: Query,
  right: Buffer,
  behave: Misbehaviour | undefined,
): readonly Buffer[] {
  const fits = right.length <= (query.hasEdns ? 1_232 : 512);
  const good = fits ? right : truncated(query);
  if (behave === undefined) return [good];
  return MISBEHAVIOURS[behave](query, good);
}

const cut = (query: Query): readonly Buffer[] => [truncated(query)];

const MISBEHAVIOURS: Readonly<
  Record<Misbehaviour, (query: Query, good: Buffer) => readonly Buffer[]>
> = {
  servfail: (query) => [withRcode(query, SERVFAIL)],
  refused: (query) => [withRcode(query, REFUSED)],
  silent: () => [],
  silentUdp: () => [],
  wrongId: (_query, good) => [otherId(good)],
  wrongQuestion: (_query, good) => [otherQuestion(good)],
  garbage: (query) => [Buffer.concat([uint16(query.id), Buffer.alloc(60, 0xa5)])],
  cutShort: (query, good) => [good.subarray(0, 12 + query.question.length + 7)],
  pointerLoop: (query) => [pointers(query, 1)],
  pointerChain: (query) => [pointers(query, 400)],
  referral: (query) => [referral(query)],
  formErrOnEdns: (query, good) => [query.hasEdns ? withRcode(query, FORMERR) : good],
  bareFormErrOnEdns: (query, good) => [
    query.hasEdns ? message({ id: query.id, rcode: FORMERR }) : good,
  ],
  formErr: (query) => [withRcode(query, FORMERR)],
  notImpOnEdns: (query, good) => [query.hasEdns ? withRcode(query, NOTIMP) : good],
  bareNotImpOnEdns: (query, good) => [
    query.hasEdns ? message({ id: query.id, rcode: NOTIMP }) : good,
  ],
  badVersOnEdns: (query, good) => [query.hasEdns ? badVers(query) : good],
  badVers: (query) => [badVers(query)],
  silentOnEdns: (query, good) => (query.hasEdns ? [] : [good]),
  otherCase: (query, good) => [inCapitals(query, good)],
  twice: (_query, good) => [good, good],
  forgedFirst: (_query, good) => [otherId(good), otherQuestion(good), good],
  truncated: cut,
  truncatedTcpSilent: cut,
  truncatedTcpDrip: cut,
  truncatedTcpClose: cut,
  truncatedTwice: cut,
};

function otherId(good: Buffer): Buffer {
  const other = Buffer.from(good);
  other.writeUInt16BE(good.readUInt16BE(0) ^ 1, 0);
  return other;
}

/** No error in the header; the OPT record has the upper bits of BADVERS (RFC 6891 section 6.1.3). */
function badVers(query: Query): Buffer {
  const head = message({ id: query.id, question: query.question });
  head.writeUInt16BE(1, 10);
  const opt = [Buffer.from([0]), uint16(41), uint16(1_232), uint32(0x0100_0000), uint16(0)];
  return Buffer.concat([head, ...opt]);
}

function inCapitals(query: Query, good: Buffer): Buffer {
  const other = Buffer.from(good);
  const end = 12 + query.question.length - 4;
  for (let at = 12; at < end; at += 1) {
    const octet = other[at] ?? 0;
    if (octet >= 97 && octet <= 122) other[at] = octet - 32;
  }
  return other;
}

/** One bit of the asked name differs. */
function otherQuestion(good: Buffer): Buffer {
  const other = Buffer.from(good);
  other[13] = (other[13] ?? 0) ^ 0x01;
  return other;
}

/** One record whose owner is the last of `count` pointers, each to the one before, the first to itself. */
function pointers(query: Query, count: number): Buffer {
  const head = message({ id: query.id, question: query.question, answerCount: 1 });
  const chain = Array.from({ length: count }, (_, index) =>
    pointer(head.length + Math.max(0, index - 1) * 2),
  );
  const tail = [uint16(query.type), uint16(1), uint32(60), uint16(0)];
  const owner = pointer(head.length + (count - 1) * 2);
  return Buffer.concat([head, ...chain, owner, ...tail]);
}

const referral = (query: Query): Buffer =>
  message({
    id: query.id,
    question: query.question,
    authority: [{ owner: "example", type: TYPE.NS, ttlSeconds: 60, data: Buffer.from([0]) }],
  });
