import { type Kysely, sql } from "kysely";
import { LRUCache } from "lru-cache";
import { DAY_MS } from "../core/calendar.ts";
import type { Clock } from "../base/clock.ts";
import type { Database, TrafficKind, TrafficTableRow } from "../store/schema.ts";
import {
  countRows,
  findRow,
  lockAccount,
  pruneSlices,
  type Upsert,
  upsert,
} from "../store/rows.ts";
import { inSlice, type Tx } from "../store/transaction.ts";

export const COUNTED_MS: Readonly<Record<TrafficKind, number>> = {
  spelling: 7 * DAY_MS,
  mailbox: DAY_MS,
  name: DAY_MS,
  domain: 400 * DAY_MS,
  new_domain: DAY_MS,
  message: DAY_MS,
  sent: 90 * DAY_MS,
  minute: 3_600_000,
  hour: 14 * DAY_MS,
};

/** `since`: it is not written when the account counts its traffic since another time. */
export type Sighting = Readonly<TrafficTableRow> & { readonly since: number };

const ROWS_MAX = 50_000;

/** Begins the subjects of what publishable keys asked. */
export const PAGE_PREFIX = "page.";

/** Deleted beyond what is too much, so that not every write deletes. */
const SLACK_PART = 0.01;

const ACCOUNTS_MAX = 10_000;

/** Other processes write too: their rows are counted this often. */
const COUNT_EVERY_MS = 60_000;

const SAMPLE: TrafficTableRow = {
  account_id: "",
  subject: "",
  kind: "domain",
  item: "",
  first_ms: 0,
  last_ms: 0,
  count: 0,
};

const keyOf = ({ subject, kind, item }: TrafficTableRow): string => `${subject} ${kind} ${item}`;

/** Deletes the oldest rows of an account that has too many, those of pages first and counts by hour last; how many it has then. */
async function keepWithin({ sql: db }: Tx, accountId: string, rowsMax: number): Promise<number> {
  const rows = await countRows(db.selectFrom("traffic").where("account_id", "=", accountId));
  const excess = rows - rowsMax;
  if (excess <= 0) return rows;
  const gone = excess + Math.floor(rowsMax * SLACK_PART);
  await sql`
    delete from traffic where (account_id, subject, kind, item) in (
      select account_id, subject, kind, item from traffic
      where account_id = ${accountId}
      order by case when subject like ${`${PAGE_PREFIX}%`} then 0 when kind = 'hour' then 2 else 1 end, last_ms
      limit ${gone}
    )`.execute(db);
  return rows - gone;
}

const saver = (db: Kysely<Database>): Upsert<TrafficTableRow> =>
  upsert(db, SAMPLE, (query, rows) =>
    query
      .insertInto("traffic")
      .values([...rows])
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "subject", "kind", "item"])
          .doUpdateSet((build) => ({
            last_ms: build.ref("excluded.last_ms"),
            count: build.ref("excluded.count"),
          }))
          .where((build) =>
            build.or([
              build("excluded.last_ms", ">", build.ref("traffic.last_ms")),
              build("excluded.count", ">", build.ref("traffic.count")),
            ]),
          ),
      ),
  );

/** Rules are checked by `test/contracts/policy/traffic.ts`. */
export class TrafficStore {
  readonly #db: Kysely<Database>;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #rowsMax: number;
  readonly #save: Upsert<TrafficTableRow>;
  readonly #counted = new LRUCache<string, { readonly rows: number; readonly atMs: number }>({
    max: ACCOUNTS_MAX,
  });

  constructor(db: Kysely<Database>, clock: Pick<Clock, "nowMs">, rowsMax = ROWS_MAX) {
    this.#db = db;
    this.#clock = clock;
    this.#rowsMax = rowsMax;
    this.#save = saver(db);
  }

  ofSubjects(accountId: string, subjects: readonly string[]): Promise<readonly TrafficTableRow[]> {
    // Always four, because the database keeps a statement for each text.
    const [first = ""] = subjects;
    return this.#db
      .selectFrom("traffic")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("subject", "in", [...subjects, first, first, first].slice(0, 4))
      .execute();
  }

  /** All or nothing. */
  async add(rows: readonly Sighting[]): Promise<void> {
    // In order, so that no two processes wait for each other's rows.
    const ids = [...new Set(rows.map((row) => row.account_id))].toSorted();
    await inSlice(this.#db, async (tx) => {
      for (const id of ids) {
        const own = rows.filter((row) => row.account_id === id);
        await this.#addOf(tx, id, own);
      }
    });
  }

  async prune(nowMs: number): Promise<void> {
    for (const [kind, countedMs] of Object.entries(COUNTED_MS)) {
      const slice = (limit: number) => sql`
        delete from traffic where (account_id, subject, kind, item) in (
          select account_id, subject, kind, item from traffic
          where kind = ${kind} and last_ms <= ${nowMs - countedMs} limit ${limit}
        )`;
      await pruneSlices(this.#db, slice);
    }
  }

  async #addOf(tx: Tx, accountId: string, rows: readonly Sighting[]): Promise<void> {
    await lockAccount(tx, accountId); // switching off waits, and then deletes these rows too
    const account = await findRow(tx.sql, "accounts", { id: accountId });
    const wanted = rows.filter(({ since }) => since === account?.traffic_since);
    await this.#save(
      tx,
      wanted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    );
    const nowMs = this.#clock.nowMs();
    const before = this.#counted.get(accountId) ?? { rows: 0, atMs: -Infinity };
    const most = before.rows + wanted.length;
    const isFine = most <= this.#rowsMax && nowMs - before.atMs < COUNT_EVERY_MS;
    const now = isFine
      ? { rows: most, atMs: before.atMs }
      : { rows: await keepWithin(tx, accountId, this.#rowsMax), atMs: nowMs };
    this.#counted.set(accountId, now);
  }
}
