import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hook, HookCall, Hooks } from "../../../src/gate/hooks.ts";
import type { ApiKeyRow } from "../../../src/store/schema.ts";
import type { Keys } from "../../../src/accounts/key-store.ts";
import type { PolicyStore } from "../../../src/gate/policy-store.ts";
import type { Make } from "../contract.ts";

const hook = (id: string, more: Partial<Hook> = {}): Hook => ({
  id,
  account_id: "a1",
  system: "supabase",
  policy: "default",
  challenge: "accept",
  secret: "sealed",
  jwks_url: null,
  created_at_ms: 1,
  ...more,
});

const call = (atMs: number, outcome: HookCall["outcome"]): HookCall => ({
  atMs,
  outcome,
  why: "reject: disposable",
  durationMs: 3,
});

const STRICT = {
  account_id: "a1",
  name: "strict",
  document: "{}",
  author: "jo",
  created_at_ms: 1,
} as const;

const pageKey = (id: string, policy: string): ApiKeyRow => ({
  id,
  account_id: "a1",
  name: "shop",
  key_hash: `hash of ${id}`,
  prefix: "gp_pub_AbCd",
  last_four: "wxyz",
  created_at_ms: 1,
  last_used_at_ms: null,
  revoked_at_ms: null,
  origins: JSON.stringify(["https://shop.example"]),
  page: JSON.stringify({ policy, daily: 10 }),
});

interface Stores {
  readonly hooks: Hooks;
  readonly policies: PolicyStore;
  readonly keys: Keys;
}

/** What every store of hooks promises. `make` gives an empty one with the accounts a1 and a2. */
export function hooksContract(name: string, make: Make<Stores>): void {
  const check = (rule: string, run: (stores: Stores) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("hooks are found by id and listed newest first", async ({ hooks }) => {
    const second = hook("h2", { created_at_ms: 2, jwks_url: "https://auth.example/jwks" });
    assert.equal(await hooks.create(hook("h1"), 3), "created");
    assert.equal(await hooks.create(second, 3), "created");
    const noCalls = { last_call: null, last_failure: null };
    assert.deepEqual({ ...(await hooks.find("h2")) }, { ...second, ...noCalls });
    const both = [second, hook("h1")].map((each) => ({ ...each, ...noCalls }));
    assert.deepEqual(
      (await hooks.list("a1")).map((each) => ({ ...each })),
      both,
    );
    assert.deepEqual([await hooks.find("h3"), await hooks.list("a2")], [undefined, []]);
  });

  check("an account has so many hooks, also at once", async ({ hooks }) => {
    const made = ["a", "b", "c", "d"].map((id) => hooks.create(hook(id), 2));
    const answers = await Promise.all(made);
    assert.deepEqual(answers.toSorted(), ["created", "created", "full", "full"]);
    assert.equal(await hooks.create(hook("e", { account_id: "a2" }), 2), "created");
  });

  check("a hook needs a policy that is live", async ({ hooks }) => {
    assert.equal(await hooks.create(hook("h1", { policy: "strcit" }), 3), "no_policy");
    assert.deepEqual(await hooks.list("a1"), []);
  });

  check("a policy that a hook uses stays until the hook goes", async ({ hooks, policies }) => {
    await policies.save(STRICT, "live");
    await hooks.create(hook("h1", { policy: "strict" }), 3);
    assert.equal(
      await hooks.create(hook("h2", { account_id: "a2", policy: "strict" }), 3),
      "no_policy",
    );
    const usedBy = ["hook h1 (supabase)"];
    assert.deepEqual(await policies.remove("a1", "strict"), { kind: "in_use", usedBy });
    assert.equal((await policies.list("a1")).length, 1);
    await hooks.remove("h1");
    const [removed, created] = await Promise.all([
      policies.remove("a1", "strict"),
      hooks.create(hook("h3", { policy: "strict" }), 3),
    ]);
    assert.ok((removed.kind === "removed") !== (created === "created"), "one of the two wins");
  });

  check(
    "a policy that a publishable key uses stays until the key is revoked",
    async ({ hooks, keys, policies }) => {
      await policies.save({ ...STRICT, account_id: "a2" }, "live");
      assert.equal(await keys.create(pageKey("k0", "strict"), 3), "no_policy");
      assert.deepEqual(await keys.list("a1"), []);
      await policies.save(STRICT, "live");
      assert.equal(await keys.create(pageKey("k1", "strict"), 3), "created");
      assert.equal(await keys.create(pageKey("k2", "default"), 3), "created");
      await hooks.create(hook("h1", { policy: "strict" }), 3);
      const usedBy = ["hook h1 (supabase)", "key k1 (shop)"];
      assert.deepEqual(await policies.remove("a1", "strict"), { kind: "in_use", usedBy });
      assert.deepEqual(await policies.remove("a2", "strict"), { kind: "removed" });
      await hooks.remove("h1");
      await keys.revoke("k1", 2);
      const [removed, created] = await Promise.all([
        policies.remove("a1", "strict"),
        keys.create(pageKey("k3", "strict"), 3),
      ]);
      assert.ok((removed.kind === "removed") !== (created === "created"), "one of the two wins");
    },
  );

  check("a secret is replaced, a hook removed with its counts", async ({ hooks }) => {
    await hooks.create(hook("h1"), 3);
    assert.equal(await hooks.setSecret("h1", "other"), true);
    assert.equal((await hooks.find("h1"))?.secret, "other");
    const last = call(9, "refused");
    await hooks.note([{ day: 5, hook_id: "h1", outcome: "refused", count: 1, last }]);
    assert.equal(await hooks.remove("h1"), true);
    assert.deepEqual([await hooks.remove("h1"), await hooks.setSecret("h1", "")], [false, false]);
    assert.equal((await hooks.standing("h1", 0)).counts.refused, 0);
  });

  check("calls are counted, and the last ones kept", async ({ hooks }) => {
    await hooks.create(hook("h1"), 3);
    const news = [
      { day: 5, hook_id: "h1", outcome: "refused", count: 2, last: call(9, "refused") },
      { day: 4, hook_id: "h1", outcome: "failed_open", count: 1, last: call(8, "failed_open") },
      { day: 5, hook_id: "gone", outcome: "refused", count: 9, last: call(9, "refused") },
    ] as const;
    await hooks.note(news);
    await hooks.note(news);
    assert.deepEqual(await hooks.standing("h1", 5), {
      lastCall: call(9, "refused"),
      lastFailure: call(8, "failed_open"),
      counts: { accepted: 0, refused: 4, failed_open: 0, late: 0, unread: 0, unauthenticated: 0 },
    });
    assert.equal(await hooks.prune(5), 1);
    assert.equal((await hooks.standing("h1", 0)).counts.failed_open, 0);
  });
}
