import {
  aaaaData,
  aData,
  message,
  mxData,
  nameOctets,
  soaData,
  type TestRecord,
  txtData,
  TYPE,
} from "./dns-message.ts";
import type { Zone, ZoneName } from "./zone-lookup.ts";

/** How a server fails a name. */
export const MISBEHAVIOURS = [
  "servfail",
  "refused",
  "silent",
  // Silent by UDP alone.
  "silentUdp",
  "wrongId",
  "wrongQuestion",
  "garbage",
  "cutShort",
  "pointerLoop",
  "pointerChain",
  "referral",
  "formErrOnEdns",
  "bareFormErrOnEdns",
  "formErr",
  "notImpOnEdns",
  "bareNotImpOnEdns",
  "badVersOnEdns",
  "badVers",
  "silentOnEdns",
  // The right answer, with the question in capitals.
  "otherCase",
  // The right answer two times.
  "twice",
  // A forged answer with a wrong id first, then the right one.
  "forgedFirst",
  // Truncated by UDP; what TCP does then.
  "truncated",
  "truncatedTcpSilent",
  "truncatedTcpDrip",
  "truncatedTcpClose",
  "truncatedTwice",
] as const;

export type Misbehaviour = (typeof MISBEHAVIOURS)[number];

/** Every way a name can be served: as it should be, late, and all that go wrong. */
export const SERVING_MODES = ["right", "slow", ...MISBEHAVIOURS] as const;

/** An answer as it is, whatever is asked; types of records by name, data as in `ZoneName`. */
export interface RawAnswer {
  readonly rcode?: number;
  readonly ede?: number;
  readonly ra?: boolean;
  readonly aa?: boolean;
  readonly an?: readonly (readonly [owner: string, type: string, data: string])[];
  readonly ns?: readonly (readonly [owner: string, type: string, data: string])[];
  /** The server that a SOA names, which is sent then. */
  readonly soa?: string;
}

/** `ZoneName` and features of a server. `unknown` is answered with SERVFAIL. */
export interface ServedName extends ZoneName {
  readonly cname?: string;
  /** Each record as its character-strings; in addition to `txt`. */
  readonly txtStrings?: readonly (readonly string[])[];
  /** Of all records of the name; default 300. */
  readonly ttlSeconds?: number;
  /** Answers only the alias, without its target's records. */
  readonly lazyAlias?: boolean;
  readonly behave?: Misbehaviour;
  /** Number of questions it misbehaves for; default: all. */
  readonly times?: number;
  readonly delayMs?: number;
  /** By type of the question ("MX"), or for all of them. */
  readonly raw?: RawAnswer | Readonly<Record<string, RawAnswer>>;
}

export type ServedZone = Readonly<Record<string, ServedName>> | Zone;

/** TTL and MINIMUM of every SOA; `undefined` leaves it out. */
export interface Soa {
  readonly ttlSeconds: number;
  readonly minimumSeconds: number;
}

const TYPE_NAMES = new Map<number, "mx" | "addresses" | "txt">([
  [TYPE.MX, "mx"],
  [TYPE.A, "addresses"],
  [TYPE.AAAA, "addresses"],
  [TYPE.TXT, "txt"],
]);

/** Whether the literal makes this type of this name unknown. */
export function isUnknown({ unknown }: ServedName, type: number): boolean {
  const name = TYPE_NAMES.get(type);
  return unknown === true || (name !== undefined && unknown?.includes(name) === true);
}

/** Aliases that the server follows in one answer; a loop ends there. */
const ALIASES_MAX = 20;

/** The complete correct answer to a question, of any size. */
export function rightAnswer(
  names: ReadonlyMap<string, ServedName>,
  { name, type, question, soa }: Asked,
): Buffer {
  const answers: TestRecord[] = [];
  let owner = name;
  let entry = names.get(owner);
  const raw = rawOf(entry, type);
  if (raw !== undefined) return rawMessage(raw, question);
  for (let hops = 0; entry?.cname !== undefined && hops < ALIASES_MAX; hops += 1) {
    const ttlSeconds = entry.ttlSeconds ?? 300;
    answers.push({ owner, type: TYPE.CNAME, ttlSeconds, data: nameOctets(entry.cname) });
    if (entry.lazyAlias === true) return message({ question, answers });
    owner = entry.cname;
    entry = names.get(owner);
  }
  const found = entry === undefined ? [] : recordsOf(owner, entry, type);
  if (found.length > 0) return message({ question, answers: [...answers, ...found] });
  const authority = soa === undefined ? [] : [soaRecord(soa)];
  return message({ question, answers, authority, rcode: entry === undefined ? 3 : 0 });
}

const TYPE_NAME = new Map<number, string>(Object.entries(TYPE).map(([name, type]) => [type, name]));

function rawOf({ raw }: ServedName = {}, type: number): RawAnswer | undefined {
  if (raw === undefined) return undefined;
  const isByType = Object.keys(raw).some((key) => key in TYPE);
  if (!isByType) return raw as RawAnswer;
  return (raw as Readonly<Record<string, RawAnswer>>)[TYPE_NAME.get(type) ?? ""];
}

const DATA: Readonly<Record<string, (text: string) => Buffer>> = {
  A: aData,
  AAAA: aaaaData,
  MX: mxData,
  TXT: (text) => txtData([text]),
};

export function rawMessage(
  { an = [], ns = [], soa, ...rest }: RawAnswer,
  question: Buffer,
): Buffer {
  const record = ([owner, type, data]: readonly [string, string, string]): TestRecord => ({
    owner,
    type: TYPE[type as keyof typeof TYPE],
    ttlSeconds: 300,
    data: (DATA[type] ?? nameOctets)(data),
  });
  const source = { owner: "com", type: TYPE.SOA, ttlSeconds: 60, data: soaData(60, soa) };
  const authority = [...ns.map(record), ...(soa === undefined ? [] : [source])];
  return message({ question, answers: an.map(record), authority, ...rest });
}

export interface Asked {
  readonly name: string;
  readonly type: number;
  readonly question: Buffer;
  readonly soa: Soa | undefined;
}

const soaRecord = ({ ttlSeconds, minimumSeconds }: Soa): TestRecord => ({
  owner: "example",
  type: TYPE.SOA,
  ttlSeconds,
  data: soaData(minimumSeconds),
});

function recordsOf(owner: string, entry: ServedName, type: number): readonly TestRecord[] {
  const { mx = [], a = [], aaaa = [], txt = [], txtStrings = [], ttlSeconds = 300 } = entry;
  const data = new Map<number, readonly Buffer[]>([
    [TYPE.MX, mx.map(mxData)],
    [TYPE.A, a.map(aData)],
    [TYPE.AAAA, aaaa.map(aaaaData)],
    [TYPE.TXT, [...txt.map((text) => [text]), ...txtStrings].map(txtData)],
  ]);
  return (data.get(type) ?? []).map((octets) => ({ owner, type, ttlSeconds, data: octets }));
}
