import { isoTime } from "../../core/calendar.ts";
import type { Account as StoredAccount } from "../../accounts/accounts-store.ts";
import { limitsJson } from "../../accounts/admission/tiers.ts";
import { operatorName, type ReadAuditRow, SERVICE, VISITOR } from "../../accounts/audit.ts";
import type { CreditEntryRow, SignInRow } from "../../store/schema.ts";

/** Records as the dashboard's API shows them: snake_case, ISO 8601, null for what is absent. */

export const shownAccount = (account: StoredAccount) => ({
  id: account.id,
  email: account.email,
  tier: account.tier,
  admin: account.isAdmin,
  counts_traffic: account.trafficSince > 0,
  second_factor: account.secondFactor !== undefined,
  logs_decisions: account.logsDecisions,
  created_at: isoTime(account.createdAtMs),
});

export const adminAccount = (account: StoredAccount) => ({
  ...shownAccount(account),
  credits: account.creditBalance,
  disabled: account.isDisabled,
  origin: account.origin,
  limits: limitsJson(account.limits),
});

export const shownCredit = (entry: CreditEntryRow) => ({
  amount: entry.amount,
  balance_after: entry.balance_after,
  reason: entry.reason,
  // Only the reference of a grant is shown; others are internal ids.
  reference: entry.reason === "grant" ? entry.reference : "",
  created_at: isoTime(entry.created_at_ms),
});

export const shownSession = (session: SignInRow, currentId: string) => ({
  id: session.id,
  current: session.id === currentId,
  created_at: isoTime(session.created_at_ms),
  last_seen_at: isoTime(session.last_seen_at_ms),
  client_address: session.client_address,
  user_agent: session.user_agent,
});

function nameOf(id: string, email: string | null): string {
  if (id === SERVICE) return "The service";
  if (id === VISITOR) return "A visitor";
  const user = operatorName(id);
  if (user !== undefined) return user === "" ? "The operator" : `The operator (${user})`;
  return email ?? "A deleted account";
}

export const shownAudit = (entry: ReadAuditRow) => ({
  id: entry.id,
  at: isoTime(entry.at_ms),
  action: entry.action,
  actor: nameOf(entry.actor_id, entry.actor_email),
  subject: nameOf(entry.account_id, entry.account_email),
  detail: entry.detail,
  client_address: entry.client_address,
});

export type AuditEntry = ReturnType<typeof shownAudit>;

/** What an account sees of its own log: not which administrator or operator it was, nor from where. */
export function ownAudit(entry: ReadAuditRow) {
  const shown = shownAudit(entry);
  if (entry.actor_id === entry.account_id || entry.actor_id === VISITOR) return shown;
  const isOperator = operatorName(entry.actor_id) !== undefined;
  const actor = isOperator ? "The operator" : "An administrator";
  return { ...shown, actor, client_address: "" };
}
