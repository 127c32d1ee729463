import assert from "node:assert/strict";
import { test } from "node:test";
import type { PolicyStore } from "../../../src/gate/policy-store.ts";
import type { PolicyVersionRow } from "../../../src/store/tables/policy.ts";
import type { Make } from "../contract.ts";

const LIMITS = { policiesMax: 3, versionsMax: 5, allVersionsMax: 100, octetsMax: 10_000 };

interface Made extends Omit<PolicyVersionRow, "version"> {
  readonly as: "live" | "shadow";
}

const made = (more: Partial<Made> = {}): Made => ({
  account_id: "a1",
  name: "shop",
  document: "{}",
  author: "jo@shop.example",
  created_at_ms: 1_000,
  as: "live",
  ...more,
});

const save = (store: PolicyStore, { as, ...version }: Made, limits = LIMITS) =>
  store.save(version, as, limits);

const saved = async (store: PolicyStore, one: Made): Promise<number | undefined> =>
  (await save(store, one))?.version;

const heads = async (store: PolicyStore): Promise<readonly string[]> =>
  (await store.list("a1")).map(({ name, live_version: live, shadow_version: shadow }) =>
    [name, String(live), String(shadow)].join(" "),
  );

const NONE = { live: undefined, shadow: undefined };

/** What every store of policies promises. `make` gives an empty one. */
export function policyStoreContract(name: string, make: Make<PolicyStore>): void {
  const check = (rule: string, run: (store: PolicyStore) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("each save is a new version, and the newest is live", async (store) => {
    assert.equal(await saved(store, made({ name: "default" })), 2, "the first is built in");
    const { as: _, ...second } = made({ name: "default", document: '{"else":"reject"}' });
    assert.equal(await saved(store, { ...second, as: "live" }), 3);
    const { live, shadow } = await store.inForce("a1", "default");
    assert.deepEqual({ ...live }, { ...second, version: 3 });
    assert.equal(shadow, undefined);
    assert.equal((await store.version("a1", "default", 2))?.document, "{}");
    assert.equal(await store.version("a1", "default", 9), undefined);
    assert.deepEqual(await store.inForce("a2", "default"), NONE);
  });

  check("a shadow leaves the live version live until it is promoted", async (store) => {
    await save(store, made());
    assert.equal(await saved(store, made({ as: "shadow" })), 2);
    assert.deepEqual(await heads(store), ["shop 1 2"]);
    assert.equal(await store.promote("a1", "shop"), 2);
    assert.deepEqual(await heads(store), ["shop 2 null"]);
    assert.equal(await store.promote("a1", "shop"), undefined);
  });

  check("a shadow ends, and an older version becomes one", async (store) => {
    await save(store, made());
    await save(store, made());
    assert.equal(await store.setShadow("a1", "shop", 1), true);
    assert.equal((await store.inForce("a1", "shop")).shadow?.version, 1);
    assert.equal(await store.setShadow("a1", "shop", undefined), true);
    assert.equal((await store.inForce("a1", "shop")).shadow, undefined);
    assert.equal(await store.setShadow("a1", "shop", 9), false);
    assert.equal(await store.setShadow("a1", "nothing", 1), false);
  });

  check("a removed policy runs no more, and its numbers are not used again", async (store) => {
    await save(store, made({ name: "b2b" }));
    assert.deepEqual(await store.remove("a1", "b2b"), { kind: "removed" });
    assert.deepEqual(await store.remove("a1", "b2b"), { kind: "unknown" });
    assert.deepEqual([await store.list("a1"), await store.inForce("a1", "b2b")], [[], NONE]);
    assert.equal(await saved(store, made({ name: "b2b" })), 2);
  });

  check("an account has so many policies, and saves on in those", async (store) => {
    for (const one of ["a", "b", "c"]) await save(store, made({ name: one }));
    assert.equal(await saved(store, made({ name: "d" })), undefined);
    assert.equal(await saved(store, made({ name: "a" })), 2);
    assert.equal(await saved(store, made({ account_id: "a2", name: "d" })), 1);
  });

  check("old versions go, but none that runs", async (store) => {
    await save(store, made());
    for (let saved = 0; saved < 9; saved += 1) await save(store, made({ as: "shadow" }));
    const versions = await store.versions("a1", "shop", 100);
    assert.deepEqual(
      versions.map(({ version }) => version),
      [10, 9, 8, 7, 6, 1],
    );
    assert.equal((await store.versions("a1", "shop", 2)).length, 2);
  });

  const ROOM: readonly [what: string, limits: Partial<typeof LIMITS>][] = [
    ["octets", { octetsMax: 300 }],
    ["versions", { allVersionsMax: 3 }],
  ];
  for (const [what, limits] of ROOM) {
    check(`the ${what} of an account are bounded, and no version that runs goes`, async (store) => {
      // 100 octets in 50 characters: two octets each.
      const document = "\u00fc".repeat(50);
      const add = (name: string, created_at_ms: number, more: Partial<Made> = {}) =>
        save(store, made({ name, document, created_at_ms, ...more }), { ...LIMITS, ...limits });
      await add("shop", 1);
      await add("shop", 2, { as: "shadow" });
      await add("gone", 3);
      await store.remove("a1", "gone");
      await add("other", 4, { account_id: "a2" });
      assert.deepEqual(await add("b2b", 5), { version: 1, pruned: 1 }, "the removed one goes");
      assert.deepEqual(await add("b2b", 6), { version: 2, pruned: 1 });
      assert.deepEqual(await add("b2b", 7, { as: "shadow" }), { version: 3, pruned: 0 });
      const { live, shadow } = await store.inForce("a1", "shop");
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
