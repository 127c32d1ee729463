import type { OwnerKey } from "./owner.ts";

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head < this.#items.length) this.#items[this.#head++] = undefined;
    if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  pop(): T | undefined {
    return this.length > 0 ? this.#items.pop() : undefined;
  }
}

interface Piece<T> {
  readonly item: T;
  readonly cost: number;
  readonly rank: number;
}

interface OwnerQueue<T> {
  readonly owner: OwnerKey;
  /** Lowest rank first; none is empty. */
  readonly ranks: { readonly rank: number; readonly pieces: Fifo<Piece<T>> }[];
  length: number;
  /** Virtual time at which the owner's last piece ended. */
  servedUntil: number;
}

/** A piece that waits is passed by pieces of others that cost this many times as much as it does, at most. */
const PASSING = 4;

/** Lines without a piece that are remembered, because their owners are ahead of the others. */
const EMPTY_LINES_MAX = 64;

/**
 * Weighted fair queueing: the next piece is the one that ends first in virtual time, in which each owner is served at the
 * same speed. Small pieces go before large ones, and a later owner starts where the others are.
 */
export class FairQueue<T> {
  readonly #lines = new Map<OwnerKey, OwnerQueue<T>>();
  readonly #waiting = new Set<OwnerQueue<T>>();
  /** Virtual time: it grows with each piece served, so that new owners cannot pass for ever. */
  #now = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get owners(): number {
    return this.#lines.size;
  }

  lengthOf(owner: OwnerKey): number {
    return this.#lines.get(owner)?.length ?? 0;
  }

  push(owner: OwnerKey, item: T, cost = 1, rank = 0): void {
    const line = this.#lineOf(owner);
    const { ranks } = line;
    if (line.length === 0) line.servedUntil = Math.max(this.#now, line.servedUntil);
    const behind = ranks.findLastIndex((one) => one.rank <= rank);
    let place = ranks[behind];
    if (place?.rank !== rank) {
      place = { rank, pieces: new Fifo() };
      ranks.splice(behind + 1, 0, place);
    }
    place.pieces.push({ item, cost, rank });
    this.#waiting.add(line);
    line.length += 1;
    this.#length += 1;
  }

  /** Takes out the next piece, of owners that `may` begin theirs, unless it does not fit: then nothing else is next. */
  next(
    may?: (owner: OwnerKey, item: T) => boolean,
    fits?: (item: T) => boolean,
  ): Piece<T> | undefined {
    let next: OwnerQueue<T> | undefined;
    let least = Infinity;
    for (const line of this.#waiting) {
      const piece = line.ranks[0]?.pieces.peek();
      if (piece === undefined) continue;
      const end = line.servedUntil + piece.cost;
      if (end >= least || may?.(line.owner, piece.item) === false) continue;
      next = line;
      least = end;
    }
    const first = next?.ranks[0]?.pieces.peek();
    if (next === undefined || first === undefined || fits?.(first.item) === false) return undefined;
    next.ranks[0]?.pieces.shift();
    this.#removed(next, 0);
    this.#charge(next, next.servedUntil, first.cost);
    return first;
  }

  charge(owner: OwnerKey, cost: number): void {
    const line = this.#lineOf(owner);
    this.#charge(line, Math.max(this.#now, line.servedUntil), cost);
  }

  longest(): OwnerKey | undefined {
    return largestBy(this.#waiting, ({ length }) => length)?.owner;
  }

  pop(owner: OwnerKey): T | undefined {
    const line = this.#lines.get(owner);
    const piece = line?.ranks.at(-1)?.pieces.pop();
    if (line !== undefined && piece !== undefined) this.#removed(line, line.ranks.length - 1);
    return piece?.item;
  }

  #lineOf(owner: OwnerKey): OwnerQueue<T> {
    const known = this.#lines.get(owner);
    if (known !== undefined) return known;
    if (this.#lines.size >= 2 * this.#waiting.size + EMPTY_LINES_MAX) this.#forgetEmpty();
    const line: OwnerQueue<T> = { owner, ranks: [], length: 0, servedUntil: this.#now };
    this.#lines.set(owner, line);
    return line;
  }

  #removed(line: OwnerQueue<T>, place: number): void {
    if (line.ranks[place]?.pieces.length === 0) line.ranks.splice(place, 1);
    line.length -= 1;
    this.#length -= 1;
    if (line.length === 0) this.#waiting.delete(line);
  }

  #charge(line: OwnerQueue<T>, start: number, cost: number): void {
    line.servedUntil = start + cost;
    this.#now = Math.max(this.#now, start + cost / PASSING);
  }

  #forgetEmpty(): void {
    for (const [owner, line] of this.#lines) {
      const isAhead = line.servedUntil > this.#now;
      if (!isAhead && line.length === 0) this.#lines.delete(owner);
    }
  }
}

export function largestBy<T>(items: Iterable<T>, sizeOf: (item: T) => number): T | undefined {
  let largest: T | undefined;
  for (const item of items) {
    if (largest === undefined || sizeOf(item) > sizeOf(largest)) largest = item;
  }
  return largest;
}
