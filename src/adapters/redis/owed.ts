import type { OwnerKey } from "../../ports/admission/owner.ts";
import type { UnitJournal } from "../../ports/admission/unit-journal.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { RedisConnection } from "./connection.ts";
import { quotaKey, sinceKey } from "./keys.ts";
import { FORGET } from "./scripts.ts";

/** Owners that are kept by name; beyond, the counters of all owners are read anew. */
const OWNERS_MAX = 100_000;

/** Scripts on the way at once. */
const BATCH = 200;

/** A ledger that does not answer must not keep Redis away for longer. */
const WRITE_WITHIN_MS = 400;

type Connection = Pick<
  RedisConnection,
  "isUp" | "prefix" | "beforeUp" | "afterUp" | "mend" | "run" | "keys" | "remove"
>;

export interface OwedDeps {
  readonly connection: Connection;
  readonly journal: Pick<UnitJournal, "flush">;
  readonly clock: Pick<Clock, "after">;
  /** "": the server's own clock. */
  readonly time: () => number | "";
}

/**
 * What this process owes the shared counters: owners whose units it counted elsewhere, or of whom it does not
 * know what Redis counted, and holds whose end it could not tell. Paid before it counts there again.
 */
export class Owed {
  readonly #deps: OwedDeps;
  readonly #owners = new Map<OwnerKey, readonly string[]>();
  #isEveryone = false;

  constructor(deps: OwedDeps) {
    this.#deps = deps;
    const { connection } = deps;
    connection.beforeUp(() => this.#payAll());
    connection.afterUp(() => this.#payRest());
  }

  /** The owner's counter is to be read anew, without the hold if one is named. */
  add(owner: OwnerKey, holdId?: string): void {
    this.#note(owner, holdId === undefined ? [] : [holdId]);
    if (this.#deps.connection.isUp) this.#payRest();
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

  /**
   * A counter that is voided is soon rebuilt from the ledger, by any process: what this one has granted must be there
   * by then, also after it reached neither store for a while.
   */
  async #written(): Promise<void> {
    const { journal, clock } = this.#deps;
    const written = journal.flush().catch(() => undefined); // said in the log by the next timed write
    await inTime(written, { timeoutMs: WRITE_WITHIN_MS, late: undefined, clock });
  }

  async #payAll(): Promise<void> {
    const { connection, time } = this.#deps;
    if (this.#isEveryone || this.#owners.size > 0) await this.#written();
    if (this.#isEveryone) await this.#forgetEveryone();
    while (this.#owners.size > 0) {
      const batch = this.#takeOut(BATCH);
      try {
        await Promise.all(
          batch.map(([owner, holds]) =>
            connection.mend(FORGET, [quotaKey(connection.prefix, owner)], [time(), ...holds]),
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
    const { connection, time } = this.#deps;
    for (const [owner, holds] of this.#takeOut(OWNERS_MAX)) {
      const keys = [quotaKey(connection.prefix, owner)];
      void connection.run(FORGET, keys, [time(), ...holds]).then((reply) => {
        if (reply === undefined) this.#note(owner, holds);
      });
    }
  }

  /** Without the mark every missing counter settles first. */
  async #forgetEveryone(): Promise<void> {
    const { connection } = this.#deps;
    await connection.remove([sinceKey(connection.prefix)]);
    for await (const page of connection.keys("q:")) await connection.remove(page);
    this.#isEveryone = false;
    this.#owners.clear();
  }
}
