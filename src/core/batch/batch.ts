import { entryKey, readEntry, trimEntry } from "../address/address.ts";
import { ENTRY_MAX_UNITS } from "../name/domain.ts";

export interface Batch {
  /** Entries before de-duplication. */
  readonly total: number;
  readonly unique: number;
  readonly spellings: readonly string[];
  /** For each spelling its entry; entries are numbered from 0 in the order of their first spellings. */
  readonly entryOf: readonly number[];
  /** It holds too many entries and was not read to its end. */
  readonly isCutShort?: boolean;
}

/**
 * `list`: pieces between commas and ASCII white space (blank, tab, CR, LF).
 * `lines`: one piece a line, white space around it dropped. Empty pieces are not entries in either.
 */
export type BatchLayout = "list" | "lines";

/** How much is read between two yields, below 10 ms of work: pieces, of which those that UTS-46 has to read cost more. */
const SLICE_COST = 512;
const SLICE_UNITS = 65_536;

/** Pieces beyond ASCII that are parsed of a list that is known to be too long. */
const COSTLY_MAX = 2_000;

/**
 * Splits and de-duplicates, linear in `text`; a thread with other duties does something else at each yield. Entries are
 * one when they parse to the same address or domain, unparsable ones when their text is the same. Beyond `uniqueMax`
 * entries the reading ends where it becomes costly.
 */
export function* readBatch(
  text: string,
  layout: BatchLayout,
  uniqueMax = Infinity,
): Generator<undefined, Batch> {
  const reader = new Reader();
  const { isEnd, tidy } = LAYOUTS[layout];
  let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  let sliceEnd = SLICE_UNITS;
  for (let at = start; at <= text.length; at += 1) {
    if (at >= sliceEnd || reader.sincePause >= SLICE_COST) {
      if (reader.isTooCostly(uniqueMax)) return { ...reader.batch(), isCutShort: true };
      yield;
      reader.sincePause = 0;
      sliceEnd = at + SLICE_UNITS;
    }
    if (at < text.length && !isEnd(text.charCodeAt(at))) continue;
    reader.take(tidy(text.slice(start, at)));
    start = at + 1;
  }
  return reader.batch();
}

export function* readPieces(
  pieces: Iterable<string>,
  uniqueMax = Infinity,
): Generator<undefined, Batch> {
  const reader = new Reader();
  for (const piece of pieces) {
    if (reader.sincePause >= SLICE_COST) {
      if (reader.isTooCostly(uniqueMax)) return { ...reader.batch(), isCutShort: true };
      yield;
      reader.sincePause = 0;
    }
    reader.take(piece);
  }
  return reader.batch();
}

/** Editors put one in front of a text; inside an entry it is an invisible character like any other. */
const BYTE_ORDER_MARK = "\ufeff";

const LF = 10;
export const endsLine = (code: number): boolean => code === LF;
export const endsPiece = (code: number): boolean =>
  code === 32 || code === 44 || code === LF || code === 13 || code === 9;

const LAYOUTS = {
  list: { isEnd: endsPiece, tidy: (piece: string) => piece },
  lines: { isEnd: endsLine, tidy: (line: string) => trimEntry(line) },
} as const satisfies Readonly<Record<BatchLayout, object>>;

/** Seen without parsing: it is malformed for its length or for want of a dot, or has nothing that parsing would change. */
function isOwnKey(piece: string): boolean {
  return piece.length > ENTRY_MAX_UNITS || lacksDot(piece) || isPlain(piece);
}

function lacksDot(piece: string): boolean {
  for (let at = piece.length - 1; at >= 0; at -= 1) {
    const code = piece.charCodeAt(at);
    if (code === DOT || code > 127) return false; // other alphabets have dots of their own
    if (code === AT) return true;
  }
  return true;
}

/** Lower-case ASCII with one "@" at the most, no last dot, and no A-label, whose form UTS-46 may change. */
function isPlain(piece: string): boolean {
  let ats = 0;
  for (let at = 0; at < piece.length; at += 1) {
    const code = piece.charCodeAt(at);
    if (code === AT) ats += 1;
    else if (code > 127 || PLAIN[code] !== 1) return false;
  }
  return ats <= 1 && piece.charCodeAt(piece.length - 1) !== DOT && !piece.includes("xn--");
}

const PLAIN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9.+_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

const DOT = 46;
const AT = 64;
const NON_ASCII = /[^\0-\x7f]/;

export const keyOf = (piece: string): string =>
  isOwnKey(piece) ? piece : entryKey(readEntry(piece, "either"), piece);

class Reader {
  sincePause = 0;
  #costly = 0;
  #total = 0;
  #unique = 0;
  readonly #spellings: string[] = [];
  readonly #entryOf: number[] = [];
  /** Spellings and keys to their entry; a key not spelled so far is stored as `~entry`. A Map, so `__proto__` is a name like any other. */
  readonly #seen = new Map<string, number>();

  isTooCostly(uniqueMax: number): boolean {
    return this.#unique > uniqueMax && this.#costly > COSTLY_MAX;
  }

  take(piece: string): void {
    if (piece === "") return;
    this.#total += 1;
    this.sincePause += 1;
    const known = this.#seen.get(piece);
    if (known !== undefined && known >= 0) return;
    const entry = known === undefined ? this.#entryByKey(piece) : ~known;
    this.#seen.set(piece, entry);
    this.#spellings.push(piece);
    this.#entryOf.push(entry);
  }

  #entryByKey(piece: string): number {
    const key = isOwnKey(piece) ? piece : this.#keyOf(piece);
    if (key === piece) return this.#unique++;
    const known = this.#seen.get(key);
    if (known !== undefined) return known >= 0 ? known : ~known;
    this.#seen.set(key, ~this.#unique);
    return this.#unique++;
  }

  #keyOf(piece: string): string {
    if (NON_ASCII.test(piece)) {
      this.#costly += 1;
      this.sincePause += piece.length;
    }
    return entryKey(readEntry(piece, "either"), piece);
  }

  batch(): Batch {
    return {
      total: this.#total,
      unique: this.#unique,
      spellings: this.#spellings,
      entryOf: this.#entryOf,
    };
  }
}

export function finish<T>(slices: Generator<undefined, T>): T {
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
  }
}
