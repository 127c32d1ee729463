import type { Account } from "../account.ts";

/** What a page must not choose: it is fixed with its publishable key. */
export interface PageTerms {
  readonly policy: string;
  /** The label of its form. */
  readonly form?: string;
  /** Decisions of a UTC day that may cost a unit. */
  readonly daily: number;
}

export const PAGE_DAILY = 2_000;

/** An API key as it is shown after its making: never the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The first characters of the key. */
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAtMs: number;
  /** To the minute or so; absent: never used. */
  readonly lastUsedAtMs?: number;
  /** Absent: it is active. */
  readonly revokedAtMs?: number;
  /** Of a publishable key: where it may be used from. Absent: the key is a secret one. */
  readonly origins?: readonly string[];
  /** Of a publishable key. */
  readonly page?: PageTerms;
}

export interface NewApiKey extends Omit<ApiKey, "lastUsedAtMs" | "revokedAtMs"> {
  /** SHA-256 of the whole key, lower-case hex. */
  readonly hash: string;
}

/** The account behind an active key. */
export interface KeyHolder {
  readonly keyId: string;
  readonly account: Account;
  /** See `ApiKey`; so is `page`. */
  readonly origins?: readonly string[];
  readonly page?: PageTerms;
}

/** Keys of accounts, found by their hash. Rules are checked by `test/contracts/account/accounts.ts`. */
export interface Keys {
  /**
   * Nothing is changed if the account already has `limit` active keys, or no policy of the page's name in force. Of
   * revoked keys the newest 100 stay.
   */
  create(key: NewApiKey, limit: number): Promise<"created" | "full" | "no_policy">;
  /** Oldest first, revoked ones included. */
  list(accountId: string): Promise<readonly ApiKey[]>;
  /** By its id, revoked or not. */
  find(id: string): Promise<ApiKey | undefined>;
  /** Undefined for an unknown and for a revoked key. */
  holder(hash: string): Promise<KeyHolder | undefined>;
  /** The first revocation stands. False when there is no such key. */
  revoke(id: string, nowMs: number): Promise<boolean>;
  /** Replaces the origins of a publishable key. False when there is no such one. */
  setOrigins(id: string, origins: readonly string[]): Promise<boolean>;
  /** Notes that the keys were used; a time before the one known is dropped. */
  touch(ids: readonly string[], nowMs: number): Promise<void>;
}
