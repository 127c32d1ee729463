/** One line of an account's ledger. */
export interface CreditEntry {
  /** 1 for the account's first entry; no gaps. */
  readonly sequence: number;
  /** Positive: came in; negative: went out. Never 0. */
  readonly amount: number;
  readonly balanceAfter: number;
  readonly reason: "grant" | "charge" | "refund";
  /** The words given with a grant; else the id of the charge. */
  readonly reference: string;
  readonly createdAtMs: number;
}

export interface CreditGrant {
  readonly accountId: string;
  /** A whole number that is not 0; negative to take back. */
  readonly amount: number;
  readonly reference: string;
  readonly nowMs: number;
}

export type GrantAnswer =
  | { readonly kind: "granted"; readonly balance: number }
  /** The balance would fall below 0, or rise above what a number holds exactly. Nothing changed. */
  | { readonly kind: "out_of_range"; readonly balance: number }
  | { readonly kind: "no_account" };

/** An append-only ledger for each account; its sum is the balance. Rules: `test/contracts/account/accounts.ts`. */
export interface Credits {
  grant(grant: CreditGrant): Promise<GrantAnswer>;
  /** The newest `limit` entries, newest first. */
  entries(accountId: string, limit: number): Promise<readonly CreditEntry[]>;
}
