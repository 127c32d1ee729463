import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewPolicyVersion, PolicyStore } from "../../../src/gate/policy-store.ts";
import type { Make } from "../contract.ts";

const LIMITS = { policiesMax: 3, versionsMax: 5 };

const made = (more: Partial<NewPolicyVersion> = {}): NewPolicyVersion => ({
  accountId: "a1",
  name: "default",
  document: "{}",
  author: "jo@shop.example",
  createdAtMs: 1_000,
  as: "live",
  firstVersion: 1,
  ...more,
});

/** What every store of policies promises. `make` gives an empty one. */
export function policyStoreContract(name: string, make: Make<PolicyStore>): void {
  const check = (rule: string, run: (store: PolicyStore) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("each save is a new version, and the newest is live", async (store) => {
    assert.equal(await store.save(made({ firstVersion: 2 }), LIMITS), 2);
    assert.equal(await store.save(made({ document: '{"else":"reject"}' }), LIMITS), 3);
    const { live, shadow } = await store.inForce("a1", "default");
    assert.deepEqual(live, {
      version: 3,
      document: '{"else":"reject"}',
      author: "jo@shop.example",
      createdAtMs: 1_000,
    });
    assert.equal(shadow, undefined);
    assert.equal((await store.version("a1", "default", 2))?.document, "{}");
    assert.equal(await store.version("a1", "default", 9), undefined);
    assert.deepEqual(await store.inForce("a2", "default"), {});
  });

  check("a shadow leaves the live version live until it is promoted", async (store) => {
    await store.save(made(), LIMITS);
    assert.equal(await store.save(made({ as: "shadow" }), LIMITS), 2);
    assert.deepEqual(await store.list("a1"), [{ name: "default", live: 1, shadow: 2 }]);
    assert.equal(await store.promote("a1", "default"), 2);
    assert.deepEqual(await store.list("a1"), [{ name: "default", live: 2 }]);
    assert.equal(await store.promote("a1", "default"), undefined);
  });

  check("a shadow ends, and an older version becomes one", async (store) => {
    await store.save(made(), LIMITS);
    await store.save(made(), LIMITS);
    assert.equal(await store.setShadow("a1", "default", 1), true);
    assert.equal((await store.inForce("a1", "default")).shadow?.version, 1);
    assert.equal(await store.setShadow("a1", "default", undefined), true);
    assert.equal((await store.inForce("a1", "default")).shadow, undefined);
    assert.equal(await store.setShadow("a1", "default", 9), false);
    assert.equal(await store.setShadow("a1", "nothing", 1), false);
  });

  check("a removed policy runs no more, and its numbers are not used again", async (store) => {
    await store.save(made({ name: "b2b" }), LIMITS);
    assert.deepEqual(await store.remove("a1", "b2b"), { kind: "removed" });
    assert.deepEqual(await store.remove("a1", "b2b"), { kind: "unknown" });
    assert.deepEqual([await store.list("a1"), await store.inForce("a1", "b2b")], [[], {}]);
    assert.equal(await store.save(made({ name: "b2b" }), LIMITS), 2);
  });

  check("an account has so many policies, and saves on in those", async (store) => {
    for (const one of ["a", "b", "c"]) await store.save(made({ name: one }), LIMITS);
    assert.equal(await store.save(made({ name: "d" }), LIMITS), undefined);
    assert.equal(await store.save(made({ name: "a" }), LIMITS), 2);
    assert.equal(await store.save(made({ accountId: "a2", name: "d" }), LIMITS), 1);
  });

  check("old versions go, but none that runs", async (store) => {
    await store.save(made(), LIMITS);
    for (let saved = 0; saved < 9; saved += 1) await store.save(made({ as: "shadow" }), LIMITS);
    const versions = await store.versions("a1", "default", 100);
    assert.deepEqual(
      versions.map(({ version }) => version),
      [10, 9, 8, 7, 6, 1],
    );
    assert.equal((await store.versions("a1", "default", 2)).length, 2);
  });

  check("saves at the same time get numbers of their own", async (store) => {
    const saves = Array.from({ length: 5 }, () => store.save(made(), LIMITS));
    assert.deepEqual(new Set(await Promise.all(saves)), new Set([1, 2, 3, 4, 5]));
  });
}
