import assert from "node:assert/strict";
import { test } from "node:test";
import type { SigningKey, SigningKeys } from "../../../src/ports/policy/signing-keys.ts";
import type { Make } from "../contract.ts";

const key = (kid: string, createdAtMs: number): SigningKey => ({
  kid,
  x: `x-${kid}`,
  sealed: `sealed-${kid}`,
  createdAtMs,
});

/** What every store of signing keys promises. `make` gives an empty one. */
export function signingKeysContract(name: string, make: Make<SigningKeys>): void {
  const check = (rule: string, run: (keys: SigningKeys) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("of processes that start together one makes the key", async (keys) => {
    const made = ["a", "b", "c", "d"].map((kid) => keys.agree(key(kid, 1)));
    const kids = (await Promise.all(made)).map(({ kid }) => kid);
    assert.equal(new Set(kids).size, 1);
    assert.equal((await keys.list(0)).length, 1);
  });

  check("a rotated key stays to be published without its private half", async (keys) => {
    await keys.agree(key("old", 1));
    await keys.rotate(key("new", 500));
    assert.deepEqual(await keys.list(500), [
      key("new", 500),
      { ...key("old", 1), sealed: "", retiredAtMs: 500 },
    ]);
    assert.deepEqual(await keys.list(501), [key("new", 500)]);
    assert.equal((await keys.agree(key("late", 900))).kid, "new");
  });

  check("retired keys go, the one in force never", async (keys) => {
    await keys.agree(key("old", 1));
    await keys.rotate(key("new", 500));
    assert.equal(await keys.prune(500), 0);
    assert.equal(await keys.prune(501), 1);
    assert.equal(await keys.prune(9_999), 0);
  });
}
