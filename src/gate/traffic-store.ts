import { type Kysely, sql } from "kysely";
import { LRUCache } from "lru-cache";
import { entriesUpTo } from "../base/entries.ts";
import { DAY_MS } from "../core/calendar.ts";
import type { Clock } from "../base/clock.ts";
import type { Database, TrafficKind, TrafficTableRow } from "../store/schema.ts";
import {
  countRows,
  findRow,
  lockAccount,
  lockName,
  pruneSlices,
  type Upsert,
  upsert,
} from "../store/rows.ts";
import { inSlice, inTransaction, type Tx } from "../store/transaction.ts";

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
  readonly #counted = new LRUCache<string, { readonly rows: number; readonly atMs: number }>(
    entriesUpTo(ACCOUNTS_MAX),
  );

  constructor(db: Kysely<Database>, clock: Pick<Clock, "nowMs">, rowsMax = ROWS_MAX) {
    this.#db = db;
    this.#clock = clock;
    this.#rowsMax = rowsMax;
    this.#save = saver(db);
  }

  ofSubjects(accountId: string, subjects: readonly string[]): Promise<readonly TrafficTableRow[]> {
    // Always five, because the database keeps a statement for each text.
    const [first = ""] = subjects;
    return this.#db
      .selectFrom("traffic")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("subject", "in", [...subjects, first, first, first, first].slice(0, 5))
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

  /** Adds the row if `isRight` says so of the subject's rows, which nobody else adds to meanwhile; whether it did. */
  async addIf(
    row: Sighting,
    isRight: (rows: readonly TrafficTableRow[]) => boolean,
  ): Promise<boolean> {
    const { account_id: accountId, subject } = row;
    return await inTransaction(
      this.#db,
      async (tx) => {
        await lockName(tx, `traffic ${accountId} ${subject}`);
        const ofSubject = tx.sql.selectFrom("traffic").selectAll();
        const own = ofSubject.where("account_id", "=", accountId).where("subject", "=", subject);
        const isAdded = isRight(await own.where("kind", "=", row.kind).execute());
        if (isAdded) await this.#addOf(tx, accountId, [row]);
        return isAdded;
      },
      "quickly",
    );
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

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const HOURS = COUNTED_MS.hour / HOUR_MS;

/** Messages of 60 minutes to mailboxes that the account never sent to, and the median hour of 14 days. */
export interface NewMailboxes {
  readonly messages: number;
  readonly usual: number;
}

/** Fewer are no wave, however quiet the account is otherwise. */
const WAVE_FROM = 30;
const WAVE_TIMES_USUAL = 6;

/** Whether a message to one more such mailbox is part of a wave. */
export const isWave = ({ messages, usual }: NewMailboxes): boolean =>
  messages >= WAVE_FROM && messages >= WAVE_TIMES_USUAL * usual;

const NONE: ReadonlyMap<string, number> = new Map();

/** What is counted of one mailbox, domain, mail host, or of all messages of an account. */
export class TrafficSubject {
  readonly #items = new Map<TrafficKind, Map<string, number>>();
  readonly #counts = new Map<string, number>();
  #messages = 0;
  #usual = { atHour: -1, median: 0 };
  firstMs: number | undefined;
  readonly readAtMs: number;

  constructor(rows: readonly TrafficTableRow[], readAtMs: number) {
    this.readAtMs = readAtMs;
    for (const row of rows.toSorted((a, b) => a.last_ms - b.last_ms)) {
      this.see(row.kind, row.item, row.last_ms, Number(row.count));
      if (row.kind === "domain") this.firstMs = Math.min(row.first_ms, this.firstMs ?? Infinity);
    }
  }

  current(kind: TrafficKind, nowMs: number): ReadonlyMap<string, number> {
    const items = this.#items.get(kind);
    if (items === undefined) return NONE;
    for (const [item, lastMs] of items) {
      if (lastMs > nowMs - COUNTED_MS[kind]) break;
      items.delete(item);
      if (kind === "minute") this.#messages -= this.count(kind, item);
      if (kind === "minute" || kind === "hour") this.#counts.delete(`${kind} ${item}`);
    }
    return items;
  }

  count(kind: TrafficKind, item: string): number {
    return this.#counts.get(`${kind} ${item}`) ?? 0;
  }

  newMailboxes(nowMs: number): NewMailboxes {
    this.current("minute", nowMs);
    const atHour = Math.floor(nowMs / HOUR_MS);
    if (this.#usual.atHour !== atHour)
      this.#usual = { atHour, median: this.#median(nowMs, atHour) };
    return { messages: this.#messages, usual: this.#usual.median };
  }

  /** Of the whole hours before this one; several processes count in each. */
  #median(nowMs: number, atHour: number): number {
    const sums = new Map<number, number>();
    for (const item of this.current("hour", nowMs).keys()) {
      const hour = Number.parseInt(item, 10);
      if (hour < atHour) sums.set(hour, (sums.get(hour) ?? 0) + this.count("hour", item));
    }
    const all = Array.from({ length: HOURS }, (_, back) => sums.get(atHour - 1 - back) ?? 0);
    return all.toSorted((a, b) => a - b)[HOURS / 2] ?? 0;
  }

  see(kind: TrafficKind, item: string, lastMs: number, count = 0): void {
    const more = count === 0 ? 0 : count - this.count(kind, item);
    if (more > 0) this.#counts.set(`${kind} ${item}`, count);
    if (more > 0 && kind === "minute") this.#messages += more;
    const items = this.#items.get(kind) ?? new Map<string, number>();
    items.delete(item);
    this.#items.set(kind, items.set(item, lastMs));
  }

  forget(kind: TrafficKind, item: string): void {
    this.#items.get(kind)?.delete(item);
  }

  get rows(): number {
    let rows = 1;
    for (const items of this.#items.values()) rows += items.size;
    return rows;
  }
}
