import { DAY_MS } from "../core/calendar.ts";
import type { AuditAction, AuditLog } from "./audit-log.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";

/** How long entries are kept. */
export const AUDIT_MS = 400 * DAY_MS;

/** The actor of what the command line does, with the name of the system's user: "operator:ada". */
const OPERATOR = "operator:";

/** What is changed for the whole service belongs to no account. */
export const SERVICE = "service";

/** The actor of a sign-in that failed. */
export const VISITOR = "visitor";

/** From where the command line's changes come. */
export const COMMAND_LINE = "the command line";

const USER_MAX = 64;

/** `user`: the name of the system's user; characters that break a line are left out. */
export const operatorId = (user: string): string =>
  OPERATOR + user.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "").slice(0, USER_MAX);

/** The system's user of an operator's actor id; undefined for accounts. */
export const operatorName = (actorId: string): string | undefined =>
  actorId.startsWith(OPERATOR) ? actorId.slice(OPERATOR.length) : undefined;

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
