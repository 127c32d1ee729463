import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { DAY_MS } from "../core/calendar.ts";
import { insertRow } from "../store/rows.ts";
import { pruneRows } from "../store/prune.ts";
import type { AuditEntryRow, Db } from "../store/schema.ts";

export type AuditAction =
  | `account.${"created" | "deleted" | "disabled" | "enabled" | "promoted" | "demoted" | "tier"}`
  | `account.${"email" | "reset_link" | "exported" | "password" | "traffic" | "log"}`
  | `account.${"token_secret" | "second_factor"}`
  | typeof EMAIL_ASKED
  | `account.${"limits" | "access_ended" | "lockout_ended"}`
  | "person.forgotten"
  | "sign_ups.switched"
  | "feedback.given"
  | "feedback.taken_back"
  | "decisions.read"
  | `list.${"downloaded" | "deleted"}`
  | "credits.granted"
  | `key.${"created" | "renamed" | "revoked"}`
  | "policy.changed"
  | `hook.${"created" | "secret" | "removed"}`
  | `session.${"started" | "delayed" | "ended" | "revoked"}`
  | `webhook.${"saved" | "secret" | "removed"}`
  | `lists.${"entry_saved" | "entry_forgotten" | "imported" | "fetched"}`;

/** Its detail is the address that the owner asks for. It goes with the account and with the person. */
export const EMAIL_ASKED = "account.email_asked";

/** With the e-mail addresses that the ids have now; null for an account that is gone. */
export interface ReadAuditRow extends AuditEntryRow {
  readonly actor_email: string | null;
  readonly account_email: string | null;
}

interface SoughtAudit {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly accountId?: string;
}

const TIME_DIGITS = 14;

export const AUDIT_PLACE = /^\d{14}[0-9a-f]{32}$/;

/** Append-only. Rules are checked by `test/contracts/account/audit-log.ts`. */
export class AuditLog {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first, of one account or of all; `next` is `after` of the page that follows, or null. */
  async page({ limit, after, accountId }: SoughtAudit) {
    let query = this.#db
      .selectFrom("audit_entries")
      .leftJoin("accounts as actor", "actor.id", "audit_entries.actor_id")
      .leftJoin("accounts as owner", "owner.id", "audit_entries.account_id")
      .select(["actor.email as actor_email", "owner.email as account_email"]) // first, as in `SessionStore.find`
      .selectAll("audit_entries")
      .orderBy("audit_entries.at_ms", "desc")
      .orderBy("audit_entries.id")
      .limit(limit + 1);
    if (accountId !== undefined) query = query.where("audit_entries.account_id", "=", accountId);
    if (after !== undefined) {
      const [atMs, id] = [Number(after.slice(0, TIME_DIGITS)), after.slice(TIME_DIGITS)];
      query = query.where((eb) =>
        eb.or([
          eb("audit_entries.at_ms", "<", atMs),
          eb.and([eb("audit_entries.at_ms", "=", atMs), eb("audit_entries.id", ">", id)]),
        ]),
      );
    }
    const rows: readonly ReadAuditRow[] = await query.execute();
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    const next =
      last === undefined ? null : String(last.at_ms).padStart(TIME_DIGITS, "0") + last.id;
    return { rows: shown, next };
  }

  prune(before: number): Promise<number> {
    return pruneRows(this.#db, { table: "audit_entries", key: ["id"], column: "at_ms", before });
  }
}

export const AUDIT_MS = 400 * DAY_MS;

const OPERATOR = "operator:";

export const SERVICE = "service";

export const VISITOR = "visitor";

export const COMMAND_LINE = "the command line";

/** `user`: the name of the system's user; characters that break a line are left out. */
export const operatorId = (user: string): string =>
  OPERATOR + user.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "").slice(0, 64);

export const operatorName = (actorId: string): string | undefined =>
  actorId.startsWith(OPERATOR) ? actorId.slice(OPERATOR.length) : undefined;

/** One change: who, what, from where. Never a secret, never a checked address. */
export interface AuditedChange {
  readonly action: AuditAction;
  /** Id of the account that did it; "operator:" and a system user's name for the command line; "visitor" for nobody known. */
  readonly actorId: string;
  readonly accountId: string;
  readonly clientAddress: string;
  readonly detail?: string | undefined;
}

export type Audit = (change: AuditedChange) => Promise<void>;

/** Writes one row of the audit log for a person or program. A service calls it after a change, not after a refusal. */
export type Note = (change: Omit<AuditedChange, "actorId" | "clientAddress">) => Promise<void>;

export const noteBy =
  (audit: Audit, doer: Pick<AuditedChange, "actorId" | "clientAddress">): Note =>
  (change) =>
    audit({ ...change, ...doer });

/** Each row is in the log, too, where there is one; without its detail, which may be an address. */
export const createAudit =
  (db: Db, ids: Ids, clock: Pick<Clock, "nowMs">, log?: Pick<Log, "info">): Audit =>
  async ({ action, actorId, accountId, clientAddress, detail = "" }) => {
    await insertRow(db, "audit_entries", {
      id: ids.hex32(),
      at_ms: clock.nowMs(),
      action,
      actor_id: actorId,
      account_id: accountId,
      detail: detail.slice(0, 300),
      client_address: clientAddress,
    });
    log?.info("audit.noted", { action, actor: actorId, account: accountId });
  };
