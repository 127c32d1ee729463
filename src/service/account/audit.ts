import type { AuditAction, AuditLog } from "../../ports/audit-log.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";

/** How long entries are kept. */
export const AUDIT_MS = 400 * 86_400_000;

/** The actor of what the command line does. */
export const OPERATOR = "operator";

const DETAIL_MAX = 300;

export interface Change {
  readonly action: AuditAction;
  readonly actorId: string;
  readonly accountId: string;
  readonly clientAddress: string;
  readonly detail?: string;
}

/** Writes down who changed what, when and from where. */
export type Audit = (change: Change) => Promise<void>;

export interface AuditDeps {
  readonly log: Pick<AuditLog, "append">;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

export function createAudit({ log, ids, clock }: AuditDeps): Audit {
  return (change) =>
    log.append({
      id: ids.hex32(),
      atMs: clock.nowMs(),
      action: change.action,
      actorId: change.actorId,
      accountId: change.accountId,
      clientAddress: change.clientAddress,
      detail: (change.detail ?? "").slice(0, DETAIL_MAX),
    });
}
