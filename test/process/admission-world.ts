import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openStores, type Stores } from "../contracts/stores.ts";
import { memoryNotices, type Notices } from "../../src/store/notices.ts";
import { Accounts } from "../../src/accounts/accounts-store.ts";
import { Keys } from "../../src/accounts/key-store.ts";
import { hashApiKey, makeApiKey } from "../../src/accounts/key-text.ts";
import {
  type Admission,
  createAdmission,
  type Admitted,
} from "../../src/accounts/admission/admission.ts";
import { Refusal } from "../../src/base/refusals.ts";
import {
  DEFAULT_TIERS,
  type Tier,
  type TierName,
  type Tiers,
} from "../../src/accounts/admission/tiers.ts";
import type { Credentials } from "../../src/accounts/admission/caller.ts";
import { memoryRateCounter } from "../../src/accounts/admission/counters.ts";

export const ADDRESS = "192.0.2.1";
export const NOBODY: Credentials = { apiKey: [], authorization: [] };
export const withKey = (key: string): Credentials => ({ apiKey: [key], authorization: [] });

export interface World extends Stores {
  readonly notices: Notices;
  readonly admission: Admission;
  readonly accounts: Accounts;
  readonly keys: Keys;
  /** How often the store was asked for a key. */
  readonly questions: () => number;
  /** A new valid key. */
  readonly newKey: (id?: string, accountId?: string) => Promise<string>;
  readonly enter: (credentials?: Credentials, address?: string) => Promise<Admitted>;
  /** Enters and takes one unit. */
  readonly check: (credentials?: Credentials, address?: string) => Promise<"plan" | "credits">;
}

export function tiersWith(name: TierName, change: Partial<Tier>): Tiers {
  return { ...DEFAULT_TIERS, [name]: { ...DEFAULT_TIERS[name], ...change } };
}

export async function openWorld(t: TestContext, tiers: Tiers = DEFAULT_TIERS): Promise<World> {
  const stores = await openStores(t);
  const notices = memoryNotices();
  const { sql, clock, counter, charges, ids } = stores;
  const keys = new Keys(sql.db);
  let questions = 0;
  const counted: Pick<Keys, "holder"> = {
    holder: (hash) => {
      questions += 1;
      return keys.holder(hash);
    },
  };
  const admission = createAdmission({
    keys: counted,
    rates: memoryRateCounter(),
    quotas: counter,
    charges,
    clock,
    tiers,
    notices,
  });
  const enter = async (credentials = NOBODY, address = ADDRESS): Promise<Admitted> =>
    admission.enter(credentials, address);
  return {
    ...stores,
    admission,
    notices,
    keys,
    accounts: new Accounts(sql.db),
    questions: () => questions,
    newKey: async (id = "k1", accountId = "a1") => {
      const key = makeApiKey(ids);
      const shown = { name: "n", prefix: "", last_four: "", created_at_ms: clock.nowMs() };
      const none = { last_used_at_ms: null, revoked_at_ms: null, origins: null, page: null };
      const key_hash = hashApiKey(key);
      await keys.create({ id, account_id: accountId, key_hash, ...shown, ...none }, 100);
      return key;
    },
    enter,
    check: async (credentials, address) => {
      const admitted = await enter(credentials, address);
      if (admitted.refusal !== undefined) throw admitted.refusal;
      return (await admission.charge(admitted, 1)).paidBy;
    },
  };
}

export const refusal = (code: string, status: number, message: string) => (error: unknown) => {
  assert.ok(error instanceof Refusal);
  assert.deepEqual([error.code, error.status, error.message], [code, status, message]);
  return true;
};
export const RATE = (seconds: number) =>
  refusal("rate_exceeded", 429, `Rate limit exceeded. Try again in ${String(seconds)} seconds.`);
export const DAILY = refusal("quota_exceeded", 429, "Daily quota exceeded.");
export const INVALID = refusal("invalid_api_key", 401, "Invalid API key.");
