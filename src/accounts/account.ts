/** The plans an account can have; what they allow is the tier table of the service. */
export const ACCOUNT_TIERS = ["free", "starter", "pro"] as const;
export type AccountTier = (typeof ACCOUNT_TIERS)[number];

export interface Account {
  readonly id: string;
  /** Lower case; unique. */
  readonly email: string;
  readonly tier: AccountTier;
  /** Who made it: accounts made by sign-up start with stricter limits. */
  readonly origin: "operator" | "signup";
  readonly isAdmin: boolean;
  readonly isDisabled: boolean;
  /** Above 0: its traffic is counted. Grows each time it is switched on; negative while it is off. */
  readonly trafficSince: number;
  /** Sealed; absent: no token was made for it yet. */
  readonly tokenSecret?: string;
  /** The sum of its credit entries. */
  readonly creditBalance: number;
  readonly createdAtMs: number;
}

/** Accounts begin with their traffic counted. */
export const FIRST_TRAFFIC = 1;

export interface NewAccount extends Pick<
  Account,
  "id" | "email" | "tier" | "origin" | "isAdmin" | "createdAtMs"
> {
  /** PHC string; absent: nobody can log in. */
  readonly passwordHash?: string;
}

/** What may change in an account; what is absent stays. */
export interface AccountChange {
  readonly tier?: AccountTier;
  readonly isAdmin?: boolean;
  readonly isDisabled?: boolean;
  readonly trafficSince?: number;
  readonly passwordHash?: string;
  readonly tokenSecret?: string;
}

/** Who may use the service. Rules are checked by `test/contracts/account/accounts.ts`. */
export interface Accounts {
  /** False, with nothing changed, when the e-mail address is taken. */
  create(account: NewAccount): Promise<boolean>;
  /** By id, or by e-mail address in lower case. */
  find(idOrEmail: string): Promise<Account | undefined>;
  /** At most `limit` accounts in the order of their e-mail addresses, those after `afterEmail`. */
  list(afterEmail: string, limit: number): Promise<readonly Account[]>;
  /** `nowMs` is noted where it matters. False when there is no such account. */
  change(id: string, change: AccountChange, nowMs: number): Promise<boolean>;
  /** Keeps the secret unless there is one; gives what stands. Undefined when there is no such account. */
  agreeTokenSecret(id: string, sealed: string): Promise<string | undefined>;
  /** Undefined when there is no such account, or no password. */
  passwordHash(id: string): Promise<string | undefined>;
}
