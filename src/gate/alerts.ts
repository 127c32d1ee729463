import type { End } from "../base/every.ts";
import { isoTime } from "../core/calendar.ts";
import { changeRows, deleteRows, findRow, insertRow } from "../store/rows.ts";
import { lockName } from "../store/locks.ts";
import type { AlertRow } from "../store/tables/watch.ts";
import type { AnnounceDeps } from "../webhooks/dispatcher.ts";
import { lookOften, tell } from "../webhooks/tell.ts";
import type { DecisionMade } from "./outcomes.ts";

/** Of these the reason of a decision has the name. */
const REASONS = ["burst", "many", "shape", "repeated_mailbox"] as const;
const KINDS = [...REASONS, "wave", "review", "failed_open"] as const;

export type AlertKind = (typeof KINDS)[number];

const HOUR_MS = 3_600_000;

interface Noticed {
  readonly accountId: string;
  readonly kind: AlertKind;
  readonly domain: string | undefined;
  count: number;
}

/** Tells accounts what their decisions show: when it begins, each hour while it goes on, and when an hour passed without it. */
export class Alerts {
  readonly #deps: AnnounceDeps;
  #noticed = new Map<string, Noticed>();

  constructor(deps: AnnounceDeps) {
    this.#deps = deps;
  }

  start(): End {
    return lookOften(this.#deps, "gate.alerts_failed", () => this.look());
  }

  notice(accountId: string, kind: AlertKind, domain?: string): void {
    const key = `${kind} ${accountId}`;
    const known = this.#noticed.get(key);
    if (known === undefined) this.#noticed.set(key, { accountId, kind, domain, count: 1 });
    else known.count += 1;
  }

  noticeDecision(accountId: string, { outcome, facts, shape }: DecisionMade): void {
    const { decision, reason, rule } = outcome;
    if (decision === "review") this.notice(accountId, "review");
    // At a large provider the names are alike, not the domain.
    const isOfShape = reason === "burst" && shape !== undefined;
    const kind = isOfShape ? "shape" : REASONS.find((one) => one === reason);
    if (kind === undefined || rule === undefined) return;
    this.notice(accountId, kind, kind === "burst" ? facts.registrable_domain : undefined);
  }

  /** Notes what was noticed since the last look, and ends what was not noticed for an hour. */
  async look(): Promise<void> {
    const { db, clock } = this.#deps;
    const noticed = this.#noticed;
    this.#noticed = new Map();
    for (const one of noticed.values()) await this.#note(one);
    const before = clock.nowMs() - HOUR_MS;
    const quiet = db.selectFrom("alerts").selectAll().where("seen_ms", "<=", before);
    for (const row of await quiet.where("kind", "in", KINDS).execute()) {
      await tell(this.#deps, async ({ sql }) => {
        const { account_id, kind, seen_ms } = row;
        const isMine = (await deleteRows(sql, "alerts", { account_id, kind, seen_ms })) === 1;
        return isMine ? [newsOf(row, "ends")] : [];
      });
    }
  }

  async #note({ accountId: account_id, kind, domain, count }: Noticed): Promise<void> {
    const nowMs = this.#deps.clock.nowMs();
    await tell(this.#deps, async (tx) => {
      await lockName(tx, `alert ${account_id} ${kind}`);
      const known = await findRow(tx.sql, "alerts", { account_id, kind });
      if (known === undefined) {
        const now = { began_ms: nowMs, told_ms: nowMs, seen_ms: nowMs };
        const row = { account_id, kind, ...now, count };
        await insertRow(tx.sql, "alerts", { ...row, count: 0 });
        return [newsOf(row, "begins", domain)];
      }
      const row = { ...known, seen_ms: nowMs, count: Number(known.count) + count };
      const isDue = nowMs - Number(known.told_ms) >= HOUR_MS;
      const change = isDue ? { ...row, told_ms: nowMs, count: 0 } : row;
      await changeRows(tx.sql, "alerts", { account_id, kind }, change);
      return isDue ? [newsOf(row, "goes_on", domain)] : [];
    });
  }
}

function newsOf(
  { account_id: accountId, ...row }: AlertRow,
  state: "begins" | "goes_on" | "ends",
  domain?: string,
) {
  const [count, since] = [Number(row.count), isoTime(Number(row.began_ms))];
  const data = { kind: row.kind, state, count, since, ...(domain && { domain }) };
  return { accountId, event: "gate.alert" as const, data };
}
