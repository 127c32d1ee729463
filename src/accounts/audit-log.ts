/** What may be done to an account, as the audit log names it. */
export type AuditAction =
  | "account.created"
  | "account.deleted"
  | "account.disabled"
  | "account.enabled"
  | "account.promoted"
  | "account.demoted"
  | "account.tier"
  | "account.password"
  | "account.traffic"
  | "account.token_secret"
  | "credits.granted"
  | "key.created"
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
  /** Id of the account it was done to; "service" for what concerns all. */
  readonly accountId: string;
  /** A few words: the new plan, the key's name. May be "". */
  readonly detail: string;
  /** "the command line" where there is none. */
  readonly clientAddress: string;
}

/** With the e-mail addresses that the ids have now; absent for an account that is gone. */
export interface ReadAuditEntry extends AuditEntry {
  readonly actorEmail?: string;
  readonly accountEmail?: string;
}

/** Append-only. Rules are checked by `test/contracts/account/audit-log.ts`. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  ofAccount(accountId: string, limit: number): Promise<readonly ReadAuditEntry[]>;
  /** Of all accounts, newest first. */
  newest(limit: number): Promise<readonly ReadAuditEntry[]>;
  /** Forgets entries made before then; returns how many. */
  prune(beforeMs: number): Promise<number>;
}
