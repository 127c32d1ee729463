import { sql, type SqlBool } from "kysely";
import { DAY_MS, isoTime } from "../core/calendar.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import type { Clock } from "../base/clock.ts";
import { growingIds, type Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { WriteBehind } from "../base/write-behind.ts";
import { keepNewest, pruneRows } from "../store/prune.ts";
import { lockAccount } from "../store/locks.ts";
import type { Db } from "../store/schema.ts";
import type { DecisionRow } from "../store/tables/policy.ts";
import { inSlice, type Tx } from "../store/transaction.ts";
import { groupsOf } from "./decision-groups.ts";
import { lastSaid } from "./feedback.ts";
import { type AccountHash, sourceId, type SourceKey, sourceKeys } from "./traffic-marks.ts";
import type { DecisionGroups, DecisionPage, LoggedDecision } from "./gate-shapes.ts";
import type { DecisionMade } from "./outcomes.ts";

const LOGGED_MAX = 10_000;
/** Of pages: who has a page's key must not push out what the account's own servers and hooks decided. */
const OF_PAGES_MAX = LOGGED_MAX / 2;
const LOGGED_DAYS = 7;
export const LOG_PAGE_MAX = 100;

const COLUMNS = {
  decision: "decision",
  reason: "reason",
  domain: "domain",
  mailbox: "mailbox",
  form: "form",
  key: "key_id",
  for: "asked",
  shape: "shape",
} as const;

export type SoughtDecisions = Partial<Record<keyof typeof COLUMNS, string | undefined>> & {
  /** "NAME:ID" of a key of `count_by`. */
  readonly source?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
};

export interface DecisionLogDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Pick<Log, "error">;
  readonly hash: AccountHash;
}

const FLUSH_AFTER_MS = 500;
const BATCH = 100;
const WAITING_MAX = 10_000;

/** Decisions are written behind: a kill may lose the last second. */
export class DecisionLog {
  readonly #deps: DecisionLogDeps;
  readonly #waiting: WriteBehind<DecisionRow>;
  readonly #nextId: (nowMs: number) => string;

  constructor(deps: DecisionLogDeps) {
    this.#deps = deps;
    this.#nextId = growingIds(deps.ids);
    this.#waiting = new WriteBehind({
      afterMs: FLUSH_AFTER_MS,
      batch: BATCH,
      max: WAITING_MAX,
      merge: (_, newer) => newer,
      clock: deps.clock,
      save: (rows) => this.#save(rows),
      failed: (fault, lost) => deps.log.error("decisions.log_failed", fault, { lost }),
    });
  }

  note({ owner, keyId, logsDecisions }: Caller, made: DecisionMade): void {
    if (owner.kind !== "account" || logsDecisions !== true) return;
    const { policies, outcome, facts } = made;
    const nowMs = this.#deps.clock.nowMs();
    const id = this.#nextId(nowMs);
    this.#waiting.note(id, {
      account_id: owner.accountId,
      id,
      at_ms: nowMs,
      decision: outcome.decision,
      reason: outcome.reason,
      rule: outcome.rule ?? null,
      policy: policies.name,
      version: policies.live.version,
      signals: facts.signals.join(" "),
      domain: facts.registrable_domain ?? null,
      mailbox: made.mailboxId ?? null,
      form: made.form === "" ? null : made.form,
      key_id: keyId ?? null,
      complete: made.isComplete ? 1 : 0,
      subject: made.subject ?? null,
      asked: made.asked,
      sources: this.#sourcesOf(owner.accountId, made.sources),
      shape: made.shape ?? null,
    });
  }

  flush(): Promise<void> {
    return this.#waiting.flush();
  }

  async page(accountId: string, sought: SoughtDecisions): Promise<DecisionPage> {
    let query = this.#sought(accountId, sought, LOGGED_DAYS * DAY_MS).selectAll();
    if (sought.after !== undefined) query = query.where("id", "<", sought.after);
    const rows = await query
      .orderBy("id", "desc")
      .limit(sought.limit + 1)
      .execute();
    const shown = rows.slice(0, sought.limit);
    const next = rows.length > shown.length ? (shown.at(-1)?.id ?? null) : null;
    return { decisions: shown.map(decisionOf), next };
  }

  #sought(accountId: string, sought: Omit<SoughtDecisions, "limit">, sinceMs: number) {
    const { db, clock } = this.#deps;
    let query = db
      .selectFrom("decisions")
      .where("account_id", "=", accountId)
      .where("at_ms", ">", clock.nowMs() - sinceMs);
    for (const [name, column] of Object.entries(COLUMNS)) {
      const value = sought[name as keyof typeof COLUMNS];
      if (value !== undefined) query = query.where(column, "=", value);
    }
    const { source } = sought;
    if (source === undefined) return query;
    return query.where(sql<SqlBool>`(' ' || sources || ' ') like ${`% ${source} %`}`);
  }

  /** Mailboxes of the last day's decisions, each with its domain. */
  async mailboxes(
    accountId: string,
    sought: SoughtDecisions,
  ): Promise<ReadonlyMap<string, string | null>> {
    const rows = await this.#sought(accountId, sought, DAY_MS)
      .select(["mailbox", "domain"])
      .distinct()
      .execute();
    return new Map(rows.flatMap(({ mailbox, domain }) => (mailbox ? [[mailbox, domain]] : [])));
  }

  /** What the last day's decisions have in common, largest first: those of one decision alone are left out. */
  async groups(accountId: string): Promise<DecisionGroups> {
    const rows = await this.#sought(accountId, {}, DAY_MS)
      .select(["decision", "domain", "mailbox", "sources", "shape"])
      .execute();
    return groupsOf(rows, await lastSaid(this.#deps.db, accountId));
  }

  /** "NAME:ID" of a value of `count_by`, whatever its name; undefined where no decision has it. */
  async sourceOf(accountId: string, value: string): Promise<string | undefined> {
    const rows = await this.#sought(accountId, {}, LOGGED_DAYS * DAY_MS)
      .select("sources")
      .distinct()
      .execute();
    const known = new Set(rows.flatMap(({ sources }) => sources.match(/\S+/g) ?? []));
    const names = new Set([...known].map((one) => sourceIn(one).name));
    const keys = [...names].flatMap((name) => sourceKeys(name, value) ?? []);
    return this.#sourcesOf(accountId, keys)
      .split(" ")
      .find((one) => known.has(one));
  }

  #sourcesOf(accountId: string, keys: readonly SourceKey[]): string {
    const { hash } = this.#deps;
    return keys.map((key) => `${key.name}:${sourceId(hash, accountId, key)}`).join(" ");
  }

  async #save(rows: readonly DecisionRow[]): Promise<void> {
    const ids = [...new Set(rows.map((row) => row.account_id))].toSorted();
    await inSlice(this.#deps.db, async (tx) => {
      for (const id of ids) {
        const own = rows.filter((row) => row.account_id === id);
        await addOf(tx, id, own);
      }
    });
  }
}

/** Nothing is written of an account that does not want it any more, or is gone. */
async function addOf(tx: Tx, accountId: string, rows: readonly DecisionRow[]): Promise<void> {
  await lockAccount(tx, accountId);
  const account = await tx.sql
    .selectFrom("accounts")
    .select("decision_log")
    .where("id", "=", accountId)
    .executeTakeFirst();
  if (account?.decision_log !== 1) return;
  await tx.sql
    .insertInto("decisions")
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const isOfPage = sql`key_id in (
    select id from api_keys where account_id = ${accountId} and origins is not null
  )`;
  await keepNewest(tx, "decisions", accountId, OF_PAGES_MAX, { only: isOfPage });
  await keepNewest(tx, "decisions", accountId, LOGGED_MAX);
}

const sourceIn = (text: string) => {
  const [name = "", id = ""] = text.split(":");
  return { name, id };
};

const decisionOf = (row: DecisionRow): LoggedDecision => ({
  id: row.id,
  time: isoTime(row.at_ms),
  decision: row.decision,
  reason: row.reason,
  rule: row.rule,
  policy: { name: row.policy, version: row.version },
  signals: row.signals === "" ? [] : row.signals.split(" "),
  registrable_domain: row.domain,
  mailbox: row.mailbox === null ? null : { id: row.mailbox },
  form: row.form,
  key: row.key_id,
  hook: row.key_id?.startsWith(HOOK_KEY) === true ? row.key_id.slice(HOOK_KEY.length) : null,
  subject: row.subject,
  complete: row.complete === 1,
  for: row.asked,
  sources: row.sources === "" ? [] : row.sources.split(" ").map(sourceIn),
  shape: row.shape,
});

/** Stands before the id of a hook where that of a key would be. */
export const HOOK_KEY = "hook:";

export const pruneDecisions = (db: Db, nowMs: number): Promise<number> =>
  pruneRows(db, {
    table: "decisions",
    key: ["account_id", "id"],
    column: "at_ms",
    before: nowMs - LOGGED_DAYS * DAY_MS,
  });
