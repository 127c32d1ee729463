import { isoTime } from "../../core/calendar.ts";
import type { Account } from "../../ports/accounts.ts";
import type { ReadAuditEntry } from "../../ports/audit-log.ts";
import type { CreditEntry } from "../../ports/credits.ts";
import type { ApiKey } from "../../ports/keys.ts";
import type { LoginSession } from "../../ports/login-sessions.ts";
import { OPERATOR } from "../../service/account/audit.ts";

/** One record of an answer. */
type Shown = Readonly<Record<string, string | number | boolean | null>>;

/** Records as the dashboard's API shows them: snake_case, ISO 8601, null for what is absent. */

const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : isoTime(ms);

export const shownAccount = ({ id, email, tier, isAdmin, createdAtMs }: Account): Shown => ({
  id,
  email,
  tier,
  admin: isAdmin,
  created_at: isoTime(createdAtMs),
});

export const adminAccount = (account: Account): Shown => ({
  ...shownAccount(account),
  credits: account.creditBalance,
  disabled: account.isDisabled,
  origin: account.origin,
});

export const shownKey = (key: ApiKey): Shown => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last_four: key.lastFour,
  created_at: isoTime(key.createdAtMs),
  last_used_at: timeOrNull(key.lastUsedAtMs),
  revoked_at: timeOrNull(key.revokedAtMs),
});

export const shownCredit = (entry: CreditEntry): Shown => ({
  amount: entry.amount,
  balance_after: entry.balanceAfter,
  reason: entry.reason,
  // The reference of anything but a grant is an internal id.
  reference: entry.reason === "grant" ? entry.reference : "",
  created_at: isoTime(entry.createdAtMs),
});

export const shownSession = (session: LoginSession, currentId: string): Shown => ({
  id: session.id,
  current: session.id === currentId,
  created_at: isoTime(session.createdAtMs),
  last_seen_at: isoTime(session.lastSeenAtMs),
  client_address: session.clientAddress,
  user_agent: session.userAgent,
});

const nameOf = (id: string, email: string | undefined): string =>
  id === OPERATOR ? "The operator" : (email ?? "A deleted account");

export const shownAudit = (entry: ReadAuditEntry): Shown => ({
  id: entry.id,
  at: isoTime(entry.atMs),
  action: entry.action,
  actor: nameOf(entry.actorId, entry.actorEmail),
  subject: nameOf(entry.accountId, entry.accountEmail),
  detail: entry.detail,
  client_address: entry.clientAddress,
});

/** What an account sees of its own log: not which administrator it was, nor from where. */
export const ownAudit = (entry: ReadAuditEntry): Shown =>
  entry.actorId === entry.accountId
    ? shownAudit(entry)
    : { ...shownAudit(entry), actor: "An administrator", client_address: "" };
