import { type BatchLayout, endsLine, endsPiece } from "./batch.ts";

/** More spellings are refused before any is parsed: no list that people keep spells all of its `entriesMax` entries twice. */
export const spellingsMax = (entriesMax: number): number => 2 * entriesMax + 1_000;

/** The different texts of a list, numbered from 0 in their order. Beyond `max` they are counted and no longer kept. */
export class Spellings {
  readonly #max: number;
  readonly #numbers = new Map<string, number>();
  #counted: TextHashes | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  get count(): number {
    return this.#counted?.size ?? this.#numbers.size;
  }

  get areTooMany(): boolean {
    return this.#counted !== undefined;
  }

  add(text: string): number {
    if (this.#counted !== undefined) {
      this.#counted.addText(text);
      return -1;
    }
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    if (number < this.#max) return number;
    this.#count();
    return -1;
  }

  all(): Iterable<string> {
    return this.#numbers.keys();
  }

  #count(): void {
    const counted = new TextHashes();
    for (const text of this.#numbers.keys()) counted.addText(text);
    this.#counted = counted;
    this.#numbers.clear();
  }
}

/** Characters that are read between two yields: about 1 ms. */
const SLICE_UNITS = 131_072;

/** How many different texts stand in a list, in slices and without copying any; 8 octets of memory for each text. */
export function* countSpellings(text: string, layout: BatchLayout): Generator<undefined, number> {
  const isEnd = layout === "list" ? endsPiece : endsLine;
  const seen = new TextHashes();
  let [first, second, length] = [FIRST_SEED, SECOND_SEED, 0];
  let sliceEnd = SLICE_UNITS;
  for (let at = 0; at <= text.length; at += 1) {
    if (at >= sliceEnd) {
      yield;
      sliceEnd = at + SLICE_UNITS;
    }
    const code = at < text.length ? text.charCodeAt(at) : 10;
    if (!isEnd(code)) {
      first = firstWith(first, code);
      second = secondWith(second, code);
      length += 1;
    } else if (length > 0) {
      seen.add(first, second);
      [first, second, length] = [FIRST_SEED, SECOND_SEED, 0];
    }
  }
  return seen.size;
}

const [FIRST_SEED, SECOND_SEED] = [0x811c9dc5 | 0, 0x9e3779b9 | 0];

const firstWith = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);
const secondWith = (hash: number, code: number): number =>
  Math.imul(hash + code, 0x85ebca6b) ^ (hash >>> 13);

/** Hashes of 64 bits, two of which are the same in one of 10^8 lists of 400,000 texts. */
export class TextHashes {
  #slots = new Int32Array(2 * 4_096);
  size = 0;

  addText(text: string): boolean {
    const before = this.size;
    let [first, second] = [FIRST_SEED, SECOND_SEED];
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      first = firstWith(first, code);
      second = secondWith(second, code);
    }
    this.add(first, second);
    return this.size > before;
  }

  add(first: number, second: number): void {
    // 0 marks a free slot.
    if (!this.#insert(first, second === 0 ? 1 : second)) return;
    this.size += 1;
    if (this.size * 4 > this.#slots.length) this.#widen();
  }

  #insert(first: number, second: number): boolean {
    const mask = this.#slots.length / 2 - 1;
    for (let at = (first ^ (first >>> 15)) & mask; ; at = (at + 1) & mask) {
      if (this.#slots[2 * at + 1] === 0) {
        this.#slots[2 * at] = first;
        this.#slots[2 * at + 1] = second;
        return true;
      }
      if (this.#slots[2 * at] === first && this.#slots[2 * at + 1] === second) return false;
    }
  }

  #widen(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      const second = before[at + 1] ?? 0;
      if (second !== 0) this.#insert(before[at] ?? 0, second);
    }
  }
}
