import {
  CNAME,
  DNAME,
  MalformedMessage,
  MessageReader,
  NAME_MAX_OCTETS,
  NS,
  type RecordKind,
  SOA_MINIMUM,
  TXT,
} from "./records.ts";
import type { AbsentReason, UnknownReason } from "../../core/mail/lookup.ts";
import { DOMAIN_MAX_OCTETS, isAtOrUnder } from "../../core/name/domain.ts";

/** Most lists here have one item, and an empty array that is pushed to takes room for seventeen. */
function appended<T>(items: T[] | undefined, item: T): T[] {
  if (items === undefined) return [item];
  items.push(item);
  return items;
}

const RECORDS_MAX = 256;

/** Response codes (RFC 1035 section 4.1.1, RFC 6891 section 9). */
export const RCODE = {
  noError: 0,
  formErr: 1,
  nxDomain: 3,
  notImp: 4,
  refused: 5,
  badVers: 16,
} as const;

/** What we take by UDP without fragmentation (DNS flag day 2020), announced by EDNS (RFC 6891). */
const UDP_PAYLOAD_OCTETS = 1_232;

const HEADER_OCTETS = 12;
const QUESTION_TAIL_OCTETS = 4;
const OPT_OCTETS = 11;
const OPT = 41;
const EXTENDED_ERROR = 15;
const CLASS_IN = 1;
const DOT = 46;
const BACKSLASH = 92;

const NONE: readonly never[] = [];

/** What is asked: class IN, recursion desired. `name` is lower case without a trailing dot, "" the root. */
export interface Question<T> {
  readonly name: string;
  readonly kind: RecordKind<T>;
}

/** With id 0. Undefined when no such name can be: labels of 0 or over 63 octets, or characters beyond ASCII. */
export function encodeQuery(
  { name: text, kind }: Question<unknown>,
  { edns }: { readonly edns: boolean },
): Uint8Array | undefined {
  const name = text.includes("\\") ? unescaped(text) : text;
  if (name === undefined) return undefined;
  const nameOctets = name === "" ? 1 : name.length + 2;
  if (nameOctets > NAME_MAX_OCTETS) return undefined;
  const end = HEADER_OCTETS + nameOctets + QUESTION_TAIL_OCTETS;
  const message = allocate(end + (edns ? OPT_OCTETS : 0));
  message[2] = 1; // RD
  message[5] = 1; // QDCOUNT
  if (edns) message[11] = 1; // ARCOUNT
  if (name !== "" && !writeName(message, name)) return undefined;
  message[end - 4] = kind.type >> 8;
  message[end - 3] = kind.type & 255;
  message[end - 1] = CLASS_IN;
  if (edns) writeOpt(message, end);
  return message;
}

/** Cut from a larger array: a small one lives in V8's heap, and sockets have to copy it out. */
function allocate(octets: number): Uint8Array {
  if (slabUsed + octets > SLAB_OCTETS) {
    slab = new ArrayBuffer(SLAB_OCTETS);
    slabUsed = 0;
  }
  const message = new Uint8Array(slab, slabUsed, octets);
  slabUsed += octets;
  return message;
}

const SLAB_OCTETS = 16_384;
let slab = new ArrayBuffer(SLAB_OCTETS);
let slabUsed = 0;

/** `\ddd`, as names are read, becomes a character of which the lower half is the octet: an escaped dot ends no label. */
function unescaped(text: string): string | undefined {
  if (!/^[ -~]*$/.test(text)) return undefined;
  return text.replace(/\\([01]\d\d|2[0-4]\d|25[0-5])/g, (_, octet) =>
    String.fromCharCode(PRIVATE_USE + Number(octet)),
  );
}

const PRIVATE_USE = 0xe000;

function writeName(message: Uint8Array, name: string): boolean {
  let lengthAt = HEADER_OCTETS;
  for (let at = 0; at <= name.length; at += 1) {
    const code = at < name.length ? name.charCodeAt(at) : DOT;
    const to = HEADER_OCTETS + 1 + at;
    if (code === DOT) {
      const length = to - lengthAt - 1;
      if (length === 0 || length > 63) return false;
      message[lengthAt] = length;
      lengthAt = to;
    } else {
      if (code <= 32 || code === BACKSLASH) return false;
      if (code >= 127 && code >> 8 !== PRIVATE_USE >> 8) return false;
      message[to] = code; // its lower half
    }
  }
  return true;
}

/** An OPT record: root name, type 41, our payload size for a class, no flags, no options. */
function writeOpt(message: Uint8Array, at: number): void {
  message[at + 2] = OPT;
  message[at + 3] = UDP_PAYLOAD_OCTETS >> 8;
  message[at + 4] = UDP_PAYLOAD_OCTETS & 255;
}

/** Whether `message` answers `query`: a response with its id that repeats its question, letters in any case (RFC 4343). */
export function answers(message: Uint8Array, query: Uint8Array): boolean {
  if (!isResponse(message, query)) return false;
  if (message[4] === 0 && message[5] === 0) return isBareRefusal(message);
  const end = query[11] === 1 ? query.length - OPT_OCTETS : query.length;
  if (message[4] !== 0 || message[5] !== 1 || message.length < end) return false;
  for (let at = HEADER_OCTETS; at < end; at += 1)
    if (!isSame(message[at] ?? 0, query[at] ?? 0)) return false;
  return true;
}

/** Queries are in lower case; no other octet of a question has the value of a letter. */
const isSame = (given: number, asked: number): boolean =>
  given === asked || (given + 32 === asked && asked >= 97 && asked <= 122);

function isResponse(message: Uint8Array, query: Uint8Array): boolean {
  if (message.length < HEADER_OCTETS || ((message[2] ?? 0) & 0xf8) !== 0x80) return false;
  return message[0] === query[0] && message[1] === query[1];
}

/** A server that cannot read EDNS may send its FORMERR or NOTIMP without the question (RFC 6891 section 7). */
function isBareRefusal(message: Uint8Array): boolean {
  const rcode = (message[3] ?? 0) & 15;
  return rcode === RCODE.formErr || rcode === RCODE.notImp;
}

/** Extended errors of a resolver that filters (RFC 8914): Forged Answer, Blocked, Censored, Filtered, Prohibited. */
const FILTER_ERRORS: ReadonlySet<number> = new Set([4, 15, 16, 17, 18]);

/** Whom AdGuard Home names as the source of what it withholds. */
const FILTER_SOURCES: ReadonlySet<string> = new Set(["fake-for-negative-caching.adguard.com"]);

const AA = 0x0400;
const RA = 0x0080;

/** Whether the message ends in an OPT record that says nothing, as nearly all do. */
const endsInEmptyOpt = (octets: Uint8Array): boolean =>
  [0, 0, OPT].every((octet, at) => octets.at(at - OPT_OCTETS) === octet) &&
  octets.at(-2) === 0 &&
  octets.at(-1) === 0;

export interface OwnedRecord<T> {
  readonly owner: string;
  readonly ttlSeconds: number;
  readonly data: T;
}

export interface Response<T> {
  /** With its upper bits, where nothing was found and an OPT record came (RFC 6891 section 6.1.3). */
  readonly rcode: number;
  readonly truncated: boolean;
  readonly records: readonly OwnedRecord<T>[];
  readonly aliases: readonly OwnedRecord<string>[];
  /** The lesser of the SOA's TTL and its MINIMUM; undefined where no SOA came, or records were found. */
  readonly negativeTtlSeconds: number | undefined;
  /** Name servers and no SOA stand where an answer should: the server sends us elsewhere. */
  readonly referral: boolean;
  /** DNAME records, which lead all names below their owner elsewhere (RFC 6672). */
  readonly subtrees: readonly OwnedRecord<string>[];
  /** It bears the mark of a filter, whose word is nobody's. */
  readonly filtered: boolean;
}

/** The answer section, and the authority section where nothing was found. Undefined when malformed; never throws. */
export function decodeResponse<T>(
  message: Uint8Array,
  question: Question<T>,
  reader = new MessageReader(message),
): Response<T> | undefined {
  try {
    return new SectionReader(reader, question).response();
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined;
    throw error;
  }
}

class SectionReader<T> {
  readonly #reader: MessageReader;
  readonly #question: Question<T>;
  #records: OwnedRecord<T>[] | undefined;
  #aliases: OwnedRecord<string>[] | undefined;
  #subtrees: OwnedRecord<string>[] | undefined;
  #isFiltered = false;
  #negativeTtlSeconds: number | undefined;
  #nameServers = false;
  #extendedRcode = 0;
  #at = HEADER_OCTETS;
  #owner = "";
  #type = 0;
  #ttlSeconds = 0;
  #length = 0;

  constructor(reader: MessageReader, question: Question<T>) {
    this.#reader = reader;
    this.#question = question;
  }

  response(): Response<T> {
    const reader = this.#reader;
    const flags = reader.uint16(2);
    const truncated = (flags & 0x0200) !== 0;
    const isBare = reader.uint16(4) === 0;
    if (!truncated && (flags & 15) !== RCODE.formErr && !isBare) this.#sections();
    const rcode = (this.#extendedRcode << 4) | (flags & 15);
    // A server that neither looks further nor owns the name cannot know that it is not there; Quad9 marks its filter so.
    const isBaseless =
      rcode === RCODE.nxDomain &&
      (flags & (AA | RA)) === 0 &&
      this.#negativeTtlSeconds === undefined;
    return {
      rcode,
      truncated,
      records: this.#records ?? NONE,
      aliases: this.#aliases ?? NONE,
      negativeTtlSeconds: this.#negativeTtlSeconds,
      referral: this.#nameServers && this.#negativeTtlSeconds === undefined,
      subtrees: this.#subtrees ?? NONE,
      filtered: this.#isFiltered || isBaseless,
    };
  }

  #sections(): void {
    const reader = this.#reader;
    reader.skip(HEADER_OCTETS);
    this.#at = reader.end + QUESTION_TAIL_OCTETS;
    const answerCount = reader.uint16(6);
    for (let count = 0; count < Math.min(answerCount, RECORDS_MAX); count += 1) this.#answer();
    if (answerCount > RECORDS_MAX) {
      // Of mail hosts and addresses some are enough, or a farm's domain would always be unknown; a text may be the one that counts.
      const isEnough = this.#records !== undefined && this.#question.kind.type !== TXT.type;
      if (!isEnough) throw new MalformedMessage("too many records");
      return;
    }
    const isFound = this.#records?.some(({ owner }) => owner === this.#question.name);
    if (isFound === true && (reader.uint16(10) === 0 || endsInEmptyOpt(reader.bytes))) return;
    const authorityCount = Math.min(reader.uint16(8), RECORDS_MAX - answerCount);
    for (let count = 0; count < authorityCount; count += 1) this.#authority();
    const left = RECORDS_MAX - answerCount - authorityCount;
    const additionalCount = Math.min(reader.uint16(10), left);
    for (let count = 0; count < additionalCount; count += 1) this.#additional();
  }

  #head(): boolean {
    const reader = this.#reader;
    // Nearly every owner is a pointer to the question, whose name is known.
    if (reader.bytes[this.#at] === 0xc0 && reader.bytes[this.#at + 1] === HEADER_OCTETS) {
      this.#owner = this.#question.name;
      this.#at += 2;
    } else {
      this.#owner = reader.name(this.#at);
      this.#at = reader.end;
    }
    this.#type = reader.uint16(this.#at);
    const ttlSeconds = reader.uint32(this.#at + 4);
    this.#ttlSeconds = ttlSeconds > 0x7fff_ffff ? 0 : ttlSeconds; // RFC 2181 section 8
    this.#length = reader.uint16(this.#at + 8);
    const isIn = reader.uint16(this.#at + 2) === CLASS_IN;
    this.#at += 10;
    if (this.#at + this.#length > reader.bytes.length)
      throw new MalformedMessage("data ends early");
    return isIn;
  }

  #answer(): void {
    const isIn = this.#head();
    const { kind } = this.#question;
    if (isIn && this.#type === kind.type) {
      this.#records = appended(this.#records, this.#owned(kind));
    } else if (isIn && this.#type === CNAME.type) {
      this.#aliases = appended(this.#aliases, this.#owned(CNAME));
    } else if (isIn && this.#type === DNAME.type) {
      this.#subtrees = appended(this.#subtrees, this.#owned(DNAME));
    }
    this.#at += this.#length;
  }

  #authority(): void {
    const isIn = this.#head();
    if (isIn && this.#type === SOA_MINIMUM.type) {
      const { ttlSeconds, data } = this.#owned(SOA_MINIMUM);
      this.#negativeTtlSeconds = Math.min(ttlSeconds, data);
      this.#isFiltered ||= FILTER_SOURCES.has(this.#reader.name(this.#at));
    }
    if (isIn && this.#type === NS.type) this.#nameServers = true;
    this.#at += this.#length;
  }

  #additional(): void {
    this.#head();
    // The class of an OPT record is a size, and its TTL begins with the upper bits of the response code.
    if (this.#type === OPT) {
      this.#extendedRcode = this.#reader.uint8(this.#at - 6);
      this.#options(this.#at + this.#length);
    }
    this.#at += this.#length;
  }

  /** Options of EDNS (RFC 6891 section 6.1.2); one that ends early ends the reading, and nothing else. */
  #options(stop: number): void {
    const reader = this.#reader;
    for (let at = this.#at; at + 6 <= stop; at += 4 + reader.uint16(at + 2)) {
      const isError = reader.uint16(at) === EXTENDED_ERROR && reader.uint16(at + 2) >= 2;
      if (isError) this.#isFiltered ||= FILTER_ERRORS.has(reader.uint16(at + 4));
    }
  }

  #owned<D>(kind: RecordKind<D>): OwnedRecord<D> {
    const data = kind.read(this.#reader, this.#at, this.#length);
    return { owner: this.#owner, ttlSeconds: this.#ttlSeconds, data };
  }
}

export type Reply<T> =
  | {
      readonly kind: "found";
      readonly records: readonly T[];
      readonly ttlSeconds: number;
    }
  | {
      readonly kind: "absent";
      readonly why: AbsentReason;
      /** By the SOA (RFC 2308 section 5), or an alias on the way if less; undefined without a SOA. */
      readonly ttlSeconds: number | undefined;
    }
  /** The name is an alias, and the answer does not contain its target. */
  | { readonly kind: "alias"; readonly target: string; readonly ttlSeconds: number }
  | { readonly kind: "unknown"; readonly why: UnknownReason };

const CHAIN_MAX = 16;

const MALFORMED = { kind: "unknown", why: "malformed" } as const;

/** By the response code and by whether the asked type stands at the end of the chain (RFC 2308 s. 2, RFC 6604 s. 3). */
export function interpret<T>({ name }: Question<T>, response: Response<T>): Reply<T> {
  const { rcode } = response;
  if (rcode === RCODE.refused) return { kind: "unknown", why: "refused" };
  if (rcode === RCODE.formErr) return MALFORMED;
  if (rcode !== RCODE.noError && rcode !== RCODE.nxDomain) {
    return { kind: "unknown", why: "servfail" };
  }
  if (response.filtered) return { kind: "unknown", why: "filtered" };
  const end = chainEnd(name, response);
  if (end === undefined) return MALFORMED;
  let records: T[] | undefined;
  let { ttlSeconds } = end;
  for (const record of response.records) {
    if (record.owner !== end.name) continue;
    records = appended(records, record.data);
    ttlSeconds = Math.min(ttlSeconds, record.ttlSeconds);
  }
  if (records === undefined) return nothingAt(end, name, response);
  if (rcode === RCODE.nxDomain) return MALFORMED; // it exists and it does not
  return { kind: "found", records, ttlSeconds };
}

interface ChainEnd {
  readonly name: string;
  readonly ttlSeconds: number;
}

/** Where CNAME and DNAME lead (RFC 6672 section 3.2); undefined: nowhere, or too far. */
function chainEnd(
  name: string,
  { aliases, subtrees }: Pick<Response<unknown>, "aliases" | "subtrees">,
): ChainEnd | undefined {
  let end: ChainEnd = { name, ttlSeconds: Infinity };
  if (aliases.length === 0 && subtrees.length === 0) return end;
  const byOwner = new Map(aliases.map((alias) => [alias.owner, alias]));
  for (let hops = 0; hops <= CHAIN_MAX; hops += 1) {
    const next = byOwner.get(end.name) ?? substituted(end.name, subtrees);
    if (next === undefined) return end;
    if (next.data.length > DOMAIN_MAX_OCTETS) return undefined;
    end = { name: next.data, ttlSeconds: Math.min(end.ttlSeconds, next.ttlSeconds) };
  }
  return undefined;
}

function substituted(
  name: string,
  subtrees: readonly OwnedRecord<string>[],
): Pick<OwnedRecord<string>, "data" | "ttlSeconds"> | undefined {
  const above = subtrees.filter(({ owner }) => name !== owner && isAtOrUnder(name, owner));
  const [closest] = above.toSorted((one, other) => other.owner.length - one.owner.length);
  if (closest === undefined) return undefined;
  const { owner, data, ttlSeconds } = closest;
  const below = name.slice(0, name.length - owner.length);
  return { data: data === "" ? below.slice(0, -1) : below + data, ttlSeconds };
}

function nothingAt<T>(end: ChainEnd, name: string, response: Response<T>): Reply<T> {
  const { rcode, negativeTtlSeconds, referral } = response;
  const isAlias = end.name !== name;
  const { records, aliases, subtrees } = response;
  // All that came is about others: not a word about this name.
  if (!isAlias && records.length + aliases.length + subtrees.length > 0) return MALFORMED;
  if (rcode === RCODE.noError && negativeTtlSeconds === undefined) {
    if (isAlias) return { kind: "alias", target: end.name, ttlSeconds: end.ttlSeconds };
    // A referral is not an answer: the server does not look further for us (RFC 2308 section 2.2).
    if (referral) return { kind: "unknown", why: "refused" };
  }
  const ttlSeconds =
    negativeTtlSeconds === undefined ? undefined : Math.min(negativeTtlSeconds, end.ttlSeconds);
  return { kind: "absent", why: rcode === RCODE.nxDomain ? "noName" : "noData", ttlSeconds };
}
