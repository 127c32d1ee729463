import type { Account } from "../admission/accounts.ts";

export interface FoundAccounts {
  /** In the order of their e-mail addresses. */
  readonly accounts: readonly Account[];
  /** How many match in all. */
  readonly total: number;
}

/** Accounts as an administrator looks for them. Rules: `test/contracts/account/account-directory.ts`. */
export interface AccountDirectory {
  /** Whose e-mail address or id holds `text`, in any case; all of them for "". At most `limit`. */
  search(text: string, limit: number): Promise<FoundAccounts>;
  /** Deletes the account and everything kept under it but the audit log. False when there is none. */
  erase(accountId: string): Promise<boolean>;
}
