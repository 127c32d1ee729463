import { FairQueue, largestBy } from "./fair-queue.ts";
import type { OwnerKey } from "./owner.ts";
import { type Resource, type ResourceName, RESOURCE_NAMES, RESOURCES } from "./resources.ts";
import { StacklessError } from "./refusals.ts";

export type WhyNoRoom = "owner" | "all";

/** Work that finds no room: it was not started. The HTTP floor answers 429 for `owner` and 503 for `all`. */
export class NoRoom extends StacklessError {
  readonly resource: ResourceName;
  readonly why: WhyNoRoom;

  constructor(resource: ResourceName, why: WhyNoRoom) {
    super(`no room: ${resource}, ${why}`);
    this.name = "NoRoom";
    this.resource = resource;
    this.why = why;
  }
}

export interface Reservation {
  grow(amount: number): void;
  /** From now on it is never reclaimed: its work can no longer be ended. */
  keep(): void;
  release(): void;
}

export interface TakeOptions {
  /** For an owner with less than an equal part: must end the work and release the reservation before it returns. */
  readonly reclaim?: () => void;
  /** Where the owner has no room the oldest work of its own that can be reclaimed ends first. */
  readonly displaces?: boolean | undefined;
}

export interface ShareFigures {
  readonly total: number;
  readonly used: number;
  readonly waiting: number;
  readonly owners: number;
  readonly largest: number;
  readonly refused: Readonly<Record<WhyNoRoom, number>>;
  readonly reclaimed: number;
}

export type OnThrottled = (reserved: {
  readonly resource: ResourceName;
  readonly owner: OwnerKey;
  readonly used: number;
  readonly waiting: number;
}) => void;

interface Waiter {
  readonly begin: () => void;
  readonly refuse: (why: Error) => void;
}

interface Reserving {
  readonly grow: (reserved: Reserved, amount: number) => void;
  readonly release: (reserved: Reserved) => void;
}

/** One object without closures: every request with a body takes one. */
class Reserved implements Reservation {
  readonly owner: OwnerKey;
  amount: number;
  readonly displaces: boolean | undefined;
  reclaim: (() => void) | undefined;
  readonly #by: Reserving;

  constructor(by: Reserving, owner: OwnerKey, amount: number, options: TakeOptions) {
    this.#by = by;
    this.owner = owner;
    this.amount = amount;
    this.displaces = options.displaces;
    this.reclaim = options.reclaim;
  }

  grow(more: number): void {
    this.#by.grow(this, more);
  }

  keep(): void {
    this.reclaim = undefined;
  }

  release(): void {
    this.#by.release(this);
  }
}

const NO_OPTIONS: TakeOptions = {};

/** A bounded resource that owners share: each owner has at most its share, and what waits does so in a bounded `FairQueue`. */
export class Share {
  readonly #name: ResourceName;
  readonly #row: Resource;
  readonly #throttled: OnThrottled;
  readonly #owners = new Map<OwnerKey, Set<Reserved>>();
  readonly #queue: FairQueue<Waiter>;
  #largest = 0;
  #reclaimed = 0;
  readonly #refused = { owner: 0, all: 0 };
  readonly #reserving: Reserving = {
    grow: (reserved, amount) => this.#grow(reserved, amount),
    release: (reserved) => this.#release(reserved),
  };

  constructor(name: ResourceName, row: Resource, throttled: OnThrottled = () => undefined) {
    this.#name = name;
    this.#row = row;
    this.#throttled = throttled;
    this.#queue = new FairQueue({ total: () => row.total, perOwner: () => row.perOwner });
  }

  take(owner: OwnerKey, amount = 1, options = NO_OPTIONS): Reservation {
    if (options.displaces === true) this.#displaceOwn(owner, amount);
    if (!this.#fitsOwner(owner, amount)) throw this.#refuse(owner, "owner");
    this.#makeRoom(owner, amount);
    return this.#grant(owner, amount, options);
  }

  /** Takes at once when nobody waits and there is room; else returns undefined, which counts as no refusal. */
  takeIfFree(owner: OwnerKey, amount = 1, cost = amount): Reservation | undefined {
    const fits = this.#queue.used + amount <= this.#row.total && this.#fitsOwner(owner, amount);
    if (this.#queue.length > 0 || !fits) return undefined;
    return this.#grant(owner, amount, {}, cost);
  }

  charge(owner: OwnerKey, cost: number): void {
    this.#queue.charge(owner, cost);
  }

  /** Rejects with `NoRoom`, or with the reason of `signal`. `cost` says whose turn is next, where it is not the amount. */
  async wait(
    owner: OwnerKey,
    amount = 1,
    { cost = amount, signal }: { readonly cost?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Reservation> {
    const wanted = Math.min(amount, this.#row.total, this.#row.perOwner);
    signal?.throwIfAborted();
    const atOnce = this.takeIfFree(owner, wanted, cost);
    if (atOnce !== undefined) return atOnce;
    this.#boundQueue(owner);
    return await new Promise<Reservation>((resolve, refuse) => {
      const begin = (): void => {
        signal?.removeEventListener("abort", leave);
        const reservation = this.#reservation(owner, wanted);
        setImmediate(() => resolve(reservation)); // what waited is not begun in one turn with what it waited for
      };
      const piece = this.#queue.push(owner, { begin, refuse }, { cost, amount: wanted });
      const leave = (): void => {
        this.#queue.remove(piece);
        refuse(signal?.reason as Error);
        this.#serve(); // a piece behind it may fit
      };
      signal?.addEventListener("abort", leave, { once: true });
      if (this.#queue.lengthOf(owner) * 2 > this.#row.queuePerOwner) this.#tell(owner);
      this.#serve(); // all that wait may be owners at their share
    });
  }

  async run<T>(owner: OwnerKey, work: () => Promise<T>, amount = 1): Promise<T> {
    const reservation = await this.wait(owner, amount);
    try {
      return await work();
    } finally {
      reservation.release();
    }
  }

  /** "read" begins a new `largest`, a "look" does not. */
  figures(how: "read" | "look" = "read"): ShareFigures {
    const largest = this.#largest;
    const owners = [...this.#owners.keys()];
    if (how === "read") {
      this.#largest = Math.max(0, ...owners.map((owner) => this.#queue.usedBy(owner)));
    }
    return {
      total: this.#row.total,
      used: this.#queue.used,
      waiting: this.#queue.length,
      owners: owners.length,
      largest,
      refused: { ...this.#refused },
      reclaimed: this.#reclaimed,
    };
  }

  #fitsOwner(owner: OwnerKey, amount: number): boolean {
    return this.#queue.usedBy(owner) + amount <= this.#row.perOwner;
  }

  #grant(owner: OwnerKey, amount: number, options?: TakeOptions, cost?: number): Reservation {
    this.#queue.hold(owner, amount, cost);
    return this.#reservation(owner, amount, options);
  }

  #reservation(owner: OwnerKey, amount: number, options = NO_OPTIONS): Reservation {
    const reserved = new Reserved(this.#reserving, owner, amount, options);
    const all = this.#owners.get(owner);
    if (all === undefined) this.#owners.set(owner, new Set([reserved]));
    else all.add(reserved);
    this.#noteLargest(owner);
    return reserved;
  }

  #noteLargest(owner: OwnerKey): void {
    this.#largest = Math.max(this.#largest, this.#queue.usedBy(owner));
  }

  #grow(reserved: Reserved, amount: number): void {
    const { owner, displaces } = reserved;
    if (this.#owners.get(owner)?.has(reserved) !== true) throw new NoRoom(this.#name, "owner"); // it was reclaimed
    if (displaces === true) this.#displaceOwn(owner, amount, reserved);
    if (!this.#fitsOwner(owner, amount)) throw this.#refuse(owner, "owner");
    this.#makeRoom(owner, amount);
    reserved.amount += amount;
    this.#queue.hold(owner, amount);
    this.#noteLargest(owner);
  }

  #release(reserved: Reserved): void {
    const { owner, amount } = reserved;
    const all = this.#owners.get(owner);
    if (all?.delete(reserved) !== true) return;
    if (all.size === 0) this.#owners.delete(owner);
    this.#queue.release(owner, amount);
    this.#serve();
  }

  /** A piece that is too large for what is free is waited for, so that it gets its turn. */
  #serve(): void {
    for (let next = this.#queue.next(); next !== undefined; next = this.#queue.next()) {
      next.item.begin();
    }
  }

  /** Refuses an owner with its share of the queue; when all is full, the last of the longest queue makes room. */
  #boundQueue(owner: OwnerKey): void {
    const { queue, queuePerOwner } = this.#row;
    const own = this.#queue.lengthOf(owner);
    const isFull = own >= queuePerOwner || this.#queue.lengthOfNet(owner) * NET_PART >= queue;
    if (isFull) throw this.#refuse(owner, "owner");
    if (this.#queue.length < queue) return;
    const last = this.#queue.last();
    if (last === undefined || this.#queue.lengthOf(last.owner) <= own + 1) {
      throw this.#refuse(owner, "all");
    }
    this.#queue.remove(last);
    last.item.refuse(this.#refuse(last.owner, "owner"));
  }

  #makeRoom(owner: OwnerKey, amount: number): void {
    while (this.#queue.used + amount > this.#row.total) {
      const owners = new Set([...this.#owners.keys(), owner]);
      const equalPart = this.#row.total / owners.size;
      const largest = largestBy(owners, (one) => this.#queue.usedBy(one)) ?? owner;
      const isModest = this.#queue.usedBy(owner) + amount <= equalPart;
      if (!isModest || !this.#reclaimFrom(largest, equalPart)) throw this.#refuse(owner, "all");
    }
  }

  #displaceOwn(owner: OwnerKey, amount: number, kept?: Reserved): void {
    for (const reserved of this.#owners.get(owner) ?? []) {
      if (this.#fitsOwner(owner, amount)) return;
      if (reserved !== kept && reserved.reclaim !== undefined) this.#reclaim(reserved);
    }
  }

  #reclaimFrom(largest: OwnerKey, equalPart: number): boolean {
    const all = this.#owners.get(largest) ?? [];
    const reserved = [...all].find(({ reclaim }) => reclaim !== undefined);
    if (reserved === undefined || this.#queue.usedBy(largest) <= equalPart) return false;
    this.#reclaim(reserved);
    return true;
  }

  #reclaim(reserved: Reserved): void {
    this.#reclaimed += 1;
    this.#tell(reserved.owner);
    reserved.reclaim?.();
    this.#release(reserved);
  }

  #refuse(owner: OwnerKey, why: WhyNoRoom): NoRoom {
    this.#refused[why] += 1;
    if (why === "owner") this.#tell(owner);
    return new NoRoom(this.#name, why);
  }

  #tell(owner: OwnerKey): void {
    const [used, waiting] = [this.#queue.usedBy(owner), this.#queue.lengthOf(owner)];
    this.#throttled({ resource: this.#name, owner, used, waiting });
  }
}

const NET_PART = 4;

export interface Shares {
  of(name: ResourceName): Share;
  registry(server: string): Share;
  /** Those of all registries are one. `how`: see `Share.figures`. */
  figures(how?: "read" | "look"): AllFigures;
  /** From now on the figures of another thread, which uses other resources, are part of these. */
  include(others: () => AllFigures | undefined): void;
}

export type AllFigures = ReadonlyMap<ResourceName, ShareFigures>;

export type Overrides = Partial<
  Record<ResourceName, Partial<Pick<Resource, "total" | "perOwner" | "queuePerOwner">>>
>;

export const ONE_OWNER = {
  registry: {
    perOwner: RESOURCES.registry.total,
    queuePerOwner: RESOURCES.registry.queue,
  },
} as const satisfies Overrides;

const SERVERS_MAX = 2_000;

export function createShares(throttled?: OnThrottled, over: Overrides = {}): Shares {
  const shares = new Map(
    RESOURCE_NAMES.map((name) => {
      const row: Resource = { ...RESOURCES[name], ...over[name] };
      return [name, new Share(name, row, throttled)];
    }),
  );
  const servers = new Map<string, Share>();
  const parts: (() => AllFigures | undefined)[] = [];
  const of = (name: ResourceName): Share => {
    const share = shares.get(name);
    if (share === undefined) throw new Error(`no such resource: ${name}`);
    return share;
  };
  return {
    of,
    registry(server) {
      const known = servers.get(server);
      if (known !== undefined) return known;
      const made = new Share("registry", { ...RESOURCES.registry, ...over.registry }, throttled);
      // Beyond the bound a share is not kept: callers could invent host names.
      if (servers.size < SERVERS_MAX) servers.set(server, made);
      return made;
    },
    figures(how) {
      const all = new Map([...shares].map(([name, share]) => [name, share.figures(how)]));
      for (const share of servers.values()) {
        const sum = all.get("registry");
        if (sum !== undefined) all.set("registry", added(sum, share.figures(how)));
      }
      for (const [name, figures] of parts.flatMap((others) => [...(others() ?? [])])) {
        const own = all.get(name);
        if (own !== undefined) all.set(name, added(own, figures));
      }
      return all;
    },
    include: (others) => void parts.push(others),
  };
}

const added = (a: ShareFigures, b: ShareFigures): ShareFigures => ({
  total: a.total,
  used: Math.max(a.used, b.used),
  waiting: a.waiting + b.waiting,
  owners: Math.max(a.owners, b.owners),
  largest: Math.max(a.largest, b.largest),
  refused: { owner: a.refused.owner + b.refused.owner, all: a.refused.all + b.refused.all },
  reclaimed: a.reclaimed + b.reclaimed,
});
