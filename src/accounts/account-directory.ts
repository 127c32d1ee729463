import type { Account, AccountTier } from "./account.ts";

export interface FoundAccounts {
  /** In the order of their e-mail addresses. */
  readonly accounts: readonly Account[];
  /** How many match in all. */
  readonly total: number;
}

/** States that an administrator narrows accounts by. */
export const ACCOUNT_STATES = ["admin", "disabled", "signed_up"] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** What is looked for; absent asks nothing. */
export interface SoughtAccounts {
  /** In the e-mail address or the id, in any case. */
  readonly text?: string;
  readonly tier?: AccountTier;
  readonly state?: AccountState;
  /** How many of those that match are left out before the first. */
  readonly skip?: number;
}

/** Accounts as an administrator looks for them. Rules: `test/contracts/account/account-directory.ts`. */
export interface AccountDirectory {
  /** At most `limit` of those that match. */
  search(sought: SoughtAccounts, limit: number): Promise<FoundAccounts>;
  /** Deletes the account and everything kept under it but the audit log. False when there is none. */
  erase(accountId: string): Promise<boolean>;
}
