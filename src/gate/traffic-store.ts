import { sql, type SqlBool } from "kysely";
import { LRUCache } from "lru-cache";
import { entriesUpTo } from "../base/entries.ts";
import type { Clock } from "../base/clock.ts";
import type { Db, TrafficKind, TrafficTableRow } from "../store/schema.ts";
import { countRows, deleteRows, findRow } from "../store/rows.ts";
import { lockAccount, lockName } from "../store/locks.ts";
import { pruneSlices } from "../store/prune.ts";
import { type Upsert, upsert } from "../store/upserts.ts";
import { HOUR_MS, KINDS, WINDOWS } from "./traffic-kinds.ts";
import { inSlice, inTransaction, type Tx } from "../store/transaction.ts";

/** `since`: it is not written when the account counts its traffic since another time. */
export type Sighting = Readonly<TrafficTableRow> & { readonly since: number };

/** Rows of an account: whoever sends ever new keys must not push out the rest. */
const ROWS_MAX = { source: 200_000, other: 50_000 };
type RowsMax = typeof ROWS_MAX;

/** The count of a row that is to be deleted: a newer item took its place. */
export const GONE = -1;

/** Begins the subjects of what publishable keys asked. */
export const PAGE_PREFIX = "page.";

/** Deleted beyond what is too much, so that not every write deletes. */
const SLACK_PART = 0.01;

const ACCOUNTS_MAX = 10_000;

/** A mailbox, its domain and mail host, and messages; with keys and shapes. */
const FEW_SUBJECTS = 5;
const SUBJECTS_MAX = 12;

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

/**
 * Deletes the oldest rows of an account that has too many, those of pages first and tallies last. Keys with one mailbox say
 * least: they go before others once ten minutes have passed.
 */
async function keepWithin(
  { sql: db }: Tx,
  accountId: string,
  { rowsMax, nowMs }: { readonly rowsMax: RowsMax; readonly nowMs: number },
): Promise<RowsMax> {
  const left = { source: 0, other: 0 };
  for (const of of ["source", "other"] as const) {
    const isOf = of === "source" ? sql<SqlBool>`kind = 'source'` : sql<SqlBool>`kind <> 'source'`;
    const own = db.selectFrom("traffic").where("account_id", "=", accountId).where(isOf);
    const rows = await countRows(own);
    const excess = rows - rowsMax[of];
    left[of] = Math.min(rows, rowsMax[of]);
    if (excess <= 0) continue;
    await sql`
      delete from traffic where (account_id, subject, kind, item) in (
        select account_id, subject, kind, item from (
          select account_id, subject, kind, item, last_ms, count(*) over (partition by subject) as mailboxes
          from traffic where account_id = ${accountId} and ${isOf}
        ) as own
        order by case
          when subject like ${`${PAGE_PREFIX}%`} then 0
          when kind = 'source' and mailboxes = 1 and last_ms < ${nowMs - WINDOWS["10m"]} then 1
          when kind in ('hour', 'shape_day') then 3
          else 2 end, last_ms
        limit ${excess + Math.floor(rowsMax[of] * SLACK_PART)}
      )`.execute(db);
  }
  return left;
}

async function removeGone({ sql: db }: Tx, rows: readonly Sighting[]): Promise<void> {
  for (const { account_id, subject, kind, item } of rows)
    await deleteRows(db, "traffic", { account_id, subject, kind, item });
}

export class TrafficStore {
  readonly #db: Db;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #rowsMax: RowsMax;
  readonly #save: Upsert<TrafficTableRow>;
  readonly #counted = new LRUCache<string, RowsMax & { readonly atMs: number }>(
    entriesUpTo(ACCOUNTS_MAX),
  );

  constructor(db: Db, clock: Pick<Clock, "nowMs">, rowsMax: RowsMax = ROWS_MAX) {
    this.#db = db;
    this.#clock = clock;
    this.#rowsMax = rowsMax;
    this.#save = upsert(db, SAMPLE, (query, rows) =>
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
  }

  ofSubjects(accountId: string, subjects: readonly string[]): Promise<readonly TrafficTableRow[]> {
    // Of two lengths alone, because the database keeps a statement for each text.
    const [first = ""] = subjects;
    const length = subjects.length <= FEW_SUBJECTS ? FEW_SUBJECTS : SUBJECTS_MAX;
    const asked = [...subjects, ...Array<string>(SUBJECTS_MAX).fill(first)].slice(0, length);
    return this.#db
      .selectFrom("traffic")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("subject", "in", asked)
      .execute();
  }

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
    return await inTransaction(this.#db, async (tx) => {
      await lockName(tx, `traffic ${accountId} ${subject}`);
      const ofSubject = tx.sql.selectFrom("traffic").selectAll();
      const own = ofSubject.where("account_id", "=", accountId).where("subject", "=", subject);
      const isAdded = isRight(await own.where("kind", "=", row.kind).execute());
      if (isAdded) await this.#addOf(tx, accountId, [row]);
      return isAdded;
    });
  }

  async prune(nowMs: number): Promise<void> {
    for (const [kind, { countedMs }] of Object.entries(KINDS)) {
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
    const sorted = wanted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    await this.#save(
      tx,
      sorted.filter(({ count }) => count !== GONE),
    );
    await removeGone(
      tx,
      sorted.filter(({ count }) => count === GONE),
    );
    const nowMs = this.#clock.nowMs();
    const before = this.#counted.get(accountId) ?? { source: 0, other: 0, atMs: -Infinity };
    const sources = wanted.filter(({ kind }) => kind === "source").length;
    const source = before.source + sources;
    const other = before.other + wanted.length - sources;
    const rowsMax = this.#rowsMax;
    const isFine =
      source <= rowsMax.source && other <= rowsMax.other && nowMs - before.atMs < COUNT_EVERY_MS;
    const now = isFine
      ? { source, other, atMs: before.atMs }
      : { ...(await keepWithin(tx, accountId, { rowsMax, nowMs })), atMs: nowMs };
    this.#counted.set(accountId, now);
  }
}

const HOURS = KINDS.hour.countedMs / HOUR_MS;

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

/** Of a tally, the group of the item: its shape. */
const groupOf = (item: string): string => item.split(".").slice(2).join(".");

/** What is counted under one subject: items by when they were seen last, and numbers of tallies. */
export class TrafficSubject {
  readonly #items = new Map<TrafficKind, Map<string, number>>();
  readonly #counts = new Map<string, number>();
  /** Of a tally's items that still count, by kind and group, and by kind alone. */
  readonly #sums = new Map<string, number>();
  #usual = { atHour: -1, median: 0 };
  firstMs: number | undefined;
  readonly readAtMs: number;

  constructor(rows: readonly TrafficTableRow[], readAtMs: number) {
    this.readAtMs = readAtMs;
    for (const row of rows.toSorted((a, b) => a.last_ms - b.last_ms)) {
      if (row.count === GONE) {
        this.forget(row.kind, row.item);
        continue;
      }
      this.see(row.kind, row.item, row.last_ms, Number(row.count));
      if (row.kind === "domain") this.firstMs = Math.min(row.first_ms, this.firstMs ?? Infinity);
    }
  }

  current(kind: TrafficKind, nowMs: number): ReadonlyMap<string, number> {
    const items = this.#items.get(kind);
    if (items === undefined) return NONE;
    for (const [item, lastMs] of items) {
      if (lastMs > nowMs - KINDS[kind].countedMs) break;
      this.forget(kind, item);
    }
    return items;
  }

  /** Oldest first, those that count no more included. */
  items(kind: TrafficKind): ReadonlyMap<string, number> {
    return this.#items.get(kind) ?? NONE;
  }

  count(kind: TrafficKind, item: string): number {
    return this.#counts.get(`${kind} ${item}`) ?? 0;
  }

  /** All of a tally that still counts, or what it has of one group. */
  sum(kind: TrafficKind, nowMs: number, group?: string): number {
    this.current(kind, nowMs);
    return this.#sums.get(group === undefined ? kind : `${kind} ${group}`) ?? 0;
  }

  newMailboxes(nowMs: number): NewMailboxes {
    const atHour = Math.floor(nowMs / HOUR_MS);
    if (this.#usual.atHour !== atHour)
      this.#usual = { atHour, median: this.#median(nowMs, atHour) };
    return { messages: this.sum("minute", nowMs), usual: this.#usual.median };
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
    if (count > 0) this.#add(kind, item, count - this.count(kind, item));
    const items = this.#items.get(kind) ?? new Map<string, number>();
    items.delete(item);
    this.#items.set(kind, items.set(item, lastMs));
  }

  forget(kind: TrafficKind, item: string): void {
    this.#items.get(kind)?.delete(item);
    const count = this.count(kind, item);
    if (count === 0) return;
    this.#add(kind, item, -count);
    this.#counts.delete(`${kind} ${item}`);
  }

  get rows(): number {
    let rows = 1;
    for (const items of this.#items.values()) rows += items.size;
    return rows;
  }

  /** Another process may have written less of an item than is known here. */
  #add(kind: TrafficKind, item: string, more: number): void {
    const count = this.count(kind, item) + more;
    if (more > 0) this.#counts.set(`${kind} ${item}`, count);
    if (more <= 0 && count > 0) return;
    for (const sum of [kind, `${kind} ${groupOf(item)}`])
      this.#sums.set(sum, (this.#sums.get(sum) ?? 0) + more);
  }
}
