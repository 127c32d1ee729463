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
  readonly pieces: Piece<T>[];
  /** The start tag of its next piece, which is the finish tag of its last one. */
  start: number;
  used: number;
  /** The turn since which it waits; no two are equal. */
  since: number;
  /** "aside": without a piece, or with its share in service. */
  place: "fresh" | "ahead" | "aside";
}

/** One turn in so many goes to the owner that waits longest, or newcomers could pass it for ever. */
const LONGEST_EVERY = 64;

/** Owners without a piece that are remembered, because they are ahead of the others. */
const IDLE_MAX = 64;

/**
 * Start-time fair queueing (Goyal, Vin, Cheng 1996) of the pieces of owners, who share places. The next piece is the one with the
 * least start tag, which is the larger of the virtual time and of its owner's last finish tag; virtual time is the start tag of the
 * piece begun last. Of newcomers, whose tags are equal, the one with the smallest piece goes first or, every other time, the oldest.
 */
export class FairQueue<T> {
  readonly #terms: QueueTerms;
  readonly #flows = new Map<OwnerKey, Flow<T>>();
  /** Those that may be next, in the order in which they began to wait; each is fresh or ahead. */
  readonly #waiting = new Set<Flow<T>>();
  /** Those whose tag is the virtual time, in that order and, below, by size: the next is the last. */
  readonly #fresh = new Set<Flow<T>>();
  readonly #bySize: Flow<T>[] = [];
  /** By start tag; the next is the last. */
  readonly #ahead: Flow<T>[] = [];
  readonly #nets = new Map<string, number>();
  #virtual = 0;
  #forgetAt = 2 * IDLE_MAX;
  #changes = 0;
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
    return this.#nets.get(netOf(owner)) ?? 0;
  }

  push(owner: OwnerKey, item: T, { cost = 1, amount = 1, rank = 0 } = {}): Piece<T> {
    const piece = { owner, item, cost: Math.max(1, cost), amount, rank };
    const flow = this.#flowOf(owner);
    const behind = flow.pieces.findLastIndex((other) => other.rank <= rank);
    if (behind + 1 === flow.pieces.length) flow.pieces.push(piece);
    else this.#change(flow, () => void flow.pieces.splice(behind + 1, 0, piece));
    if (flow.pieces.length === 1) this.#put(flow);
    this.#count(owner, 1);
    return piece;
  }

  /** Takes out the next piece and counts its places, unless they are not free: then nothing else is next. */
  next(): Piece<T> | undefined {
    const passed: Flow<T>[] = [];
    let piece: Piece<T> | undefined;
    for (
      let flow = this.#first();
      flow !== undefined && piece === undefined;
      flow = this.#first()
    ) {
      const [head] = flow.pieces;
      if (head === undefined || this.#used + head.amount > this.#terms.total()) break;
      this.#takeOut(flow);
      if (flow.used + head.amount <= this.#terms.perOwner(flow.owner))
        piece = this.#begin(flow, head);
      else if (flow.used === 0) passed.push(flow); // nothing of it ends that would bring it back
    }
    for (const flow of passed) this.#put(flow);
    return piece;
  }

  /** Counts places without a turn; what it costs, if anything, is paid as for one. */
  hold(owner: OwnerKey, amount: number, cost = 0): void {
    const flow = this.#flowOf(owner);
    this.#used += amount;
    flow.used += amount;
    if (cost > 0) this.#change(flow, () => this.#pay(flow, cost));
  }

  release(owner: OwnerKey, amount = 1): void {
    const flow = this.#flowOf(owner);
    this.#used -= amount;
    flow.used -= amount;
    if (flow.place === "aside") this.#put(flow);
  }

  /** For a piece that cost more than was said; nobody but its owner waits longer. */
  charge(owner: OwnerKey, cost: number): void {
    const flow = this.#flowOf(owner);
    this.#change(flow, () => void (flow.start += cost));
  }

  remove(piece: Piece<T>): boolean {
    const flow = this.#flows.get(piece.owner);
    const at = flow?.pieces.indexOf(piece) ?? -1;
    if (flow === undefined || at < 0) return false;
    if (at === 0) this.#change(flow, () => void flow.pieces.shift());
    else flow.pieces.splice(at, 1);
    this.#count(piece.owner, -1);
    return true;
  }

  last(): Piece<T> | undefined {
    return largestBy(this.#flows.values(), ({ pieces }) => pieces.length)?.pieces.at(-1);
  }

  #first(): Flow<T> | undefined {
    for (let flow = this.#ahead.at(-1); flow !== undefined; flow = this.#ahead.at(-1)) {
      if (flow.start > this.#virtual) break;
      this.#ahead.pop();
      this.#putFresh(flow);
    }
    if (this.#turns % LONGEST_EVERY === LONGEST_EVERY - 1) return oldest(this.#waiting);
    if (this.#fresh.size === 0) return this.#ahead.at(-1);
    return this.#turns % 2 === 1 ? this.#bySize.at(-1) : oldest(this.#fresh);
  }

  #begin(flow: Flow<T>, piece: Piece<T>): Piece<T> {
    this.#turns += 1;
    this.#used += piece.amount;
    flow.used += piece.amount;
    flow.pieces.shift();
    this.#count(flow.owner, -1);
    this.#pay(flow, piece.cost);
    this.#put(flow);
    return piece;
  }

  #pay(flow: Flow<T>, cost: number): void {
    this.#virtual = Math.max(this.#virtual, flow.start);
    flow.start = this.#virtual + cost;
  }

  #change(flow: Flow<T>, change: () => void): void {
    const isWaiting = flow.place !== "aside";
    if (isWaiting) this.#takeOut(flow);
    change();
    if (isWaiting) this.#put(flow);
  }

  #put(flow: Flow<T>): void {
    if (flow.pieces.length === 0) return;
    this.#changes += 1;
    flow.since = this.#changes;
    this.#waiting.add(flow);
    if (flow.start <= this.#virtual) return this.#putFresh(flow);
    flow.place = "ahead";
    insert(this.#ahead, flow, byStart);
  }

  #putFresh(flow: Flow<T>): void {
    flow.place = "fresh";
    this.#fresh.add(flow);
    insert(this.#bySize, flow, bySize);
  }

  #takeOut(flow: Flow<T>): void {
    this.#waiting.delete(flow);
    if (flow.place === "fresh") {
      this.#fresh.delete(flow);
      this.#bySize.splice(placeIn(this.#bySize, flow, bySize), 1);
    } else this.#ahead.splice(placeIn(this.#ahead, flow, byStart), 1);
    flow.place = "aside";
  }

  #flowOf(owner: OwnerKey): Flow<T> {
    const known = this.#flows.get(owner);
    if (known !== undefined) return known;
    if (this.#flows.size >= this.#forgetAt) this.#forgetIdle();
    const start = this.#virtual;
    const made: Flow<T> = { owner, pieces: [], start, used: 0, since: 0, place: "aside" };
    this.#flows.set(owner, made);
    return made;
  }

  #forgetIdle(): void {
    const idle = [...this.#flows].filter(([, { pieces, used }]) => pieces.length + used === 0);
    for (const [at, [owner, { start }]] of idle.entries()) {
      if (start <= this.#virtual || at < idle.length - IDLE_MAX) this.#flows.delete(owner);
    }
    this.#forgetAt = 2 * (this.#flows.size + IDLE_MAX);
  }

  #count(owner: OwnerKey, pieces: number): void {
    this.#length += pieces;
    const net = netOf(owner);
    if (net === "") return;
    const waiting = (this.#nets.get(net) ?? 0) + pieces;
    if (waiting === 0) this.#nets.delete(net);
    else this.#nets.set(net, waiting);
  }
}

/** The /48 of an owner that is the /64 of an IPv6 address, else "". */
export const netOf = (owner: OwnerKey): string =>
  owner.endsWith("/64") ? (v6Groups(owner.slice(7, -3))?.slice(0, 3).join(":") ?? "") : "";

type Order = <T>(one: Flow<T>, other: Flow<T>) => number;

const byStart: Order = (one, other) => other.start - one.start || other.since - one.since;

const bySize: Order = (one, other) =>
  (other.pieces[0]?.cost ?? 0) - (one.pieces[0]?.cost ?? 0) || one.since - other.since;

function placeIn<T>(flows: readonly Flow<T>[], flow: Flow<T>, order: Order): number {
  let [from, to] = [0, flows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = flows[middle];
    if (other !== undefined && order(other, flow) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function insert<T>(flows: Flow<T>[], flow: Flow<T>, order: Order): void {
  flows.splice(placeIn(flows, flow, order), 0, flow);
}

function oldest<T>(flows: ReadonlySet<T>): T | undefined {
  const [first] = flows;
  return first;
}

export function largestBy<T>(items: Iterable<T>, sizeOf: (item: T) => number): T | undefined {
  let largest: T | undefined;
  for (const item of items) {
    if (largest === undefined || sizeOf(item) > sizeOf(largest)) largest = item;
  }
  return largest;
}
