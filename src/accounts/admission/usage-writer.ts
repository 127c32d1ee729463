import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import type { UsageDelta } from "./usage.ts";
import { lockName } from "../../store/row-locks.ts";
import type { Database } from "../../store/schema.ts";
import { hasRivals, inTransaction, quickly, type Tx } from "../../store/transaction.ts";

type Write = (tx: Tx, deltas: readonly UsageDelta[]) => Promise<void>;

/**
 * Adds batches of counts to the ledger so that each counts once although the answer to a commit may be
 * lost on its way from PostgreSQL. Every batch has a number that is written with it; a writer that added a batch
 * that was rejected adds the same counts again, so should the number show that it was written all the same,
 * it is taken off again in the transaction of the next batch.
 */
export class UsageWriter {
  readonly #db: Kysely<Database>;
  readonly #write: Write;
  readonly #name = randomUUID();
  #number = 0;
  /** By number, what the ledger holds too much of should that be the last batch it has. At most two. */
  #doubtful = new Map<number, readonly UsageDelta[]>();
  #last: Promise<void> = Promise.resolve();

  constructor(db: Kysely<Database>, write: Write) {
    this.#db = db;
    this.#write = write;
  }

  /** One batch after the other, so that the last number says what became of all before it. */
  add(deltas: readonly UsageDelta[]): Promise<void> {
    const before = this.#last;
    const adding = before.then(() => this.#add(deltas));
    this.#last = adding.catch(() => undefined); // whoever added it hears of the failure
    return adding;
  }

  async #add(deltas: readonly UsageDelta[]): Promise<void> {
    if (!hasRivals(this.#db)) {
      // Four times a second: to wait for the disk each time would hold up every request. A kill loses nothing of it.
      await inTransaction(this.#db, (tx) => this.#write(tx, deltas), quickly);
      return;
    }
    this.#number += 1;
    const number = this.#number;
    await inTransaction(this.#db, async (tx) => {
      // A commit that is still on its way has this lock: here is waited until it came or never will.
      await lockName(tx, `usage_writers ${this.#name}`);
      const surplus = await this.#surplus(tx);
      await this.#note(tx, number, newestDay(deltas));
      await this.#write(tx, [...deltas, ...surplus.map(negated)]);
      tx.afterCommit(() => this.#doubtful.clear());
      tx.afterUnknown(() => void this.#doubtful.set(number, deltas));
    });
  }

  /** What was written although it was rejected. Batches that were not written are in doubt no more. */
  async #surplus({ sql }: Tx): Promise<readonly UsageDelta[]> {
    if (this.#doubtful.size === 0) return [];
    const row = await sql
      .selectFrom("usage_writers")
      .select("batch")
      .where("writer", "=", this.#name)
      .executeTakeFirst();
    const written = row?.batch ?? 0;
    const surplus = this.#doubtful.get(written);
    this.#doubtful = new Map(surplus === undefined ? [] : [[written, surplus]]);
    return surplus ?? [];
  }

  async #note({ sql }: Tx, batch: number, day: number): Promise<void> {
    await sql
      .insertInto("usage_writers")
      .values({ writer: this.#name, batch, day })
      .onConflict((conflict) => conflict.column("writer").doUpdateSet({ batch, day }))
      .execute();
  }
}

const newestDay = (deltas: readonly UsageDelta[]): number =>
  deltas.reduce((newest, { day }) => Math.max(newest, day), 0);

const negated = ({ owner, day, units, requests, refusals, latency }: UsageDelta): UsageDelta => ({
  owner,
  day,
  units: -(units ?? 0),
  requests: -(requests ?? 0),
  refusals: -(refusals ?? 0),
  latency: (latency ?? []).map((count) => -count),
});
