import type {
  Datasets,
  FeedSource,
  MailServerKind,
  Rules,
  NameSet,
  NameTable,
} from "../core/evidence/datasets.ts";
import { listEvidence } from "../core/evidence/domain-evidence.ts";
import { DAY_MS } from "../core/calendar.ts";
import { hasStrongWord } from "../core/evidence/names/keywords.ts";
import { FAMILY_EXCEPTIONS } from "../core/tables/data.ts";
import { parseDomain, registrableOf } from "../core/name/domain.ts";

export interface DisposableList extends FeedSource {
  /** Its lines, read when their turn comes: all lists at once would be 50 MB of text. */
  readonly read: () => Iterable<string>;
  /** Of a fetched list: the day of its first copy, and the names that came on a later one. */
  readonly history?: {
    readonly baseDay: number;
    readonly later: () => Iterable<readonly [name: string, day: number]>;
  };
}

/** What lists hold before they are packed: names in any case, as U-labels or A-labels. */
export interface ListContents {
  readonly version: number;
  readonly disposable: readonly DisposableList[];
  readonly exceptions: ReadonlySet<string>;
  readonly free: readonly string[];
  readonly knownGood: readonly string[];
  readonly roles: readonly string[];
  readonly mailServers: readonly (readonly [host: string, kind: MailServerKind])[];
}

/** Everything of `Datasets` but the operator's word, in buffers. Browsers have no shared ones for most pages. */
export interface PackedDatasets<Memory extends ArrayBufferLike = ArrayBufferLike> {
  readonly version: number;
  readonly sources: readonly FeedSource[];
  readonly disposable: Memory;
  readonly families: Memory;
  /** By list: since when names that came later than its first copy are held, in days as the "bits" of a table. */
  readonly history: readonly ({ readonly baseDay: number; readonly later: Memory } | undefined)[];
  readonly free: Memory;
  readonly knownGood: Memory;
  readonly roles: Memory;
  readonly mailServers: Memory;
}

export type SharedDatasets = PackedDatasets<SharedArrayBuffer>;

const KINDS: readonly MailServerKind[] = ["dedicated", "shared"];

/** Packs lists. Invalid domain names are left out. Throws for more lists than a table can hold. */
export function shareDatasets(contents: ListContents): SharedDatasets {
  const sources = contents.disposable.map(({ id, kind, fetchedAtMs }) => ({
    id,
    kind,
    ...(fetchedAtMs !== undefined && { fetchedAtMs }),
  }));
  if (sources.length > TABLE_LISTS_MAX)
    throw new Error(`more than ${String(TABLE_LISTS_MAX)} lists`);
  const { exceptions } = contents;
  const disposable = pack(
    contents.disposable.map(({ read }) => read),
    (line) => {
      const name = domainName(line);
      return name === undefined || exceptions.has(name) ? undefined : name;
    },
  );
  const isHonest = honestBy(sources, disposable);
  const honest = (lines: readonly string[]): readonly string[] =>
    lines.map(domainName).filter((name): name is string => name !== undefined && isHonest(name));
  const free = honest(contents.free);
  return {
    version: contents.version,
    sources,
    disposable,
    families: familiesOf(
      disposable,
      curatedBits(sources),
      (name) => !(FAMILY_EXCEPTIONS.has(name) || name.endsWith(".arpa")) && !exceptions.has(name),
    ),
    history: contents.disposable.map(({ history }) => history && packHistory(history)),
    free: packAsIs(free),
    knownGood: packAsIs([...free, ...honest(contents.knownGood)]),
    roles: packAsIs(contents.roles),
    mailServers: packMailServers(contents.mailServers),
  };
}

/** Learned mail hosts and addresses by kind; small, so that they are packed again wherever they change. */
export function packMailServers(
  servers: readonly (readonly [host: string, kind: MailServerKind])[],
): SharedArrayBuffer {
  const hostsOf = (kind: MailServerKind): readonly string[] =>
    servers.flatMap(([host, its]) => (its === kind ? host : []));
  return packAsIs(...KINDS.map(hostsOf));
}

function packHistory({ baseDay, later }: NonNullable<DisposableList["history"]>) {
  const builder = new NameTableBuilder();
  for (const [name, day] of later()) builder.put(name, day);
  return { baseDay, later: builder.finish() };
}

/** Reads packed datasets where they lie; nothing is copied. `operator` is each process's own. */
export function attachDatasets(shared: PackedDatasets, operator: Rules): Datasets {
  const servers = attachNameTable(shared.mailServers);
  const histories = shared.history.map(
    (history) => history && { ...history, later: attachNameTable(history.later) },
  );
  return {
    version: shared.version,
    sources: shared.sources,
    disposable: attachNameTable(shared.disposable),
    families: attachNameTable(familiesUnder(operator, shared)),
    history: {
      sinceMs(name, bit) {
        const history = histories[bit];
        return history && (history.later.sourcesOf(name) || history.baseDay) * DAY_MS;
      },
    },
    mailServers: {
      kindOf(host) {
        const bits = servers.sourcesOf(host);
        return bits === 0 ? undefined : KINDS.find((_, bit) => (bits >> bit) & 1);
      },
    },
    free: attachNameSet(shared.free),
    knownGood: attachNameSet(shared.knownGood),
    roles: attachNameSet(shared.roles),
    operator,
  };
}

const packAsIs = (...lists: readonly (readonly string[])[]): SharedArrayBuffer =>
  pack(lists.map((names) => () => names));

/** List n of `lists` becomes bit n; `nameOf` gives each line as it is looked up, undefined to leave it out. */
function pack(
  lists: readonly (() => Iterable<string>)[],
  nameOf: (line: string) => string | undefined = (line) => line,
): SharedArrayBuffer {
  const builder = new NameTableBuilder();
  for (const [bit, read] of lists.entries()) {
    for (const line of read()) {
      const name = nameOf(line);
      if (name !== undefined) builder.add(name, bit);
    }
  }
  return builder.finish();
}

/** Lists of free providers hold throw-away services too: a name that is listed or says so itself earns no trust. */
function honestBy(sources: readonly FeedSource[], disposable: SharedArrayBuffer) {
  const none = packAsIs();
  const others = { families: none, free: none, knownGood: none, roles: none, mailServers: none };
  const packed = { version: 0, sources, disposable, history: [], ...others };
  const datasets = attachDatasets(packed, noRules);
  const curated = curatedBits(sources);
  return (name: string): boolean =>
    !hasStrongWord(name) &&
    (datasets.disposable.sourcesOf(name) & curated) === 0 &&
    !liesBelowListed(name, datasets);
}

/** Two labels are a registrable name or a suffix, and nothing above them counts: most names end there. */
function liesBelowListed(name: string, datasets: Datasets): boolean {
  if (name.indexOf(".") === name.lastIndexOf(".")) return false;
  const parsed = parseDomain(name);
  if (!parsed.ok) return false;
  return listEvidence(parsed.value, { kind: "unknown" }, datasets)?.signal === "blacklist_parent";
}

/** A name without upper case or U-labels; whether it is well-formed too does not matter: no other is asked for. */
const PLAIN = /^[a-z0-9.-]+$/;

function domainName(line: string): string | undefined {
  if (PLAIN.test(line) && line.includes(".")) return line;
  const parsed = parseDomain(line);
  return parsed.ok ? parsed.value.name : undefined;
}

const nothing = (): undefined => undefined;

export const noRules: Rules = {
  domain: nothing,
  named: nothing,
  mailHost: nothing,
  address: nothing,
  trap: nothing,
  names: () => [],
  isFeedOff: () => false,
};

/** This many curated names below one registrable domain show that one service owns the domain. */
const FAMILY_MIN = 3;

const curatedBits = (sources: readonly FeedSource[]): number =>
  sources.reduce((bits, { kind }, bit) => bits | (kind === "curated" ? 1 << bit : 0), 0);

function familiesOf(
  disposable: ArrayBufferLike,
  curated: number,
  mayBeFamily: (registrable: string) => boolean,
): SharedArrayBuffer {
  const families = new Map<string, { count: number; bits: number }>();
  for (const [name, bits] of namesOfTable(disposable, curated)) {
    const registrable = registrableOf(name);
    if (registrable === undefined || registrable === name || !mayBeFamily(registrable)) continue;
    const family = families.get(registrable) ?? { count: 0, bits: 0 };
    families.set(registrable, { count: family.count + 1, bits: family.bits | (bits & curated) });
  }
  const builder = new NameTableBuilder();
  for (const [name, { count, bits }] of families) if (count >= FAMILY_MIN) builder.put(name, bits);
  return builder.finish();
}

/** What was counted without the feeds that are off, of the tables in use: counting takes some 30 ms. */
const counted = new WeakMap<ArrayBufferLike, Map<number, ArrayBufferLike>>();

export function familiesUnder(
  rules: Rules,
  { sources, disposable, families }: Pick<PackedDatasets, "sources" | "disposable" | "families">,
): ArrayBufferLike {
  const all = curatedBits(sources);
  const on = curatedBits(
    sources.map((feed) => (rules.isFeedOff(feed.id) ? { ...feed, kind: "weak" } : feed)),
  );
  if (on === all) return families;
  const known = counted.get(disposable) ?? new Map<number, ArrayBufferLike>();
  counted.set(disposable, known);
  const before = known.get(on);
  if (before !== undefined) return before;
  const full = attachNameTable(families);
  const fewer = familiesOf(disposable, on, (name) => full.sourcesOf(name) !== 0);
  known.set(on, fewer);
  return fewer;
}

/**
 * Names and the lists that hold them in one shared buffer, by open addressing with linear probing:
 * [slot count: u32] [slot: u32, one more than where its entry begins in the text, 0 for empty]...
 * [text: entries of u8 length, u16 bits, bytes]
 */
const HEADER_BYTES = 4;
const ENTRY_HEAD_BYTES = 3;

/** Bits of an entry: as many lists as a table can tell apart. */
const TABLE_LISTS_MAX = 16;

/** FNV-1a over the characters, in 32 bits. The low bits choose the slot, and FNV mixes the high ones better. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}

interface Views {
  readonly slots: Uint32Array;
  readonly text: Uint8Array;
}

/** The slot that holds `name`, or the empty one where it belongs. A table is never full, so it ends. */
function slotOf(name: string, { slots, text }: Views): number {
  const last = slots.length - 1;
  let slot = hashOf(name) & last;
  for (let entry = slots[slot] ?? 0; entry !== 0; entry = slots[slot] ?? 0) {
    if (isNameAt(name, text, entry - 1)) return slot;
    slot = (slot + 1) & last;
  }
  return slot;
}

function isNameAt(name: string, text: Uint8Array, at: number): boolean {
  if (text[at] !== name.length) return false;
  const first = at + ENTRY_HEAD_BYTES;
  for (let index = 0; index < name.length; index += 1) {
    if (text[first + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}

const bitsAt = (text: Uint8Array, at: number): number =>
  (text[at + 1] ?? 0) | ((text[at + 2] ?? 0) << 8);

const NAME_MAX = 255;

export class NameTableBuilder {
  readonly #names = new Map<string, number>();

  /** Adds list bit `bit` (0 to 15) to `name`: printable ASCII, 1 to 255 characters, as it will be asked for. */
  add(name: string, bit: number): void {
    this.#names.set(name, (this.#names.get(name) ?? 0) | (1 << bit));
  }

  put(name: string, value: number): void {
    this.#names.set(name, value);
  }

  finish(): SharedArrayBuffer {
    const names = [...this.#names.keys()];
    const octets = names.reduce((sum, name) => sum + ENTRY_HEAD_BYTES + name.length, 0);
    // A power of 2 of which the names take at most half.
    const slotCount = 2 ** Math.ceil(Math.log2(Math.max(1, names.length) * 2));
    const start = HEADER_BYTES + slotCount * Uint32Array.BYTES_PER_ELEMENT;
    const shared = new SharedArrayBuffer(start + octets);
    new Uint32Array(shared, 0, 1)[0] = slotCount;
    const slots = new Uint32Array(shared, HEADER_BYTES, slotCount);
    const text = new Uint8Array(shared, start);
    let end = 0;
    for (const [name, value] of this.#names) {
      slots[slotOf(name, { slots, text })] = end + 1;
      writeName(name, text, end);
      text[end + 1] = value & 0xff;
      text[end + 2] = value >> 8;
      end += ENTRY_HEAD_BYTES + name.length;
    }
    return shared;
  }
}

function writeName(name: string, text: Uint8Array, at: number): void {
  if (name === "" || name.length > NAME_MAX) throw new Error("name table: length of a name");
  text[at] = name.length;
  for (let index = 0; index < name.length; index += 1) {
    const code = name.charCodeAt(index);
    if (code < 0x21 || code > 0x7e) throw new Error("name table: character of a name");
    text[at + ENTRY_HEAD_BYTES + index] = code;
  }
}

const EMPTY: NameTable = { sourcesOf: () => 0 };

export function attachNameTable(buffer: ArrayBufferLike): NameTable {
  const slotCount = new Uint32Array(buffer, 0, 1)[0] ?? 0;
  const slots = new Uint32Array(buffer, HEADER_BYTES, slotCount);
  const text = new Uint8Array(buffer, HEADER_BYTES + slots.byteLength);
  if (text.length === 0) return EMPTY;
  const views = { slots, text };
  return {
    sourcesOf(name) {
      const entry = slots[slotOf(name, views)] ?? 0;
      return entry === 0 ? 0 : bitsAt(text, entry - 1);
    },
  };
}

/** The names of a finished table that have one of the `wanted` bits, with all of theirs, in no order. */
export function* namesOfTable(
  buffer: ArrayBufferLike,
  wanted = 2 ** TABLE_LISTS_MAX - 1,
): Generator<readonly [name: string, bits: number]> {
  const slotCount = new Uint32Array(buffer, 0, 1)[0] ?? 0;
  const text = new Uint8Array(buffer, HEADER_BYTES + slotCount * Uint32Array.BYTES_PER_ELEMENT);
  for (let at = 0; at < text.length; at += ENTRY_HEAD_BYTES + (text[at] ?? 0)) {
    const bits = bitsAt(text, at);
    if ((bits & wanted) === 0) continue; // making a text costs most
    const start = at + ENTRY_HEAD_BYTES;
    const name = String.fromCharCode(...text.subarray(start, start + (text[at] ?? 0)));
    yield [name, bits];
  }
}

function attachNameSet(buffer: ArrayBufferLike): NameSet {
  const table = attachNameTable(buffer);
  return { has: (name) => table.sourcesOf(name) !== 0 };
}
