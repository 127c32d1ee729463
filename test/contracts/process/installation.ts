import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Installation } from "../../../src/store/installation.ts";
import type { Make } from "../contract.ts";

/** The contract of every store of an installation's facts. `make` returns an empty one. */
export function installationContract(name: string, make: Make<Installation>): void {
  const check = (rule: string, run: (installation: Installation) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("the first value is kept", async (installation) => {
    assert.equal(await installation.agree("secret_key", "a"), "a");
    assert.equal(await installation.agree("secret_key", "b"), "a");
    assert.equal(await installation.agree("secret_key", "a"), "a");
  });

  check("parallel first values all get the same one back", async (installation) => {
    const words = ["a", "b", "c", "d", "e", "f"];
    const heard = await Promise.all(words.map((word) => installation.agree("secret_key", word)));
    assert.equal(new Set(heard).size, 1);
    assert.ok(words.includes(heard[0] ?? ""));
  });

  check("a replaced value is kept, also without an earlier one", async (installation) => {
    await installation.replace("secret_key", "a");
    assert.equal(await installation.agree("secret_key", "b"), "a");
    await installation.replace("secret_key", "b");
    assert.equal(await installation.agree("secret_key", "a"), "b");
  });
}
