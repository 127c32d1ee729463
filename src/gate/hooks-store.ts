import { HOOK_OUTCOMES, type HookOutcome } from "../core/policy/outcomes.ts";
import type { Kysely } from "kysely";

import type { Database } from "../store/schema.ts";
import {
  addCounts,
  changeRows,
  countRows,
  deleteRows,
  findRow,
  insertRow,
  lockAccount,
  pruneRows,
} from "../store/rows.ts";
import { inTransaction } from "../store/transaction.ts";
import type { HookCountRow, HookRow } from "../store/tables/policy.ts";
import { isLivePolicy, lockPolicies } from "../store/live-policy.ts";

export interface HookCall {
  readonly atMs: number;
  readonly outcome: HookOutcome;
  /** A plain sentence without an address. */
  readonly why: string;
  readonly durationMs: number;
}

/**
 * `id`: 32 hexadecimal digits, the last segment of its URL. `challenge`: what `challenge` and `review` become.
 * `jwks_url`: where the system's public keys are, for systems that sign with one.
 */
export type Hook = Readonly<Omit<HookRow, "last_call" | "last_failure">>;

/** Calls of one hook and day that ended alike, and the last of them. */
export interface HookNews extends Readonly<HookCountRow> {
  readonly last: HookCall;
}

export interface HookStanding {
  readonly lastCall: HookCall | undefined;
  /** The newest call that was neither accepted nor refused. */
  readonly lastFailure: HookCall | undefined;
  readonly counts: Readonly<Record<HookOutcome, number>>;
}

const callIn = (text: string | null | undefined): HookCall | undefined =>
  text ? (JSON.parse(text) as HookCall) : undefined;

const isFailure = ({ outcome }: HookCall): boolean =>
  outcome !== "accepted" && outcome !== "refused";

/** The newest call of each hook, in the order of hooks, so that no two processes wait for each other's rows. */
function newest(news: readonly HookNews[]): readonly (readonly [id: string, call: HookCall])[] {
  const calls = new Map<string, HookCall>();
  for (const { hook_id: id, last } of news) {
    if ((calls.get(id)?.atMs ?? 0) <= last.atMs) calls.set(id, last);
  }
  return [...calls].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Rules are checked by `test/contracts/policy/hooks.ts`. */
export class Hooks {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Nothing is changed when the account has `limit` hooks, or no policy of the hook's name. */
  create(made: Hook, limit: number): Promise<"created" | "full" | "no_policy"> {
    return inTransaction(this.#db, async (tx) => {
      const { account_id: accountId, policy: name } = made;
      await lockAccount(tx, accountId);
      const hooks = tx.sql.selectFrom("hooks").where("account_id", "=", accountId);
      if ((await countRows(hooks)) >= limit) return "full";
      await lockPolicies(tx, accountId);
      if (!(await isLivePolicy(tx.sql, { accountId, name }))) return "no_policy";
      await insertRow(tx.sql, "hooks", { ...made, last_call: null, last_failure: null });
      return "created";
    });
  }

  find(id: string): Promise<Hook | undefined> {
    return findRow(this.#db, "hooks", { id });
  }

  list(accountId: string): Promise<readonly Hook[]> {
    const all = this.#db.selectFrom("hooks").selectAll().where("account_id", "=", accountId);
    return all.orderBy("created_at_ms", "desc").orderBy("id").execute();
  }

  async setSecret(id: string, sealed: string): Promise<boolean> {
    return (await changeRows(this.#db, "hooks", { id }, { secret: sealed })) === 1;
  }

  remove(id: string): Promise<boolean> {
    return inTransaction(this.#db, async ({ sql }) => {
      await deleteRows(sql, "hook_counts", { hook_id: id });
      return (await deleteRows(sql, "hooks", { id })) === 1;
    });
  }

  /** Adds counts and replaces the last calls; hooks that are gone are left out. */
  note(news: readonly HookNews[]): Promise<void> {
    return inTransaction(this.#db, async ({ sql }) => {
      const known = new Set<string>();
      for (const [id, call] of newest(news)) {
        const last_call = JSON.stringify(call);
        if ((await changeRows(sql, "hooks", { id }, { last_call })) > 0) known.add(id);
      }
      for (const [id, call] of newest(news.filter(({ last }) => isFailure(last)))) {
        await changeRows(sql, "hooks", { id }, { last_failure: JSON.stringify(call) });
      }
      const counts = news
        .filter(({ hook_id }) => known.has(hook_id))
        .map(({ hook_id, day, outcome, count }) => ({ hook_id, day, outcome, count }));
      await addCounts(sql, "hook_counts", counts);
    });
  }

  async standing(id: string, fromDay: number): Promise<HookStanding> {
    const row = await findRow(this.#db, "hooks", { id });
    const rows = await this.#db
      .selectFrom("hook_counts")
      .select((build) => ["outcome", build.fn.sum("count").as("count")])
      .where("hook_id", "=", id)
      .where("day", ">=", fromDay)
      .groupBy("outcome")
      .execute();
    const counted = new Map(rows.map(({ outcome, count }) => [outcome, Number(count)]));
    const counts = HOOK_OUTCOMES.map((outcome) => [outcome, counted.get(outcome) ?? 0] as const);
    return {
      lastCall: callIn(row?.last_call),
      lastFailure: callIn(row?.last_failure),
      counts: Object.fromEntries(counts) as HookStanding["counts"],
    };
  }

  prune(fromDay: number): Promise<number> {
    const key = ["hook_id", "day", "outcome"] as const;
    return pruneRows(this.#db, { table: "hook_counts", key, column: "day", before: fromDay });
  }
}
