import type { OwnerKey } from "./owner.ts";

export interface Piece<T> {
  readonly owner: OwnerKey;
  readonly item: T;
  /** What its owner pays for its turn. */
  readonly cost: number;
  /** Places that it takes while it is in service. */
  readonly amount: number;
  /** Among those of its owner the lowest goes first. */
  readonly rank: number;
}

export interface QueueTerms {
  readonly total: () => number;
  readonly perOwner: (owner: OwnerKey) => number;
}

interface Flow<T> {
  readonly pieces: Piece<T>[];
  /** The start tag of its next piece, which is the finish tag of its last one. */
  start: number;
  used: number;
}

/** One turn in so many goes to the owner that waits longest, or newcomers could pass it for ever. */
const LONGEST_EVERY = 64;

/** Owners without a piece that are remembered, because they are ahead of the others. */
const IDLE_MAX = 64;

/**
 * Start-time fair queueing (Goyal, Vin, Cheng 1996) of the pieces of owners, who share places. The next piece is the one with the
 * least start tag, which is the larger of the virtual time and of its owner's last finish tag; virtual time is the start tag
 * of the piece begun last. Of newcomers, whose tags are equal, the one with the smallest piece goes first or, every other time, the oldest.
 */
export class FairQueue<T> {
  readonly #terms: QueueTerms;
  readonly #flows = new Map<OwnerKey, Flow<T>>();
  /** Flows with pieces, longest since the last turn first. */
  readonly #waiting = new Map<OwnerKey, Flow<T>>();
  readonly #nets = new Map<string, number>();
  #virtual = 0;
  #forgetAt = 2 * IDLE_MAX;
  #turns = 0;
  #length = 0;
  #used = 0;

  constructor(terms: QueueTerms = { total: () => Infinity, perOwner: () => Infinity }) {
    this.#terms = terms;
  }

  get length(): number {
    return this.#length;
  }

  /** Places in service. */
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
    else flow.pieces.splice(behind + 1, 0, piece);
    if (!this.#waiting.has(owner)) this.#waiting.set(owner, flow);
    this.#count(owner, 1);
    return piece;
  }

  /** Takes out the next piece and counts its places, unless they are not free: then nothing else is next. */
  next(): Piece<T> | undefined {
    const flow = this.#nextFlow();
    const piece = flow?.pieces[0];
    if (flow === undefined || piece === undefined) return undefined;
    if (this.#used + piece.amount > this.#terms.total()) return undefined;
    this.#turns += 1;
    this.remove(piece);
    this.hold(piece.owner, piece.amount, piece.cost);
    return piece;
  }

  /** Counts places without a turn; what it costs, if anything, is paid as for one. */
  hold(owner: OwnerKey, amount: number, cost = 0): void {
    const flow = this.#flowOf(owner);
    flow.used += amount;
    this.#used += amount;
    if (cost === 0) return;
    this.#virtual = Math.max(this.#virtual, flow.start);
    flow.start = this.#virtual + cost;
  }

  release(owner: OwnerKey, amount = 1): void {
    this.#flowOf(owner).used -= amount;
    this.#used -= amount;
  }

  /** For a piece that cost more than was said; nobody but its owner waits longer. */
  charge(owner: OwnerKey, cost: number): void {
    this.#flowOf(owner).start += cost;
  }

  /** Takes out a piece that waits; false when it does not. */
  remove(piece: Piece<T>): boolean {
    const flow = this.#waiting.get(piece.owner);
    const at = flow?.pieces.indexOf(piece) ?? -1;
    if (flow === undefined || at < 0) return false;
    if (at === 0) {
      flow.pieces.shift();
      this.#waiting.delete(piece.owner);
      if (flow.pieces.length > 0) this.#waiting.set(piece.owner, flow);
    } else flow.pieces.splice(at, 1);
    this.#count(piece.owner, -1);
    return true;
  }

  /** The last piece of the owner with the most. */
  last(): Piece<T> | undefined {
    return largestBy(this.#waiting.values(), ({ pieces }) => pieces.length)?.pieces.at(-1);
  }

  #nextFlow(): Flow<T> | undefined {
    const isLongest = this.#turns % LONGEST_EVERY === LONGEST_EVERY - 1;
    const isNewest = this.#turns % 2 === 1;
    let next: Flow<T> | undefined;
    let least: Piece<T> | undefined;
    let start = Infinity;
    for (const [owner, flow] of this.#waiting) {
      const [piece] = flow.pieces;
      if (piece === undefined || flow.used + piece.amount > this.#terms.perOwner(owner)) continue;
      const from = Math.max(this.#virtual, flow.start);
      const isNewer = isNewest && from === this.#virtual && piece.cost <= (least?.cost ?? 0);
      if (from > start || (from === start && !isNewer)) continue;
      [next, least, start] = [flow, piece, from];
      if (isLongest) break;
    }
    return next;
  }

  #flowOf(owner: OwnerKey): Flow<T> {
    const known = this.#flows.get(owner);
    if (known !== undefined) return known;
    if (this.#flows.size >= this.#forgetAt) this.#forgetIdle();
    const made: Flow<T> = { pieces: [], start: this.#virtual, used: 0 };
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
const netOf = (owner: OwnerKey): string =>
  owner.endsWith("::/64") ? owner.slice(0, owner.lastIndexOf(":", owner.length - 6)) : "";

export function largestBy<T>(items: Iterable<T>, sizeOf: (item: T) => number): T | undefined {
  let largest: T | undefined;
  for (const item of items) {
    if (largest === undefined || sizeOf(item) > sizeOf(largest)) largest = item;
  }
  return largest;
}
