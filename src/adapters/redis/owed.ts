import type { OwnerKey } from "../../ports/admission/owner.ts";
import type { RedisConnection } from "./connection.ts";
import { quotaKey, sinceKey } from "./keys.ts";
import { FORGET } from "./scripts.ts";

/** Owners that are kept by name; beyond, the counters of all owners are read anew. */
const OWNERS_MAX = 100_000;

/** Scripts on the way at once. */
const BATCH = 200;

/**
 * What this process owes the shared counters: owners whose units it counted elsewhere, or of whom it does not
 * know what Redis counted, and holds whose end it could not tell. Paid before it counts there again.
 */
export class Owed {
  readonly #connection: RedisConnection;
  readonly #time: () => number | "";
  readonly #owners = new Map<OwnerKey, readonly string[]>();
  #isEveryone = false;

  constructor(connection: RedisConnection, time: () => number | "") {
    this.#connection = connection;
    this.#time = time;
    connection.beforeUp(() => this.#payAll());
    connection.afterUp(() => this.#payRest());
  }

  /** The owner's counter is to be read anew, without the hold if one is named. */
  add(owner: OwnerKey, holdId?: string): void {
    this.#note(owner, holdId === undefined ? [] : [holdId]);
    if (this.#connection.isUp) this.#payRest();
  }

  #note(owner: OwnerKey, holds: readonly string[]): void {
    const known = this.#owners.get(owner);
    if (known !== undefined) this.#owners.set(owner, [...known, ...holds]);
    else if (this.#owners.size < OWNERS_MAX) this.#owners.set(owner, holds);
    else this.#isEveryone = true;
  }

  /** Removed before it is sent: later additions are owed again. */
  #takeOut(count: number): readonly (readonly [OwnerKey, readonly string[]])[] {
    const taken = [...this.#owners].slice(0, count);
    for (const [owner] of taken) this.#owners.delete(owner);
    return taken;
  }

  async #payAll(): Promise<void> {
    if (this.#isEveryone) await this.#forgetEveryone();
    while (this.#owners.size > 0) {
      const batch = this.#takeOut(BATCH);
      const { prefix } = this.#connection;
      try {
        await Promise.all(
          batch.map(([owner, holds]) =>
            this.#connection.mend(FORGET, [quotaKey(prefix, owner)], [this.#time(), ...holds]),
          ),
        );
      } catch (fault) {
        for (const [owner, holds] of batch) this.#note(owner, holds);
        throw fault;
      }
    }
  }

  /** What came while the connection was on its way up, or is up. */
  #payRest(): void {
    for (const [owner, holds] of this.#takeOut(OWNERS_MAX)) {
      const keys = [quotaKey(this.#connection.prefix, owner)];
      void this.#connection.run(FORGET, keys, [this.#time(), ...holds]).then((reply) => {
        if (reply === undefined) this.#note(owner, holds);
      });
    }
  }

  /** Without the mark every missing counter settles first. */
  async #forgetEveryone(): Promise<void> {
    const connection = this.#connection;
    await connection.remove([sinceKey(connection.prefix)]);
    for await (const page of connection.keys("q:")) await connection.remove(page);
    this.#isEveryone = false;
    this.#owners.clear();
  }
}
