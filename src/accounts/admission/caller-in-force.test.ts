import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Account } from "../accounts-store.ts";
import type { ApiKey } from "../keys.ts";
import { type Caller, callerInForce } from "./caller.ts";

const key: ApiKey = {
  id: "k1",
  account_id: "a1",
  name: "",
  prefix: "gp_live_ab",
  last_four: "wxyz",
  created_at_ms: 0,
  last_used_at_ms: null,
  revoked_at_ms: null,
  origins: null,
  page: null,
};
const account: Account = {
  id: "a1",
  email: "ada@x.example",
  tier: "free",
  origin: "operator",
  isAdmin: false,
  isDisabled: false,
  trafficSince: 1,
  logsDecisions: false,
  creditBalance: 0,
  createdAtMs: 0,
};
const holder: Caller = {
  owner: { kind: "account", accountId: "a1" },
  tier: "free",
  clientAddress: "192.0.2.1",
  keyId: "k1",
};
const stranger: Caller = {
  owner: { kind: "bucket", bucket: "192.0.2.1" },
  tier: "anonymous",
  clientAddress: "192.0.2.1",
};

/** Name, caller, the account and its keys as they are now, and whether the caller may stay. */
const cases: readonly (readonly [
  string,
  Caller,
  Account | undefined,
  readonly ApiKey[],
  boolean,
])[] = [
  ["a valid key", holder, account, [key], true],
  ["a revoked key", holder, account, [{ ...key, revoked_at_ms: 1 }], false],
  ["another key of the account", holder, account, [{ ...key, id: "k2" }], false],
  ["a disabled account", holder, { ...account, isDisabled: true }, [key], false],
  ["an account that is gone", holder, undefined, [], false],
  ["an unknown caller", stranger, undefined, [], true],
];

for (const [name, caller, found, keys, want] of cases) {
  test(`whether a caller may stay: ${name}`, async () => {
    const isInForce = callerInForce({
      accounts: { find: () => Promise.resolve(found) },
      keys: { list: () => Promise.resolve(keys) },
    });
    assert.equal(await isInForce(caller), want);
  });
}
