import type { Kysely } from "kysely";
import { HOOK_OUTCOMES, type HookOutcome, type HookSystem } from "./hook-types.ts";
import type { Database } from "../store/schema.ts";
import {
  changeRows,
  countRows,
  deleteRows,
  findRow,
  insertRow,
  lockAccount,
  pruneRows,
} from "../store/rows.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
import type { HookRow } from "../store/tables/policy.ts";
import { isLivePolicy, lockPolicies } from "../store/live-policy.ts";

export interface HookCall {
  readonly atMs: number;
  readonly outcome: HookOutcome;
  /** A plain sentence without an address. */
  readonly why: string;
  readonly durationMs: number;
}

export interface Hook {
  /** 32 hexadecimal digits: the last segment of its URL. */
  readonly id: string;
  readonly accountId: string;
  readonly system: HookSystem;
  readonly policy: string;
  /** What `challenge` and `review` become. */
  readonly challenge: "accept" | "reject";
  readonly secret: string;
  /** Where the system's public keys are, for systems that sign with one. */
  readonly jwksUrl?: string;
  readonly createdAtMs: number;
}

export interface HookNews {
  readonly counts: readonly {
    readonly day: number;
    readonly hookId: string;
    readonly outcome: HookOutcome;
    readonly count: number;
  }[];
  readonly lastCalls: ReadonlyMap<string, HookCall>;
  readonly lastFailures: ReadonlyMap<string, HookCall>;
}

export interface HookStanding {
  readonly lastCall?: HookCall;
  /** The newest call that failed open or was unauthenticated. */
  readonly lastFailure?: HookCall;
  readonly counts: Readonly<Record<HookOutcome, number>>;
}

/** Rules are checked by `test/contracts/policy/hooks.ts`. */
export interface Hooks {
  /** Nothing is changed when the account has `limit` hooks, or no policy of the hook's name. */
  create(hook: Hook, limit: number): Promise<"created" | "full" | "no_policy">;
  find(id: string): Promise<Hook | undefined>;
  list(accountId: string): Promise<readonly Hook[]>;
  setSecret(id: string, sealed: string): Promise<boolean>;
  remove(id: string): Promise<boolean>;
  /** Adds counts and replaces the last calls; hooks that are gone are left out. */
  note(news: HookNews): Promise<void>;
  standing(id: string, fromDay: number): Promise<HookStanding>;
  prune(fromDay: number): Promise<number>;
}

const hook = (row: HookRow): Hook => ({
  id: row.id,
  accountId: row.account_id,
  system: row.system,
  policy: row.policy,
  challenge: row.challenge,
  secret: row.secret,
  ...(row.jwks_url !== null && { jwksUrl: row.jwks_url }),
  createdAtMs: row.created_at_ms,
});

const newRow = (made: Hook): HookRow => ({
  id: made.id,
  account_id: made.accountId,
  system: made.system,
  policy: made.policy,
  challenge: made.challenge,
  secret: made.secret,
  jwks_url: made.jwksUrl ?? null,
  last_call: null,
  last_failure: null,
  created_at_ms: made.createdAtMs,
});

const call = (text: string | null): HookCall | undefined =>
  text === null ? undefined : (JSON.parse(text) as HookCall);

async function createIn(tx: Tx, made: Hook, limit: number): ReturnType<Hooks["create"]> {
  await lockAccount(tx, made.accountId);
  const hooks = tx.sql.selectFrom("hooks").where("account_id", "=", made.accountId);
  if ((await countRows(hooks)) >= limit) return "full";
  await lockPolicies(tx, made.accountId);
  const { accountId, policy: name } = made;
  if (!(await isLivePolicy(tx.sql, { accountId, name }))) return "no_policy";
  await insertRow(tx.sql, "hooks", newRow(made));
  return "created";
}

async function noteLast(
  { sql }: Tx,
  column: "last_call" | "last_failure",
  calls: ReadonlyMap<string, HookCall>,
): Promise<void> {
  for (const [id, last] of calls) {
    await changeRows(sql, "hooks", { id }, { [column]: JSON.stringify(last) });
  }
}

const byId = <T>(calls: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  new Map([...calls].toSorted(([a], [b]) => (a < b ? -1 : 1)));

async function noteIn(tx: Tx, { counts, lastCalls, lastFailures }: HookNews): Promise<void> {
  // In one order, so that no two processes wait for each other's rows.
  await noteLast(tx, "last_call", byId(lastCalls));
  await noteLast(tx, "last_failure", byId(lastFailures));
  for (const { hookId, ...made } of counts.toSorted((a, b) => (a.hookId < b.hookId ? -1 : 1))) {
    await tx.sql
      .insertInto("hook_counts")
      .columns(["hook_id", "day", "outcome", "count"])
      .expression((build) =>
        build
          .selectFrom("hooks")
          .select([
            "id",
            build.val(made.day).as("day"),
            build.val(made.outcome).as("outcome"),
            build.val(made.count).as("count"),
          ])
          .where("id", "=", hookId),
      )
      .onConflict((conflict) =>
        conflict.columns(["hook_id", "day", "outcome"]).doUpdateSet((build) => ({
          count: build("hook_counts.count", "+", build.ref("excluded.count")),
        })),
      )
      .execute();
  }
}

async function standingOf(
  db: Kysely<Database>,
  id: string,
  fromDay: number,
): Promise<HookStanding> {
  const row = await findRow(db, "hooks", { id });
  const rows = await db
    .selectFrom("hook_counts")
    .select((build) => ["outcome", build.fn.sum("count").as("count")])
    .where("hook_id", "=", id)
    .where("day", ">=", fromDay)
    .groupBy("outcome")
    .execute();
  const counted = new Map(rows.map(({ outcome, count }) => [outcome, Number(count)]));
  const counts = Object.fromEntries(
    HOOK_OUTCOMES.map((outcome) => [outcome, counted.get(outcome) ?? 0]),
  ) as Record<HookOutcome, number>;
  const lastCall = call(row?.last_call ?? null);
  const lastFailure = call(row?.last_failure ?? null);
  return {
    ...(lastCall !== undefined && { lastCall }),
    ...(lastFailure !== undefined && { lastFailure }),
    counts,
  };
}

export function sqlHooks(db: Kysely<Database>): Hooks {
  return {
    create: (made, limit) => inTransaction(db, (tx) => createIn(tx, made, limit)),
    async find(id) {
      const row = await findRow(db, "hooks", { id });
      return row && hook(row);
    },
    async list(accountId) {
      const rows = await db
        .selectFrom("hooks")
        .selectAll()
        .where("account_id", "=", accountId)
        .orderBy("created_at_ms", "desc")
        .orderBy("id")
        .execute();
      return rows.map(hook);
    },
    setSecret: async (id, secret) => (await changeRows(db, "hooks", { id }, { secret })) === 1,
    remove: (id) =>
      inTransaction(db, async ({ sql }) => {
        await deleteRows(sql, "hook_counts", { hook_id: id });
        return (await deleteRows(sql, "hooks", { id })) === 1;
      }),
    note: (news) => inTransaction(db, (tx) => noteIn(tx, news)),
    standing: (id, fromDay) => standingOf(db, id, fromDay),
    prune: (fromDay) =>
      pruneRows(db, {
        table: "hook_counts",
        key: ["hook_id", "day", "outcome"],
        column: "day",
        before: fromDay,
      }),
  };
}
