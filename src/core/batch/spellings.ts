import { TextHashes } from "./count-spellings.ts";

/**
 * A list with more spellings than this is refused by their count, before any is parsed: twice the limit, because no
 * list that people keep spells all of its entries twice. `entriesMax`: unique entries that it may hold.
 */
export const spellingsMax = (entriesMax: number): number => 2 * entriesMax + 1_000;

/**
 * The different texts of a list, as they come, numbered from 0 in the order of their first. Once there are more than
 * `max` they are counted and no longer kept.
 */
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

  /** The number of a text; -1 when there are too many. */
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

  /** In the order of their numbers; none when there are too many. */
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
