import { v6Groups } from "../core/name/ip-address.ts";
import type { OwnerKey } from "./owner.ts";

export interface Piece<T> {
  readonly owner: OwnerKey;
  readonly item: T;
  readonly cost: number;
  readonly amount: number;
  /** Among those of its owner the lowest goes first. */
  readonly rank: number;
}

export interface QueueTerms {
  readonly total: () => number;
  readonly perOwner: (owner: OwnerKey) => number;
}

interface Flow<T> {
  readonly owner: OwnerKey;
  readonly net: string;
  readonly pieces: Piece<T>[];
  /** The start tag of its next piece, which is at least the finish tag of its last one. */
  start: number;
  used: number;
  /** The count of the moment when it began to wait; 0 when it does not, without a piece or with its share in service. */
  since: number;
}

/** One turn in so many goes to the owner that waits longest, or newcomers could pass it for ever. */
const LONGEST_EVERY = 64;

/** Owners without a piece that are remembered, because they may be ahead of the others. */
const IDLE_MAX = 64;

/**
 * Start-time fair queueing (Goyal, Vin, Cheng 1996) of the pieces of owners, who share places. The next piece is the one with the
 * least start tag, which is the larger of the virtual time and of its owner's last finish tag; virtual time is the start tag of the
 * piece begun last. Of equal tags the newest goes first or, every other time, the oldest.
 */
export class FairQueue<T> {
  readonly #terms: QueueTerms;
  readonly #flows = new Map<OwnerKey, Flow<T>>();
  /** Those that may be next: the least start tag stands last and, of equal ones, the newest. */
  readonly #waiting: Flow<T>[] = [];
  #virtual = 0;
  #forgetAt = 2 * IDLE_MAX;
  #waits = 0;
  #turns = 0;
  #length = 0;
  #used = 0;

  constructor(terms: QueueTerms = { total: () => Infinity, perOwner: () => Infinity }) {
    this.#terms = terms;
  }

  get length(): number {
    return this.#length;
  }

  get used(): number {
    return this.#used;
  }

  get owners(): number {
    return this.#flows.size;
  }

  lengthOf(owner: OwnerKey): number {
    return this.#flows.get(owner)?.pieces.length ?? 0;
  }

  usedBy(owner: OwnerKey): number {
    return this.#flows.get(owner)?.used ?? 0;
  }

  /** Pieces that wait for the /48 of an IPv6 owner together; 0 for others. */
  lengthOfNet(owner: OwnerKey): number {
    const net = netOf(owner);
    if (net === "") return 0;
    let length = 0;
    for (const flow of this.#flows.values()) if (flow.net === net) length += flow.pieces.length;
    return length;
  }

  push(owner: OwnerKey, item: T, { cost = 1, amount = 1, rank = 0 } = {}): Piece<T> {
    const piece = { owner, item, cost: Math.max(1, cost), amount, rank };
    const flow = this.#flowOf(owner);
    const behind = flow.pieces.findLastIndex((other) => other.rank <= rank);
    flow.pieces.splice(behind + 1, 0, piece);
    this.#length += 1;
    if (flow.pieces.length === 1) this.#put(flow);
    return piece;
  }

  /** Takes out the next piece and counts its places, unless they are not free: then nothing else is next. */
  next(): Piece<T> | undefined {
    const passed: Flow<T>[] = [];
    let piece: Piece<T> | undefined;
    for (let flow = this.#first(); flow !== undefined; flow = this.#first()) {
      const [head] = flow.pieces;
      if (head === undefined || this.#used + head.amount > this.#terms.total()) break;
      this.#takeOut(flow);
      if (flow.used + head.amount <= this.#terms.perOwner(flow.owner)) {
        piece = this.#begin(flow, head);
        break;
      }
      if (flow.used === 0) passed.push(flow); // nothing of it ends that would bring it back
    }
    for (const flow of passed) this.#put(flow);
    return piece;
  }

  /** Counts places without a turn. */
  hold(owner: OwnerKey, amount: number): void {
    this.#used += amount;
    this.#flowOf(owner).used += amount;
  }

  release(owner: OwnerKey, amount = 1): void {
    this.hold(owner, -amount);
    const flow = this.#flowOf(owner);
    if (flow.since === 0) this.#put(flow);
  }

  /** For a piece that cost more than was said; nobody but its owner waits longer. */
  charge(owner: OwnerKey, cost: number): void {
    const flow = this.#flowOf(owner);
    const { since } = flow;
    if (since > 0) this.#takeOut(flow);
    flow.start += cost;
    if (since > 0) this.#put(flow);
  }

  remove(piece: Piece<T>): boolean {
    const flow = this.#flowOf(piece.owner);
    const at = flow.pieces.indexOf(piece);
    if (at < 0) return false;
    flow.pieces.splice(at, 1);
    this.#length -= 1;
    if (flow.pieces.length === 0 && flow.since > 0) this.#takeOut(flow);
    return true;
  }

  /** The last piece of the owner with the most. */
  last(): Piece<T> | undefined {
    return largestBy(this.#flows.values(), ({ pieces }) => pieces.length)?.pieces.at(-1);
  }

  #first(): Flow<T> | undefined {
    const turn = this.#turns % LONGEST_EVERY;
    const newest = this.#waiting.at(-1);
    if (turn === LONGEST_EVERY - 1) return largestBy(this.#waiting, ({ since }) => -since);
    return turn % 2 === 0 || newest === undefined
      ? newest
      : this.#waiting[this.#placeOf(newest.start, 0)];
  }

  #begin(flow: Flow<T>, piece: Piece<T>): Piece<T> {
    this.#turns += 1;
    // Who waited longest may be far ahead of the others, and begins without moving the time of all.
    const least = Math.min(flow.start, this.#waiting.at(-1)?.start ?? Infinity);
    this.#virtual = Math.max(this.#virtual, least);
    flow.start += piece.cost;
    flow.pieces.shift();
    this.#length -= 1;
    this.hold(flow.owner, piece.amount);
    this.#put(flow);
    return piece;
  }

  #put(flow: Flow<T>): void {
    if (flow.pieces.length === 0) return;
    this.#waits += 1;
    flow.since = this.#waits;
    flow.start = Math.max(flow.start, this.#virtual);
    this.#waiting.splice(this.#placeOf(flow.start, flow.since), 0, flow);
  }

  #takeOut(flow: Flow<T>): void {
    this.#waiting.splice(this.#placeOf(flow.start, flow.since), 1);
    flow.since = 0;
  }

  #placeOf(start: number, since: number): number {
    let [from, to] = [0, this.#waiting.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#waiting[middle];
      if (other === undefined) break;
      if (other.start > start || (other.start === start && other.since < since)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #flowOf(owner: OwnerKey): Flow<T> {
    const known = this.#flows.get(owner);
    if (known !== undefined) return known;
    if (this.#flows.size >= this.#forgetAt) this.#forgetIdle();
    const made = { owner, net: netOf(owner), pieces: [], start: this.#virtual, used: 0, since: 0 };
    this.#flows.set(owner, made);
    return made;
  }

  #forgetIdle(): void {
    const idle = [...this.#flows.values()].filter(({ pieces, used }) => pieces.length + used === 0);
    for (const { owner } of idle.slice(0, -IDLE_MAX)) this.#flows.delete(owner);
    this.#forgetAt = 2 * (this.#flows.size + IDLE_MAX);
  }
}

/** The /48 of an owner that is the /64 of an IPv6 address, else "". */
export const netOf = (owner: OwnerKey): string =>
  owner.endsWith("/64") ? (v6Groups(owner.slice(7, -3))?.slice(0, 3).join(":") ?? "") : "";

export function largestBy<T>(items: Iterable<T>, sizeOf: (item: T) => number): T | undefined {
  let largest: T | undefined;
  for (const item of items) {
    if (largest === undefined || sizeOf(item) > sizeOf(largest)) largest = item;
  }
  return largest;
}
