import { sql as raw } from "kysely";
import type { OctetBox } from "../../base/secrets.ts";
import { DAY_MS } from "../../core/calendar.ts";
import { SESSION_LIFE_MS } from "../jobs/pack-batch.ts";
import { addRow, changeRows, deleteRows, findRow, insertRow } from "../../store/rows.ts";
import { lockName } from "../../store/locks.ts";
import { packLines, packText, unpackLines } from "../../store/pack.ts";
import { pruneRows } from "../../store/prune.ts";
import type { Db } from "../../store/schema.ts";
import { inTransaction, type Tx } from "../../store/transaction.ts";
import type { KeepRule } from "../../core/batch/row-class.ts";
import type { ListOptions } from "../files/list-file.ts";
import { type Session, sessionsOf } from "../jobs/sessions.ts";
import type { AccountListRow, ListHistoryRow } from "../../store/tables/bulk.ts";

/** A list of an account: the file as it came, what is read of it, and the sessions that checked it. */
export interface AccountList {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly rows: number;
  readonly choice: ListChoice;
  readonly fixes: ReadonlySet<string>;
  /** Sessions, oldest first; the last may be of a check that was refused. */
  readonly runs: readonly string[];
  readonly version: number;
  readonly createdAtMs: number;
  /** When it is deleted, unless it is being checked. */
  readonly expiresAtMs: number;
}

export type ListChange = Partial<
  Pick<AccountList, "choice" | "rows" | "fixes" | "runs" | "expiresAtMs">
>;

export interface ListChoice {
  readonly sheet?: string;
  readonly column?: string;
  readonly keep?: KeepRule;
}

/** How the file of a list is read. */
export const readingOf = ({ name, choice: { sheet, column } }: AccountList): ListOptions => ({
  name,
  ...(sheet !== undefined && { sheet }),
  ...(column !== undefined && { column }),
});

const PART_OCTETS = 262_144;

export const LISTS_MAX = 10;
const OCTETS_MAX = 1_000_000_000;

/** An account has at most this part of the octets that are free, so that something is left for the next. */
const PART_OF_FREE = 1 / 8;

export type KeepOutcome = "kept" | "too_many" | "full";

export const LISTS = "lists";

export interface ListStore {
  readonly db: Db;
  readonly box: OctetBox;
}

const partName = (list: string, number: number): string => `list ${list} part ${String(number)}`;
const fixesName = (list: string): string => `list ${list} fixes`;

/** Octets of a version before lists were sealed stand for themselves. */
const opened = (octets: Uint8Array, name: string, { box }: ListStore): Uint8Array =>
  box.open(octets, name) ?? octets;

export async function packFile(file: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  const whole = Buffer.concat(file);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < whole.length; at += PART_OCTETS) {
    parts.push(await packText(whole.subarray(at, at + PART_OCTETS)));
  }
  return parts;
}

/** Stores a new list; `full`: it is more than the account's part of what is free. */
export async function keepList(
  store: ListStore,
  list: AccountList,
  parts: readonly Uint8Array[],
): Promise<KeepOutcome> {
  const octets = octetsIn(parts);
  const row = { ...(await rowOf(list, store)), octets };
  return await inTransaction<KeepOutcome>(store.db, async (tx) => {
    await insertFile(tx.sql, store, list.id, parts);
    // Only now, as all owners wait for each other from here to the commit.
    await lockName(tx, "account_lists");
    const why = await noRoom(tx, list.accountId, octets);
    if (why !== undefined) {
      tx.abandon();
      return why;
    }
    await insertRow(tx.sql, "account_lists", row);
    return "kept";
  });
}

async function noRoom(
  { sql }: Tx,
  accountId: string,
  octets: number,
): Promise<KeepOutcome | undefined> {
  const { all, own, lists } = await sql
    .selectFrom("account_lists")
    .select([
      raw<number>`coalesce(sum(octets), 0)`.as("all"),
      raw<number>`coalesce(sum(case when account_id = ${accountId} then octets end), 0)`.as("own"),
      raw<number>`coalesce(sum(case when account_id = ${accountId} then 1 end), 0)`.as("lists"),
    ])
    .where("expires_at_ms", ">", 0)
    .executeTakeFirstOrThrow();
  if (Number(lists) >= LISTS_MAX) return "too_many";
  const free = OCTETS_MAX - Number(all);
  return Number(own) + octets > free * PART_OF_FREE ? "full" : undefined;
}

async function rowOf(
  list: AccountList,
  { box }: ListStore,
): Promise<Omit<AccountListRow, "octets">> {
  return {
    id: list.id,
    account_id: list.accountId,
    name: list.name,
    row_count: list.rows,
    choice: JSON.stringify(list.choice),
    fixes: box.seal(await packLines([...list.fixes]), fixesName(list.id)),
    runs: list.runs.join(" "),
    version: list.version,
    created_at_ms: list.createdAtMs,
    expires_at_ms: list.expiresAtMs,
  };
}

async function listOf(row: AccountListRow, store: ListStore): Promise<AccountList> {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    rows: row.row_count,
    choice: JSON.parse(row.choice) as ListChoice,
    fixes: new Set(await unpackLines(opened(row.fixes, fixesName(row.id), store))),
    runs: runsIn(row),
    version: row.version,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
  };
}

const runsIn = ({ runs }: Pick<AccountListRow, "runs">): readonly string[] =>
  runs === "" ? [] : runs.split(" ");

export async function findList(
  store: ListStore,
  accountId: string,
  id: string,
): Promise<AccountList | undefined> {
  const row = await findRow(store.db, "account_lists", { id, account_id: accountId });
  return row !== undefined && row.expires_at_ms > 0 ? await listOf(row, store) : undefined;
}

export async function listsOfAccount(
  store: ListStore,
  accountId: string,
): Promise<readonly AccountList[]> {
  const rows = await store.db
    .selectFrom("account_lists")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("expires_at_ms", ">", 0)
    .orderBy("created_at_ms", "desc")
    .execute();
  return await Promise.all(rows.map((row) => listOf(row, store)));
}

export async function partOf(
  store: ListStore,
  { id }: Pick<AccountList, "id">,
  number: number,
): Promise<Uint8Array | undefined> {
  const part = await findRow(store.db, "account_list_parts", { list: id, number });
  return part && opened(part.content, partName(id, number), store);
}

/** `parts`: another file in the place of the list's. False when the list was changed meanwhile. */
export async function changeStoredList(
  store: ListStore,
  list: AccountList,
  change: ListChange,
  parts?: readonly Uint8Array[],
): Promise<boolean> {
  const { id, version } = list;
  const row = await rowOf({ ...list, ...change, version: version + 1 }, store);
  return await inTransaction(store.db, async ({ sql }) => {
    const columns = { ...row, ...(parts && { octets: octetsIn(parts) }) };
    if ((await changeRows(sql, "account_lists", { id, version }, columns)) === 0) return false;
    if (parts === undefined) return true;
    await deleteRows(sql, "account_list_parts", { list: id });
    await insertFile(sql, store, id, parts);
    return true;
  });
}

const octetsIn = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, part) => sum + part.length, 0);

async function insertFile(
  sql: Db,
  { box }: ListStore,
  list: string,
  parts: readonly Uint8Array[],
): Promise<void> {
  for (const [number, packed] of parts.entries()) {
    const content = box.seal(packed, partName(list, number));
    await insertRow(sql, "account_list_parts", { list, number, content });
  }
}

const ADDRESS_LIKE = /[^\s,;]*@[^\s,;]*/g;

/**
 * The list is gone, and its place is free; what is left of it goes with the next look. Its counts stay. Twice is as once.
 */
export async function forgetList(db: Db, id: string): Promise<void> {
  const row = await findRow(db, "account_lists", { id });
  if (row === undefined) return;
  const runs = await sessionsOf(db, runsIn(row));
  const sum = (of: (run: Session) => number): number => runs.reduce((all, run) => all + of(run), 0);
  const kept: ListHistoryRow = {
    id,
    account_id: row.account_id,
    name: row.name.replace(ADDRESS_LIKE, "…"),
    row_count: row.row_count,
    checked: sum(({ processed }) => processed),
    good: sum(({ tally }) => tally.valid),
    disposable: sum(({ tally }) => tally.disposable),
    no_mail: sum(({ tally }) => tally.invalidDns),
    bad_format: sum(({ tally }) => tally.invalidFormat),
    charged: sum(({ charged }) => charged),
    created_at_ms: row.created_at_ms,
  };
  await inTransaction(db, async ({ sql }) => {
    const gone = { expires_at_ms: 0, octets: 0, fixes: new Uint8Array() };
    if ((await changeRows(sql, "account_lists", { id }, gone)) === 0) return; // with its account
    await deleteRows(sql, "account_list_parts", { list: id });
    await addRow(sql, "list_history", kept);
  });
}

/** Their files cannot be read any more: they go with the next look. */
export async function endLists(db: Db): Promise<void> {
  await db.updateTable("account_lists").set({ expires_at_ms: 1 }).execute();
}

export const historyOf = (
  db: Db,
  accountId: string,
  limit: number,
): Promise<readonly ListHistoryRow[]> =>
  db
    .selectFrom("list_history")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("created_at_ms", "desc")
    .limit(limit)
    .execute();

const HISTORY_MS = 400 * DAY_MS;

export const pruneListHistory = (db: Db, nowMs: number): Promise<number> => {
  const before = nowMs - HISTORY_MS;
  return pruneRows(db, { table: "list_history", key: ["id"], column: "created_at_ms", before });
};

export async function runsOf(
  db: Db,
  lists: readonly AccountList[],
): Promise<(list: AccountList) => readonly Session[]> {
  const hashes = lists.flatMap(({ runs }) => runs);
  const known = new Map((await sessionsOf(db, hashes)).map((run) => [run.session, run]));
  return ({ runs }) => runs.flatMap((session) => known.get(session) ?? []);
}

export async function keptByLists(
  db: Db,
  sessions: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (sessions.length === 0) return new Map();
  const lists = db.selectFrom("account_lists").select(["runs", "expires_at_ms"]);
  const rows = await lists.where("expires_at_ms", ">", 0).execute();
  const untilMs = rows.flatMap((row) =>
    runsIn(row).map((session) => [session, row.expires_at_ms] as const),
  );
  const sought = new Set(sessions);
  return new Map(untilMs.filter(([session]) => sought.has(session)));
}

/** A list that is over goes with its sessions, but not while it is checked. Returns how many were deleted. */
export async function pruneLists(db: Db, nowMs: number): Promise<number> {
  const rows = await db
    .selectFrom("account_lists")
    .select(["id", "runs", "expires_at_ms"])
    .where("expires_at_ms", "<=", nowMs)
    .limit(PRUNED_AT_ONCE)
    .execute();
  let gone = 0;
  for (const row of rows) {
    const { id, expires_at_ms: expiresAtMs } = row;
    const runs = await sessionsOf(db, runsIn(row));
    if (runs.some((run) => run.isRunning)) {
      await changeRows(db, "account_lists", { id }, { expires_at_ms: nowMs + SESSION_LIFE_MS });
      continue;
    }
    if (expiresAtMs > 0) await forgetList(db, id);
    for (const { session } of runs) {
      await changeRows(db, "jobs", { session }, { expires_at_ms: nowMs });
    }
    await deleteRows(db, "account_lists", { id });
    gone += 1;
  }
  return gone;
}

const PRUNED_AT_ONCE = 100;
