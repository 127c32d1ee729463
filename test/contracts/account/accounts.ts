import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kysely } from "kysely";
import type { Accounts, NewAccount } from "../../../src/accounts/accounts-store.ts";
import { type Credits, moveCreditsIn } from "../../../src/accounts/credits.ts";
import type { ApiKeyRow, Database } from "../../../src/store/schema.ts";
import type { Keys } from "../../../src/accounts/key-store.ts";
import { inTransaction } from "../../../src/store/transaction.ts";
import type { Make } from "../contract.ts";

export interface AccountsFixture {
  readonly db: Kysely<Database>;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly credits: Credits;
}

const NOW_MS = Date.UTC(2026, 10, 20, 12);

const account = (id: string, more: Partial<NewAccount> = {}): NewAccount => ({
  id,
  email: `${id}@gatepost.example`,
  tier: "free",
  origin: "operator",
  admin: 0,
  created_at_ms: NOW_MS,
  ...more,
});

const key = (id: string, more: Partial<ApiKeyRow> = {}): ApiKeyRow => ({
  id,
  account_id: "a1",
  name: "a name",
  key_hash: `hash of ${id}`,
  prefix: "gp_live_AbCd",
  last_four: "wxyz",
  created_at_ms: NOW_MS,
  last_used_at_ms: null,
  revoked_at_ms: null,
  origins: null,
  page: null,
  ...more,
});

/** Accounts, their keys and their credits, which reference each other. */
export function accountsContract(name: string, make: Make<AccountsFixture>): void {
  const rule = (sentence: string, check: (fixture: AccountsFixture) => Promise<void>): void => {
    test(`${name}: ${sentence}`, async (t) => check(await make(t)));
  };

  rule("a second factor takes the place of the one that was looked at", async ({ accounts }) => {
    await accounts.create(account("a1"));
    assert.equal(await accounts.replaceSecondFactor("a1", "other", "new"), false);
    assert.equal(await accounts.replaceSecondFactor("a1", null, "first"), true);
    const both = ["second", "third"].map((is) => accounts.replaceSecondFactor("a1", "first", is));
    assert.equal((await Promise.all(both)).filter(Boolean).length, 1);
    await accounts.change("a1", { second_factor: null });
    assert.equal((await accounts.find("a1"))?.secondFactor, undefined);
  });

  rule("an account is found by id and by e-mail address", async ({ accounts }) => {
    const made = await accounts.create(account("a1", { admin: 1, origin: "signup" }));
    const want = {
      id: "a1",
      email: "a1@gatepost.example",
      tier: "free",
      origin: "signup",
      isAdmin: true,
      isDisabled: false,
      trafficSince: 1,
      logsDecisions: false,
      creditBalance: 0,
      createdAtMs: NOW_MS,
    };
    assert.deepEqual(made, want);
    assert.deepEqual(await accounts.find("a1"), want);
    assert.deepEqual(await accounts.find("a1@gatepost.example"), want);
    assert.equal(await accounts.find("a2"), undefined);
    assert.equal(await accounts.find("' or 1=1 --"), undefined);
  });

  rule("an e-mail address is taken once, also by parallel requests", async ({ accounts }) => {
    const email = "same@gatepost.example";
    const made = await Promise.all(
      ["a1", "a2", "a3"].map((id) => accounts.create(account(id, { email }))),
    );
    assert.equal(made.filter(Boolean).length, 1);
  });

  rule("a change keeps all other fields", async ({ accounts }) => {
    await accounts.create(account("a1"));
    assert.equal(await accounts.change("a1", { tier: "pro" }), true);
    assert.equal(await accounts.change("a1", { disabled_at_ms: NOW_MS }), true);
    assert.equal(await accounts.change("a1", { traffic_since: 0, decision_log: 1 }), true);
    assert.equal(await accounts.change("a1", { password_hash: "$phc" }), true);
    const found = await accounts.find("a1");
    const states = [found?.tier, found?.isDisabled, found?.trafficSince, found?.logsDecisions];
    assert.deepEqual(states, ["pro", true, 0, true]);
    assert.equal(await accounts.passwordHash("a1"), "$phc");
    await accounts.change("a1", { disabled_at_ms: null });
    assert.equal((await accounts.find("a1"))?.isDisabled, false);
    assert.equal(await accounts.change("nobody", { tier: "pro" }), false);
    assert.equal(await accounts.passwordHash("nobody"), undefined);
  });

  rule("accounts are listed by e-mail address, a page at a time", async ({ accounts }) => {
    for (const id of ["c", "a", "b"]) await accounts.create(account(id));
    const ids = async (after: string): Promise<string[]> =>
      (await accounts.list(after, 2)).map(({ id }) => id);
    assert.deepEqual(await ids(""), ["a", "b"]);
    assert.deepEqual(await ids("b@gatepost.example"), ["c"]);
    assert.deepEqual(await ids("c@gatepost.example"), []);
  });

  rule("a key leads to its account until it is revoked", async ({ accounts, keys }) => {
    await accounts.create(account("a1"));
    assert.equal(await keys.create(key("k1"), 10), "created");
    const holder = await keys.holder("hash of k1");
    assert.deepEqual([holder?.keyId, holder?.account.email], ["k1", "a1@gatepost.example"]);
    assert.equal(await keys.revoke("k1", NOW_MS + 5), true);
    assert.equal(await keys.revoke("k1", NOW_MS + 9), true);
    assert.equal(await keys.holder("hash of k1"), undefined);
    assert.equal(await keys.holder("hash of nothing"), undefined);
    assert.equal(await keys.revoke("nothing", NOW_MS), false);
    assert.equal((await keys.list("a1"))[0]?.revoked_at_ms, NOW_MS + 5);
    assert.deepEqual(await keys.find("k1"), (await keys.list("a1"))[0], "revoked ones are found");
    assert.equal(await keys.find("nothing"), undefined);
  });

  rule("of revoked keys the newest hundred stay", async ({ accounts, keys }) => {
    for (const id of ["a1", "a2"]) await accounts.create(account(id));
    await keys.create(key("other", { account_id: "a2" }), 10);
    await keys.revoke("other", NOW_MS);
    await keys.create(key("in force"), 10);
    for (let n = 0; n < 103; n += 1) {
      await keys.create(key(`k${String(n)}`, { created_at_ms: NOW_MS + n }), 10);
      await keys.revoke(`k${String(n)}`, NOW_MS + n);
    }
    await keys.create(key("last", { created_at_ms: NOW_MS + 200 }), 10);
    const listed = (await keys.list("a1")).map(({ id }) => id);
    assert.deepEqual(
      [listed.length, listed.includes("k2"), listed.includes("k3")],
      [102, false, true],
    );
    assert.equal(listed.includes("in force"), true);
    assert.equal((await keys.list("a2")).length, 1);
  });

  rule("keys are listed oldest first, without their hashes", async ({ accounts, keys }) => {
    await accounts.create(account("a1"));
    await keys.create(key("k2", { created_at_ms: NOW_MS + 1 }), 10);
    await keys.create(key("k1"), 10);
    await keys.touch(["k1", "gone"], NOW_MS + 7);
    await keys.touch(["k1"], NOW_MS + 6);
    await keys.touch([], NOW_MS + 8);
    const listed = await keys.list("a1");
    const shown = (id: string, ms: number, last_used_at_ms: number | null) => {
      const { key_hash: _, ...made } = key(id, { created_at_ms: ms, last_used_at_ms });
      return made;
    };
    const plain = listed.map((row) => ({ ...row })); // drivers give rows without a prototype
    assert.deepEqual(plain, [shown("k1", NOW_MS, NOW_MS + 7), shown("k2", NOW_MS + 1, null)]);
    assert.deepEqual(await keys.list("nobody"), []);
  });

  rule(
    "an account has at most the maximum of active keys, also with parallel requests",
    async (fixture) => {
      const { accounts, keys } = fixture;
      await accounts.create(account("a1"));
      const made = await Promise.all(["k1", "k2", "k3", "k4"].map((id) => keys.create(key(id), 2)));
      assert.equal(made.filter((answer) => answer === "created").length, 2);
      const [first] = await keys.list("a1");
      await keys.revoke(first?.id ?? "", NOW_MS);
      assert.equal(await keys.create(key("k5"), 2), "created");
    },
  );

  rule(
    "a balance is the sum of its entries and never below 0",
    async ({ db, accounts, credits }) => {
      await accounts.create(account("a1"));
      const grant = (amount: number, accountId = "a1") => credits.grant(accountId, amount, "why");
      assert.equal(await grant(10), 10);
      await assert.rejects(grant(-11), /has 10 credits/);
      const whole = {
        account_id: "a1",
        amount: Number.MAX_SAFE_INTEGER,
        reference: "why",
      } as const;
      const move = { ...whole, reason: "grant", created_at_ms: NOW_MS } as const;
      assert.equal(await inTransaction(db, (tx) => moveCreditsIn(tx, move)), undefined);
      assert.equal(await grant(-4), 6);
      await assert.rejects(grant(1, "nobody"), { code: "not_found" });
      assert.equal((await accounts.find("a1"))?.creditBalance, 6);
      const entries = await credits.entries("a1", 10);
      const shown = entries.map((row) => [row.sequence, row.amount, row.balance_after, row.reason]);
      assert.deepEqual(shown, [
        [2, -4, 6, "grant"],
        [1, 10, 10, "grant"],
      ]);
      assert.equal((await credits.entries("a1", 1)).length, 1);
    },
  );

  rule("parallel charges share one balance", async ({ accounts, credits }) => {
    await accounts.create(account("a1"));
    await credits.grant("a1", 10, "");
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, () => credits.grant("a1", -3, "")),
    );
    assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 3);
    assert.equal((await accounts.find("a1"))?.creditBalance, 1);
  });
}
