import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Kysely } from "kysely";
import { agreeFact, replaceFact } from "../../../src/store/installation.ts";
import type { Database } from "../../../src/store/schema.ts";
import type { Make } from "../contract.ts";

/** The contract of an installation's facts. `make` returns an empty database. */
export function installationContract(name: string, make: Make<Kysely<Database>>): void {
  const check = (rule: string, run: (db: Kysely<Database>) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("the first value is kept", async (db) => {
    assert.equal(await agreeFact(db, "secret_key", "a"), "a");
    assert.equal(await agreeFact(db, "secret_key", "b"), "a");
    assert.equal(await agreeFact(db, "secret_key", "a"), "a");
  });

  check("parallel first values all get the same one back", async (db) => {
    const words = ["a", "b", "c", "d", "e", "f"];
    const heard = await Promise.all(words.map((word) => agreeFact(db, "secret_key", word)));
    assert.equal(new Set(heard).size, 1);
    assert.ok(words.includes(heard[0] ?? ""));
  });

  check("a replaced value is kept, also without an earlier one", async (db) => {
    await replaceFact(db, "secret_key", "a");
    assert.equal(await agreeFact(db, "secret_key", "b"), "a");
    await replaceFact(db, "secret_key", "b");
    assert.equal(await agreeFact(db, "secret_key", "a"), "b");
  });
}
