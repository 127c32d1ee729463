import { entryKey, readEntry } from "../address/address.ts";
import { BEYOND_ASCII, ENTRY_MAX_UNITS } from "../name/domain.ts";

export interface Batch {
  readonly total: number;
  readonly unique: number;
  readonly spellings: readonly string[];
  /** The entry of each spelling; entries are numbered from 0 in the order of their first spellings. */
  readonly entryOf: readonly number[];
}

/** More unique entries than allowed: how many were counted, of which some may be spellings of one entry. */
export interface TooMany {
  readonly kind: "too_many";
  readonly count: number;
}

const SLICE_UNITS = 65_536;

/** Editors put one in front of a text; inside an entry it is an invisible character like any other. */
const BYTE_ORDER_MARK = "\ufeff";

/** What stands between commas and ASCII white space; undefined where a long text gives others a turn. */
export function* piecesOf(text: string): Generator<string | undefined> {
  let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  let sliceEnd = SLICE_UNITS;
  for (let at = start; at <= text.length; at += 1) {
    if (at >= sliceEnd) {
      yield undefined;
      sliceEnd = at + SLICE_UNITS;
    }
    if (at < text.length && !endsPiece(text.charCodeAt(at))) continue;
    if (at > start) yield text.slice(start, at);
    start = at + 1;
  }
}

const endsPiece = (code: number): boolean =>
  code === 32 || code === 44 || code === 10 || code === 13 || code === 9;

/** Lower-case ASCII with one "@" at the most, no last dot, and no A-label, whose form UTS-46 may change. */
const PLAIN = /^(?!.*xn--)[a-z0-9.+_-]*(?:@[a-z0-9.+_-]*)?(?<!\.)$/;

/** Other alphabets have dots of their own. */
const DOT_OR_BEYOND_ASCII = /[.\u0080-\uffff]/;

/** Seen without parsing: it is malformed for its length or for want of a dot, or has nothing that parsing would change. */
function isOwnKey(piece: string): boolean {
  if (piece.length > ENTRY_MAX_UNITS || PLAIN.test(piece)) return true;
  return !DOT_OR_BEYOND_ASCII.test(piece.slice(piece.lastIndexOf("@") + 1));
}

export const keyOf = (piece: string): string =>
  isOwnKey(piece) ? piece : entryKey(readEntry(piece, "either"), piece);

/** How much is read between two pauses, below 10 ms of work: pieces, of which those that UTS-46 has to read cost more. */
const SLICE_COST = 512;

/** Pieces beyond ASCII that are parsed of a list that is known to be too long. */
const COSTLY_MAX = 2_000;

/** More spellings are not parsed: no list that people keep spells all of its entries twice. */
const spellingsMax = (uniqueMax: number): number => 2 * uniqueMax + 1_000;

/**
 * De-duplicates pieces of text. Entries are one when they parse to the same address or domain, unparsable ones when their
 * text is the same. Of a list that is far too long, the different texts are counted and no longer parsed.
 */
export class EntryReader {
  readonly #uniqueMax: number;
  #cost = 0;
  #costly = 0;
  #total = 0;
  #unique = 0;
  #uncounted = 0;
  readonly #spellings: string[] = [];
  readonly #entryOf: number[] = [];
  /** Spellings and keys to their entry; a key not spelled so far is stored as `~entry`. A Map, so `__proto__` is a name like any other. */
  readonly #seen = new Map<string, number>();

  constructor(uniqueMax = Infinity) {
    this.#uniqueMax = uniqueMax;
  }

  get total(): number {
    return this.#total;
  }

  get isFarTooLong(): boolean {
    return (
      this.#spellings.length > spellingsMax(this.#uniqueMax) ||
      (this.#unique > this.#uniqueMax && this.#costly > COSTLY_MAX)
    );
  }

  isPauseDue(): boolean {
    if (this.#cost < SLICE_COST) return false;
    this.#cost = 0;
    return true;
  }

  take(piece: string): number {
    this.#total += 1;
    this.#cost += 1;
    const known = this.#seen.get(piece);
    if (known !== undefined && known >= 0) return known;
    if (this.isFarTooLong) {
      this.#seen.set(piece, 0);
      this.#uncounted += 1;
      return 0;
    }
    const entry = known === undefined ? this.#entryByKey(piece) : ~known;
    this.#seen.set(piece, entry);
    this.#spellings.push(piece);
    this.#entryOf.push(entry);
    return entry;
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
    if (BEYOND_ASCII.test(piece)) {
      this.#costly += 1;
      this.#cost += piece.length;
    }
    return entryKey(readEntry(piece, "either"), piece);
  }

  batch(): Batch | TooMany {
    const [total, unique, spellings] = [this.#total, this.#unique, this.#spellings];
    if (this.isFarTooLong) return { kind: "too_many", count: spellings.length + this.#uncounted };
    if (unique > this.#uniqueMax) return { kind: "too_many", count: unique };
    return { total, unique, spellings, entryOf: this.#entryOf };
  }
}
