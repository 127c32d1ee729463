import { isoTime } from "../../core/calendar.ts";
import type { Account } from "../../ports/admission/accounts.ts";
import type { ReadAuditEntry } from "../../ports/account/audit-log.ts";
import type { CreditEntry } from "../../ports/admission/credits.ts";
import type { SignIn } from "../../ports/account/sign-ins.ts";
import { operatorName, SERVICE } from "../../service/account/audit.ts";

/** One record of an answer. */
type Shown = Readonly<Record<string, string | number | boolean | null>>;

/** Records as the dashboard's API shows them: snake_case, ISO 8601, null for what is absent. */

export const shownAccount = (account: Account): Shown => ({
  id: account.id,
  email: account.email,
  tier: account.tier,
  admin: account.isAdmin,
  counts_spellings: account.countsSpellings,
  created_at: isoTime(account.createdAtMs),
});

export const adminAccount = (account: Account): Shown => ({
  ...shownAccount(account),
  credits: account.creditBalance,
  disabled: account.isDisabled,
  origin: account.origin,
});

export const shownCredit = (entry: CreditEntry): Shown => ({
  amount: entry.amount,
  balance_after: entry.balanceAfter,
  reason: entry.reason,
  // The reference of anything but a grant is an internal id.
  reference: entry.reason === "grant" ? entry.reference : "",
  created_at: isoTime(entry.createdAtMs),
});

export const shownSession = (session: SignIn, currentId: string): Shown => ({
  id: session.id,
  current: session.id === currentId,
  created_at: isoTime(session.createdAtMs),
  last_seen_at: isoTime(session.lastSeenAtMs),
  client_address: session.clientAddress,
  user_agent: session.userAgent,
});

function nameOf(id: string, email: string | undefined): string {
  if (id === SERVICE) return "The service";
  const user = operatorName(id);
  if (user !== undefined) return user === "" ? "The operator" : `The operator (${user})`;
  return email ?? "A deleted account";
}

export const shownAudit = (entry: ReadAuditEntry): Shown => ({
  id: entry.id,
  at: isoTime(entry.atMs),
  action: entry.action,
  actor: nameOf(entry.actorId, entry.actorEmail),
  subject: nameOf(entry.accountId, entry.accountEmail),
  detail: entry.detail,
  client_address: entry.clientAddress,
});

/** What an account sees of its own log: not which administrator or operator it was, nor from where. */
export function ownAudit(entry: ReadAuditEntry): Shown {
  const shown = shownAudit(entry);
  if (entry.actorId === entry.accountId) return shown;
  const isOperator = operatorName(entry.actorId) !== undefined;
  const actor = isOperator ? "The operator" : "An administrator";
  return { ...shown, actor, client_address: "" };
}
