import type { OwnerKey } from "../owner.ts";
import { type Hold, NoRoom, type TakeOptions, type WhyNoRoom } from "./hold.ts";
import type { Resource, ResourceName } from "./resources.ts";
import type { HeldBack, ShareFigures } from "./share-figures.ts";

interface Waiter {
  readonly amount: number;
  /** What its owner will have been served after it; the smallest is next (fair queueing by finish). */
  readonly finish: number;
  readonly begin: () => void;
  readonly refuse: (why: NoRoom) => void;
}

interface Held {
  amount: number;
  reclaim: (() => void) | undefined;
}

interface Tenant {
  readonly owner: OwnerKey;
  used: number;
  /** Where its last piece ends. */
  finish: number;
  readonly holds: Set<Held>;
  readonly waiting: Waiter[];
}

/** A piece that waits is passed by that many times its size of others' pieces at most. */
const PASSING = 4;

/**
 * A bounded resource that owners share: each owner has at most its share, and waiting owners are served one piece an
 * owner in turn, and both queues are bounded.
 */
export class Share {
  readonly #name: ResourceName;
  readonly #row: Resource;
  readonly #heldBack: HeldBack;
  readonly #tenants = new Map<OwnerKey, Tenant>();
  /** Owners with work that waits. */
  readonly #turns = new Set<Tenant>();
  /** A little behind the start of the piece that was served last: it grows with each, so that new owners cannot pass for ever. */
  #served = 0;
  #used = 0;
  #waiting = 0;
  #largest = 0;
  #reclaimed = 0;
  readonly #refused = { owner: 0, all: 0 };

  constructor(name: ResourceName, row: Resource, heldBack: HeldBack = () => undefined) {
    this.#name = name;
    this.#row = row;
    this.#heldBack = heldBack;
  }

  /** Takes at once, without waiting; throws `NoRoom`. */
  take(owner: OwnerKey, amount = 1, options: TakeOptions = {}): Hold {
    const tenant = this.#tenantOf(owner);
    if (!this.#fitsOwner(tenant, amount)) throw this.#refuse(tenant, "owner");
    this.#makeRoom(tenant, amount);
    return this.#grant(tenant, amount, options.reclaim);
  }

  /** Takes at once when nobody waits and there is room; else returns undefined, which counts as no refusal. */
  takeIfFree(owner: OwnerKey, amount = 1): Hold | undefined {
    if (this.#turns.size > 0) return undefined;
    const tenant = this.#tenantOf(owner);
    if (!this.#fits(tenant, amount)) return undefined;
    this.#served = this.#finishOf(tenant, amount) - amount + amount / PASSING;
    return this.#grant(tenant, amount);
  }

  /**
   * Takes in turn; more than the share counts as the whole share. Rejects with `NoRoom` when the queue of the owner
   * is full, or that of everybody while no owner has more waiting than this one.
   */
  async wait(owner: OwnerKey, amount = 1): Promise<Hold> {
    const wanted = Math.min(amount, this.#row.total, this.#row.perOwner);
    const atOnce = this.takeIfFree(owner, wanted);
    if (atOnce !== undefined) return atOnce;
    const tenant = this.#tenantOf(owner);
    if (tenant.waiting.length >= this.#row.queuePerOwner) throw this.#refuse(tenant, "owner");
    if (this.#waiting >= this.#row.queue) this.#displaceFor(tenant);
    return await new Promise<Hold>((resolve, refuse) => {
      const begin = (): void => {
        const hold = this.#grant(tenant, wanted);
        setImmediate(() => resolve(hold)); // what waited is not begun in one turn with what it waited for
      };
      const finish = this.#finishOf(tenant, wanted);
      tenant.waiting.push({ amount: wanted, finish, begin, refuse });
      this.#waiting += 1;
      this.#turns.add(tenant);
      if (tenant.waiting.length * 2 > this.#row.queuePerOwner) this.#tell(tenant);
      this.#serve(); // all that wait may be owners at their share
    });
  }

  /** Runs `work` with a hold of its own, in turn. */
  async run<T>(owner: OwnerKey, work: () => Promise<T>, amount = 1): Promise<T> {
    const hold = await this.wait(owner, amount);
    try {
      return await work();
    } finally {
      hold.release();
    }
  }

  /** Whether the owner could take that much within its share. */
  hasRoom(owner: OwnerKey, amount: number): boolean {
    const tenant = this.#tenants.get(owner);
    return tenant === undefined || this.#fitsOwner(tenant, amount);
  }

  /** "read" begins a new `largest`, a "look" does not. */
  figures(how: "read" | "look" = "read"): ShareFigures {
    const largest = this.#largest;
    if (how === "read") {
      this.#largest = Math.max(0, ...[...this.#tenants.values()].map(({ used }) => used));
    }
    return {
      total: this.#row.total,
      used: this.#used,
      waiting: this.#waiting,
      owners: this.#tenants.size,
      largest,
      refused: { ...this.#refused },
      reclaimed: this.#reclaimed,
    };
  }

  #tenantOf(owner: OwnerKey): Tenant {
    const known = this.#tenants.get(owner);
    if (known !== undefined) return known;
    const made: Tenant = { owner, used: 0, finish: 0, holds: new Set(), waiting: [] };
    this.#tenants.set(owner, made);
    return made;
  }

  #forget(tenant: Tenant): void {
    if (tenant.holds.size === 0 && tenant.waiting.length === 0) this.#tenants.delete(tenant.owner);
  }

  #fitsOwner(tenant: Tenant, amount: number): boolean {
    const { total, perOwner, perFree, reservePart = 1, atOncePerOwner = Infinity } = this.#row;
    if (tenant.used + amount > perOwner || tenant.holds.size >= atOncePerOwner) return false;
    const free = total - this.#used - amount;
    return perFree === undefined || free >= total * reservePart || tenant.used <= perFree * free;
  }

  #fits(tenant: Tenant, amount: number): boolean {
    return this.#fitsOwner(tenant, amount) && this.#used + amount <= this.#row.total;
  }

  #grant(tenant: Tenant, amount: number, reclaim?: () => void): Hold {
    const held: Held = { amount: 0, reclaim };
    tenant.holds.add(held);
    this.#count(tenant, held, amount);
    return {
      grow: (more) => this.#grow(tenant, held, more),
      shrink: (less) => this.#shrink(tenant, held, less),
      keep: () => void (held.reclaim = undefined),
      release: () => this.#release(tenant, held),
    };
  }

  #count(tenant: Tenant, held: Held, amount: number): void {
    held.amount += amount;
    tenant.used += amount;
    this.#used += amount;
    if (tenant.used > this.#largest) this.#largest = tenant.used;
  }

  #grow(tenant: Tenant, held: Held, amount: number): void {
    if (!tenant.holds.has(held)) throw new NoRoom(this.#name, "owner"); // it was reclaimed
    if (tenant.used + amount > this.#row.perOwner) throw this.#refuse(tenant, "owner");
    this.#makeRoom(tenant, amount);
    this.#count(tenant, held, amount);
  }

  #shrink(tenant: Tenant, held: Held, amount: number): void {
    if (!tenant.holds.has(held)) return;
    held.amount -= amount;
    tenant.used -= amount;
    this.#used -= amount;
    if (this.#turns.size > 0) this.#serve();
  }

  #release(tenant: Tenant, held: Held): void {
    if (!tenant.holds.delete(held)) return;
    tenant.used -= held.amount;
    this.#used -= held.amount;
    this.#forget(tenant);
    this.#serve();
  }

  /** An owner with nothing under way starts where the others are: waiting saves nothing up. */
  #finishOf(tenant: Tenant, amount: number): number {
    tenant.finish = Math.max(this.#served, tenant.finish) + amount;
    return tenant.finish;
  }

  /** Whose owner will have been served least is next, so that a small piece goes before large ones. A piece too large for what is free is waited for, so that it gets its turn. */
  #serve(): void {
    for (;;) {
      const tenant = this.#next();
      const [next] = tenant?.waiting ?? [];
      if (tenant === undefined || next === undefined) return;
      if (this.#used + next.amount > this.#row.total) return;
      tenant.waiting.shift();
      if (tenant.waiting.length === 0) this.#turns.delete(tenant);
      this.#waiting -= 1;
      this.#served = Math.max(this.#served, next.finish - next.amount + next.amount / PASSING);
      next.begin();
    }
  }

  /** Of the owners below their share. */
  #next(): Tenant | undefined {
    let next: Tenant | undefined;
    let least = Infinity;
    for (const tenant of this.#turns) {
      const [{ amount, finish } = NOTHING] = tenant.waiting;
      if (finish >= least || !this.#fitsOwner(tenant, amount)) continue;
      next = tenant;
      least = finish;
    }
    return next;
  }

  /** Refuses the last in the longest queue of one owner, or this owner when none is longer. */
  #displaceFor(tenant: Tenant): void {
    const longest = largestBy(this.#turns, ({ waiting }) => waiting.length);
    if (longest === undefined || longest.waiting.length <= tenant.waiting.length + 1) {
      throw this.#refuse(tenant, "all");
    }
    const last = longest.waiting.pop();
    this.#waiting -= 1;
    last?.refuse(this.#refuse(longest, "owner"));
  }

  /** Throws `NoRoom` when no owner has more than an equal part that can be reclaimed. */
  #makeRoom(tenant: Tenant, amount: number): void {
    while (this.#used + amount > this.#row.total) {
      const equalPart = this.#row.total / this.#tenants.size;
      const largest = largestBy(this.#tenants.values(), ({ used }) => used);
      const isModest = tenant.used + amount <= equalPart;
      if (!isModest || largest === undefined || !this.#reclaimFrom(largest, equalPart)) {
        throw this.#refuse(tenant, "all");
      }
    }
  }

  #reclaimFrom(largest: Tenant, equalPart: number): boolean {
    const held = [...largest.holds].find(({ reclaim }) => reclaim !== undefined);
    if (held === undefined || largest.used <= equalPart) return false;
    this.#reclaimed += 1;
    this.#tell(largest);
    held.reclaim?.();
    this.#release(largest, held);
    return true;
  }

  #refuse(tenant: Tenant, why: WhyNoRoom): NoRoom {
    this.#refused[why] += 1;
    if (why === "owner") this.#tell(tenant);
    this.#forget(tenant);
    return new NoRoom(this.#name, why);
  }

  #tell({ owner, used, waiting }: Tenant): void {
    this.#heldBack({ resource: this.#name, owner, used, waiting: waiting.length });
  }
}

const NOTHING = { amount: 0, finish: Infinity };

function largestBy<T>(items: Iterable<T>, sizeOf: (item: T) => number): T | undefined {
  let largest: T | undefined;
  for (const item of items) {
    if (largest === undefined || sizeOf(item) > sizeOf(largest)) largest = item;
  }
  return largest;
}
