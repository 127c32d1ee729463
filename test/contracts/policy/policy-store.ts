import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewPolicyVersion, PolicyStore } from "../../../src/gate/policy-store.ts";
import type { Make } from "../contract.ts";

const LIMITS = { policiesMax: 3, versionsMax: 5, allVersionsMax: 100, octetsMax: 10_000 };

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

const saved = async (store: PolicyStore, one: NewPolicyVersion): Promise<number | undefined> =>
  (await store.save(one, LIMITS))?.version;

/** What every store of policies promises. `make` gives an empty one. */
export function policyStoreContract(name: string, make: Make<PolicyStore>): void {
  const check = (rule: string, run: (store: PolicyStore) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("each save is a new version, and the newest is live", async (store) => {
    assert.equal(await saved(store, made({ firstVersion: 2 })), 2);
    assert.equal(await saved(store, made({ document: '{"else":"reject"}' })), 3);
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
    assert.equal(await saved(store, made({ as: "shadow" })), 2);
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
    assert.equal(await saved(store, made({ name: "b2b" })), 2);
  });

  check("an account has so many policies, and saves on in those", async (store) => {
    for (const one of ["a", "b", "c"]) await store.save(made({ name: one }), LIMITS);
    assert.equal(await saved(store, made({ name: "d" })), undefined);
    assert.equal(await saved(store, made({ name: "a" })), 2);
    assert.equal(await saved(store, made({ accountId: "a2", name: "d" })), 1);
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

  const ROOM: readonly [what: string, limits: Partial<typeof LIMITS>][] = [
    ["octets", { octetsMax: 300 }],
    ["versions", { allVersionsMax: 3 }],
  ];
  for (const [what, limits] of ROOM) {
    check(`the ${what} of an account are bounded, and no version that runs goes`, async (store) => {
      // 100 octets in 50 characters: two octets each.
      const document = "\u00fc".repeat(50);
      const save = (name: string, createdAtMs: number, more: Partial<NewPolicyVersion> = {}) =>
        store.save(made({ name, document, createdAtMs, ...more }), { ...LIMITS, ...limits });
      await save("default", 1);
      await save("default", 2, { as: "shadow" });
      await save("gone", 3);
      await store.remove("a1", "gone");
      await save("other", 4, { accountId: "a2" });
      assert.deepEqual(await save("b2b", 5), { version: 1, pruned: 1 }, "the removed one goes");
      assert.deepEqual(await save("b2b", 6), { version: 2, pruned: 1 });
      assert.deepEqual(await save("b2b", 7, { as: "shadow" }), { version: 3, pruned: 0 });
      const { live, shadow } = await store.inForce("a1", "default");
      assert.deepEqual([live?.version, shadow?.version], [1, 2], "the oldest, and they run");
      const versions = await store.versions("a1", "b2b", 9);
      assert.deepEqual(
        versions.map(({ version }) => version),
        [3, 2],
      );
      assert.equal((await store.versions("a2", "other", 9)).length, 1, "another account's stays");
    });
  }

  check("saves at the same time get numbers of their own", async (store) => {
    const saves = Array.from({ length: 5 }, () => saved(store, made()));
    assert.deepEqual(new Set(await Promise.all(saves)), new Set([1, 2, 3, 4, 5]));
  });
}
