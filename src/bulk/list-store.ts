import { type Kysely, sql as raw } from "kysely";
import { SESSION_LIFE_MS } from "./batches-store.ts";
import {
  changeRows,
  deleteRows,
  findRow,
  insertRow,
  lockName,
  packLines,
  packText,
  unpackLines,
} from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
import { type Session, sessionsOf } from "./sessions.ts";
import type { AccountListRow } from "../store/tables/bulk.ts";

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
  /** When to look whether it is over. */
  readonly expiresAtMs: number;
}

export type ListChange = Partial<
  Pick<AccountList, "choice" | "rows" | "fixes" | "runs" | "expiresAtMs">
>;

export interface ListChoice {
  readonly sheet?: string;
  readonly column?: string;
}

const PART_OCTETS = 262_144;

export const LISTS_MAX = 10;
const OCTETS_MAX = 1_000_000_000;

/** An account has at most this part of the octets that are free, so that something is left for the next. */
const PART_OF_FREE = 1 / 8;

export type KeepOutcome = "kept" | "too_many" | "full";

/** A file in packed parts. */
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
  db: Kysely<Database>,
  list: AccountList,
  parts: readonly Uint8Array[],
): Promise<KeepOutcome> {
  const octets = parts.reduce((sum, part) => sum + part.length, 0);
  const row = { ...(await rowOf(list)), octets };
  return await inTransaction<KeepOutcome>(db, async (tx) => {
    for (const [number, content] of parts.entries()) {
      const part = { list: list.id, number, content };
      await insertRow(tx.sql, "account_list_parts", part);
    }
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
    .executeTakeFirstOrThrow();
  if (Number(lists) >= LISTS_MAX) return "too_many";
  const free = OCTETS_MAX - Number(all);
  return Number(own) + octets > free * PART_OF_FREE ? "full" : undefined;
}

async function rowOf(list: AccountList): Promise<Omit<AccountListRow, "octets">> {
  return {
    id: list.id,
    account_id: list.accountId,
    name: list.name,
    row_count: list.rows,
    choice: JSON.stringify(list.choice),
    fixes: await packLines([...list.fixes]),
    runs: list.runs.join(" "),
    version: list.version,
    created_at_ms: list.createdAtMs,
    expires_at_ms: list.expiresAtMs,
  };
}

async function listOf(row: AccountListRow): Promise<AccountList> {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    rows: row.row_count,
    choice: JSON.parse(row.choice) as ListChoice,
    fixes: new Set(await unpackLines(row.fixes)),
    runs: row.runs === "" ? [] : row.runs.split(" "),
    version: row.version,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
  };
}

export async function findList(
  db: Kysely<Database>,
  accountId: string,
  id: string,
): Promise<AccountList | undefined> {
  const row = await findRow(db, "account_lists", { id, account_id: accountId });
  return row !== undefined && row.expires_at_ms > 0 ? await listOf(row) : undefined;
}

export async function listsOfAccount(
  db: Kysely<Database>,
  accountId: string,
): Promise<readonly AccountList[]> {
  const rows = await db
    .selectFrom("account_lists")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("expires_at_ms", ">", 0)
    .orderBy("created_at_ms", "desc")
    .execute();
  return await Promise.all(rows.map(listOf));
}

/** Part `number` of its file, packed. */
export async function partOf(
  db: Kysely<Database>,
  { id }: Pick<AccountList, "id">,
  number: number,
): Promise<Uint8Array | undefined> {
  const part = await findRow(db, "account_list_parts", { list: id, number });
  return part?.content;
}

export async function changeList(
  db: Kysely<Database>,
  list: AccountList,
  change: ListChange,
): Promise<boolean> {
  const { id, version } = list;
  const row = await rowOf({ ...list, ...change, version: version + 1 });
  return (await changeRows(db, "account_lists", { id, version }, row)) === 1;
}

/** The list is gone; what is left of it goes with the next look. */
export async function forgetList(db: Kysely<Database>, id: string): Promise<void> {
  await inTransaction(db, async ({ sql }) => {
    await deleteRows(sql, "account_list_parts", { list: id });
    await changeRows(sql, "account_lists", { id }, { expires_at_ms: 0 });
  });
}

/** The checks of each of the lists, oldest first; none for a session that never began. */
export async function runsOf(
  db: Kysely<Database>,
  lists: readonly AccountList[],
): Promise<(list: AccountList) => readonly Session[]> {
  const hashes = lists.flatMap(({ runs }) => runs);
  const known = new Map((await sessionsOf(db, hashes)).map((run) => [run.session, run]));
  return ({ runs }) => runs.flatMap((session) => known.get(session) ?? []);
}

export async function keepSessionsUntil(
  db: Kysely<Database>,
  sessions: readonly string[],
  untilMs: number,
): Promise<void> {
  if (sessions.length === 0) return;
  await db
    .updateTable("jobs")
    .set({ expires_at_ms: untilMs })
    .where("session", "in", sessions)
    .where("expires_at_ms", "is not", null)
    .execute();
}

/** A list lives as long as its last check, and the earlier ones with it. Returns how many were deleted. */
export async function pruneLists(db: Kysely<Database>, nowMs: number): Promise<number> {
  const rows = await db
    .selectFrom("account_lists")
    .selectAll()
    .where("expires_at_ms", "<=", nowMs)
    .limit(PRUNED_AT_ONCE)
    .execute();
  const lists = await Promise.all(rows.map(listOf));
  const runsBy = await runsOf(db, lists);
  let gone = 0;
  for (const list of lists) {
    const runs = runsBy(list);
    const isRunning = runs.some((run) => run.isRunning);
    const isForgotten = list.expiresAtMs === 0;
    const endMs = isRunning ? nowMs + SESSION_LIFE_MS : isForgotten ? 0 : endOf(list, runs);
    if (endMs > nowMs) {
      if (isRunning) await keepSessionsUntil(db, list.runs, endMs + SESSION_LIFE_MS);
      await changeRows(db, "account_lists", { id: list.id }, { expires_at_ms: endMs });
      continue;
    }
    await keepSessionsUntil(db, list.runs, nowMs);
    await deleteRows(db, "account_list_parts", { list: list.id });
    await deleteRows(db, "account_lists", { id: list.id });
    gone += 1;
  }
  return gone;
}

const PRUNED_AT_ONCE = 100;

/** When a list is over of which no check runs. */
export const endOf = (list: AccountList, runs: readonly Session[]): number =>
  runs.findLast(({ state }) => state !== "gone")?.expiresAtMs ?? list.expiresAtMs;
