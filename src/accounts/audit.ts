import type { Kysely } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { DAY_MS } from "../core/calendar.ts";
import { insertRow, pruneRows } from "../store/rows.ts";
import type { AuditEntryRow, Database } from "../store/schema.ts";

type AuditAction =
  | "account.created"
  | "account.deleted"
  | "account.disabled"
  | "account.enabled"
  | "account.promoted"
  | "account.demoted"
  | "account.tier"
  | "account.email"
  | "account.reset_link"
  | "account.exported"
  | "account.password"
  | "account.traffic"
  | "account.log"
  | "feedback.answered"
  | "account.token_secret"
  | "credits.granted"
  | "key.created"
  | "key.renamed"
  | "key.revoked"
  | "key.origins"
  | "policy.changed"
  | "hook.created"
  | "hook.secret"
  | "hook.removed"
  | "session.started"
  | "session.delayed"
  | "session.ended"
  | "session.revoked"
  | "webhook.saved"
  | "webhook.secret"
  | "webhook.removed"
  | "lists.entry_saved"
  | "lists.entry_forgotten"
  | "lists.imported"
  | "lists.fetched";

/** One change: who, what, when, from where. Never a secret, never a checked address. */
export interface AuditEntry {
  readonly id: string;
  readonly atMs: number;
  readonly action: AuditAction;
  /** Id of the account that did it; "operator:" and a system user's name for the command line; "visitor" for nobody known. */
  readonly actorId: string;
  readonly accountId: string;
  readonly detail: string;
  readonly clientAddress: string;
}

/** With the e-mail addresses that the ids have now; absent for an account that is gone. */
export interface ReadAuditEntry extends AuditEntry {
  readonly actorEmail?: string;
  readonly accountEmail?: string;
}

interface JoinedRow extends AuditEntryRow {
  actor_email: string | null;
  account_email: string | null;
}

function auditEntry(row: JoinedRow): ReadAuditEntry {
  return {
    id: row.id,
    atMs: row.at_ms,
    action: row.action as AuditAction, // only `append` writes here
    actorId: row.actor_id,
    accountId: row.account_id,
    detail: row.detail,
    clientAddress: row.client_address,
    ...(row.actor_email !== null && { actorEmail: row.actor_email }),
    ...(row.account_email !== null && { accountEmail: row.account_email }),
  };
}

/** Append-only. Rules are checked by `test/contracts/account/audit-log.ts`. */
export class AuditLog {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  append(entry: AuditEntry): Promise<void> {
    return insertRow(this.#db, "audit_entries", {
      id: entry.id,
      at_ms: entry.atMs,
      action: entry.action,
      actor_id: entry.actorId,
      account_id: entry.accountId,
      detail: entry.detail,
      client_address: entry.clientAddress,
    });
  }

  #newestFirst(limit: number) {
    return this.#db
      .selectFrom("audit_entries")
      .leftJoin("accounts as actor", "actor.id", "audit_entries.actor_id")
      .leftJoin("accounts as owner", "owner.id", "audit_entries.account_id")
      .select(["actor.email as actor_email", "owner.email as account_email"]) // first, as in `SessionStore.find`
      .selectAll("audit_entries")
      .orderBy("audit_entries.at_ms", "desc")
      .orderBy("audit_entries.id")
      .limit(limit);
  }

  async ofAccount(accountId: string, limit: number): Promise<readonly ReadAuditEntry[]> {
    const ofIt = this.#newestFirst(limit).where("audit_entries.account_id", "=", accountId);
    return (await ofIt.execute()).map(auditEntry);
  }

  async newest(limit: number): Promise<readonly ReadAuditEntry[]> {
    return (await this.#newestFirst(limit).execute()).map(auditEntry);
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

const USER_MAX = 64;

/** `user`: the name of the system's user; characters that break a line are left out. */
export const operatorId = (user: string): string =>
  OPERATOR + user.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "").slice(0, USER_MAX);

export const operatorName = (actorId: string): string | undefined =>
  actorId.startsWith(OPERATOR) ? actorId.slice(OPERATOR.length) : undefined;

const DETAIL_MAX = 300;

export interface Change extends Omit<AuditEntry, "id" | "atMs" | "detail"> {
  readonly detail?: string;
}

export type Audit = (change: Change) => Promise<void>;

interface AuditDeps {
  readonly log: Pick<AuditLog, "append">;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

export function createAudit({ log, ids, clock }: AuditDeps): Audit {
  return ({ detail = "", ...change }) =>
    log.append({
      id: ids.hex32(),
      atMs: clock.nowMs(),
      ...change,
      detail: detail.slice(0, DETAIL_MAX),
    });
}
