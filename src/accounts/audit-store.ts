import type { Kysely } from "kysely";
import type { AuditAction, AuditLog, ReadAuditEntry } from "./audit-log.ts";
import { pruneRows } from "../store/prune-rows.ts";
import type { Database } from "../store/schema.ts";
import type { AuditEntryRow } from "../store/tables/dashboard.ts";

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

export function sqlAuditLog(db: Kysely<Database>): AuditLog {
  const newestFirst = (limit: number) =>
    db
      .selectFrom("audit_entries")
      .leftJoin("accounts as actor", "actor.id", "audit_entries.actor_id")
      .leftJoin("accounts as owner", "owner.id", "audit_entries.account_id")
      .select(["actor.email as actor_email", "owner.email as account_email"]) // first, as in `find` of session-store.ts
      .selectAll("audit_entries")
      .orderBy("audit_entries.at_ms", "desc")
      .orderBy("audit_entries.id")
      .limit(limit);
  return {
    async append(entry) {
      const row = {
        id: entry.id,
        at_ms: entry.atMs,
        action: entry.action,
        actor_id: entry.actorId,
        account_id: entry.accountId,
        detail: entry.detail,
        client_address: entry.clientAddress,
      };
      await db.insertInto("audit_entries").values(row).execute();
    },
    async ofAccount(accountId, limit) {
      const ofIt = newestFirst(limit).where("audit_entries.account_id", "=", accountId);
      return (await ofIt.execute()).map(auditEntry);
    },
    async newest(limit) {
      return (await newestFirst(limit).execute()).map(auditEntry);
    },
    prune: (beforeMs) =>
      pruneRows(db, { table: "audit_entries", key: ["id"], column: "at_ms", before: beforeMs }),
  };
}
