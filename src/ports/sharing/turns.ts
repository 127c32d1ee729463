import type { OwnerKey } from "../admission/owner.ts";

interface Waiting {
  readonly amount: number;
  readonly begin: () => void;
}

/**
 * Bounds what is begun in one turn of the event loop, so that a burst of one owner is no long turn for all others. What
 * finds no room waits for a later turn; owners go one after the other.
 */
export class Turns {
  readonly #perTurn: number;
  /** Owners with work that waits; the first is next. */
  readonly #owners = new Map<OwnerKey, Waiting[]>();
  #begun = 0;
  #waiting = 0;
  #isCounting = false;

  /** `perTurn`: what may be begun in one turn, in any unit; the last piece may exceed it. */
  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  get waiting(): number {
    return this.#waiting;
  }

  waitingOf(owner: OwnerKey): number {
    return this.#owners.get(owner)?.length ?? 0;
  }

  /** True: there is room now. False: `begin` is called in a later turn. The owner is asked for only then. */
  take(amount: number, ownerOf: () => OwnerKey, begin: () => void): boolean {
    if (!this.#isCounting) {
      this.#isCounting = true;
      setImmediate(() => this.#turn());
    }
    if (this.#waiting === 0 && this.#begun < this.#perTurn) {
      this.#begun += amount;
      return true;
    }
    const owner = ownerOf();
    const queue = this.#owners.get(owner);
    if (queue === undefined) this.#owners.set(owner, [{ amount, begin }]);
    else queue.push({ amount, begin });
    this.#waiting += 1;
    return false;
  }

  #turn(): void {
    this.#begun = 0;
    this.#isCounting = this.#waiting > 0;
    if (!this.#isCounting) return;
    setImmediate(() => this.#turn());
    while (this.#begun < this.#perTurn) {
      const next = this.#next();
      if (next === undefined) return;
      this.#begun += next.amount;
      next.begin();
    }
  }

  #next(): Waiting | undefined {
    for (const [owner, queue] of this.#owners) {
      const next = queue.shift();
      this.#owners.delete(owner);
      if (queue.length > 0) this.#owners.set(owner, queue);
      this.#waiting -= 1;
      return next;
    }
    return undefined;
  }
}
