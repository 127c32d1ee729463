import type { OwnerKey } from "../owner.ts";

interface Waiting {
  readonly amount: number;
  readonly begin: () => void;
}

interface Queue {
  readonly waiting: Waiting[];
  /** What the owner may begin of it now. */
  credit: number;
}

/** An owner gets this part of a turn each time it is looked at. */
const CREDIT_PART = 1 / 16;

/**
 * Bounds what is begun in one turn of the event loop, so that a burst of one owner is no long turn for all others. What
 * finds no room waits for a later turn. Owners go one after the other, each with credit for a small piece, so that a large
 * one waits until its owner was passed by often enough (deficit round robin).
 */
export class Turns {
  readonly #perTurn: number;
  readonly #mustWait: () => boolean;
  /** Owners with work that waits; the first is next. */
  readonly #owners = new Map<OwnerKey, Queue>();
  #begun = 0;
  #waiting = 0;
  #isCounting = false;

  /**
   * `perTurn`: what may be begun in one turn, in any unit; the last piece may exceed it. While `mustWait` says so, nothing
   * is begun.
   */
  constructor(perTurn: number, mustWait: () => boolean = () => false) {
    this.#perTurn = perTurn;
    this.#mustWait = mustWait;
  }

  get waiting(): number {
    return this.#waiting;
  }

  waitingOf(owner: OwnerKey): number {
    return this.#owners.get(owner)?.waiting.length ?? 0;
  }

  /** True: there is room now. False: `begin` is called in a later turn. The owner is asked for only then. */
  take(amount: number, ownerOf: () => OwnerKey, begin: () => void): boolean {
    if (this.takeIfFree(amount)) return true;
    this.wait(amount, ownerOf(), begin);
    return false;
  }

  /** Whether there is room now. */
  takeIfFree(amount: number): boolean {
    if (!this.#isCounting) {
      this.#isCounting = true;
      setImmediate(this.#turn);
    }
    if (this.#waiting > 0 || this.#begun >= this.#perTurn || this.#mustWait()) return false;
    this.#begun += amount;
    return true;
  }

  /** `begin` is called in a later turn. */
  wait(amount: number, owner: OwnerKey, begin: () => void): void {
    const queue = this.#owners.get(owner);
    if (queue === undefined) this.#owners.set(owner, { waiting: [{ amount, begin }], credit: 0 });
    else queue.waiting.push({ amount, begin });
    this.#waiting += 1;
  }

  readonly #turn = (): void => {
    this.#begun = 0;
    this.#isCounting = this.#waiting > 0;
    if (!this.#isCounting) return;
    setImmediate(this.#turn);
    if (this.#mustWait()) return;
    while (this.#begun < this.#perTurn) {
      const next = this.#next();
      if (next === undefined) return;
      this.#begun += next.amount;
      next.begin();
    }
  };

  /** Ends, since each look at an owner brings its next piece nearer. */
  #next(): Waiting | undefined {
    while (this.#waiting > 0) {
      for (const [owner, queue] of this.#owners) {
        const next = this.#afford(queue);
        this.#putLast(owner, queue);
        if (next !== undefined) return next;
      }
    }
    return undefined;
  }

  #putLast(owner: OwnerKey, queue: Queue): void {
    const isEmpty = queue.waiting.length === 0;
    if (!isEmpty && this.#owners.size === 1) return;
    this.#owners.delete(owner);
    if (!isEmpty) this.#owners.set(owner, queue);
  }

  #afford(queue: Queue): Waiting | undefined {
    const credit = queue.credit + this.#perTurn * CREDIT_PART;
    const amount = Math.min(queue.waiting[0]?.amount ?? 0, this.#perTurn);
    if (credit < amount) {
      queue.credit = credit;
      return undefined;
    }
    queue.credit = 0;
    this.#waiting -= 1;
    return queue.waiting.shift();
  }
}
