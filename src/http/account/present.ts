import { isoTime } from "../../core/calendar.ts";
import type { Account as StoredAccount } from "../../accounts/accounts-store.ts";
import { operatorName, type ReadAuditEntry, SERVICE, VISITOR } from "../../accounts/audit.ts";
import type { CreditEntry as StoredEntry } from "../../accounts/credits.ts";
import type { SignIn as StoredSignIn } from "../../accounts/sign-in/sign-ins.ts";
import type { Account, AdminAccount, AuditEntry, CreditEntry, SignIn } from "./shapes.ts";

/** Records as the dashboard's API shows them: snake_case, ISO 8601, null for what is absent. */

export const shownAccount = (account: StoredAccount): Account => ({
  id: account.id,
  email: account.email,
  tier: account.tier,
  admin: account.isAdmin,
  counts_traffic: account.trafficSince > 0,
  logs_decisions: account.logsDecisions,
  created_at: isoTime(account.createdAtMs),
});

export const adminAccount = (account: StoredAccount): AdminAccount => ({
  ...shownAccount(account),
  credits: account.creditBalance,
  disabled: account.isDisabled,
  origin: account.origin,
});

export const shownCredit = (entry: StoredEntry): CreditEntry => ({
  amount: entry.amount,
  balance_after: entry.balanceAfter,
  reason: entry.reason,
  // Only the reference of a grant is shown; others are internal ids.
  reference: entry.reason === "grant" ? entry.reference : "",
  created_at: isoTime(entry.createdAtMs),
});

export const shownSession = (session: StoredSignIn, currentId: string): SignIn => ({
  id: session.id,
  current: session.id === currentId,
  created_at: isoTime(session.createdAtMs),
  last_seen_at: isoTime(session.lastSeenAtMs),
  client_address: session.clientAddress,
  user_agent: session.userAgent,
});

function nameOf(id: string, email: string | undefined): string {
  if (id === SERVICE) return "The service";
  if (id === VISITOR) return "A visitor";
  const user = operatorName(id);
  if (user !== undefined) return user === "" ? "The operator" : `The operator (${user})`;
  return email ?? "A deleted account";
}

export const shownAudit = (entry: ReadAuditEntry): AuditEntry => ({
  id: entry.id,
  at: isoTime(entry.atMs),
  action: entry.action,
  actor: nameOf(entry.actorId, entry.actorEmail),
  subject: nameOf(entry.accountId, entry.accountEmail),
  detail: entry.detail,
  client_address: entry.clientAddress,
});

/** What an account sees of its own log: not which administrator or operator it was, nor from where. */
export function ownAudit(entry: ReadAuditEntry): AuditEntry {
  const shown = shownAudit(entry);
  if (entry.actorId === entry.accountId || entry.actorId === VISITOR) return shown;
  const isOperator = operatorName(entry.actorId) !== undefined;
  const actor = isOperator ? "The operator" : "An administrator";
  return { ...shown, actor, client_address: "" };
}
