import { strict as assert } from "node:assert";
import type { Kysely } from "kysely";
import { test, type TestContext } from "node:test";
import type { RegistrationCache } from "../../../src/check/rdap/registration.ts";
import { pruneRegistrations, sqlRegistrationCache } from "../../../src/check/registration-store.ts";
import type { Database } from "../../../src/store/schema.ts";
import type { Make } from "../contract.ts";

/** The contract of every registration cache. `make` returns an empty one. */
export function registrationCacheContract(name: string, make: Make<RegistrationCache>): void {
  const check = (rule: string, run: (cache: RegistrationCache) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t: TestContext) => run(await make(t)));

  check("a domain that was never saved is absent", async (cache) => {
    assert.equal(await cache.read("a.example", 0), undefined);
  });

  check("an answer is returned until it expires", async (cache) => {
    const answer = { registeredAtMs: 473_385_600_000, expiresAtMs: 2_000_000_000_000 };
    await cache.save("a.example", answer);
    assert.deepEqual(await cache.read("a.example", 1_999_999_999_999), answer);
    assert.equal(await cache.read("a.example", 2_000_000_000_000), undefined);
    assert.equal(await cache.read("b.example", 0), undefined);
  });

  check("a registry without a date is an answer too", async (cache) => {
    await cache.save("a.example", { registeredAtMs: undefined, expiresAtMs: 10 });
    assert.deepEqual(await cache.read("a.example", 9), {
      registeredAtMs: undefined,
      expiresAtMs: 10,
    });
  });

  check("a later answer replaces the earlier one", async (cache) => {
    await cache.save("a.example", { registeredAtMs: undefined, expiresAtMs: 10 });
    await cache.save("a.example", { registeredAtMs: -5, expiresAtMs: 20 });
    assert.deepEqual(await cache.read("a.example", 15), { registeredAtMs: -5, expiresAtMs: 20 });
  });
}

export function registrationPruneContract(name: string, make: Make<Kysely<Database>>): void {
  void test(`${name}: pruning deletes and counts expired answers and keeps the others`, async (t) => {
    const db = await make(t);
    const cache = sqlRegistrationCache(db);
    await cache.save("a.example", { registeredAtMs: 1, expiresAtMs: 10 });
    await cache.save("b.example", { registeredAtMs: 2, expiresAtMs: 20 });
    assert.equal(await pruneRegistrations(db, 10), 1);
    assert.equal(await pruneRegistrations(db, 10), 0);
    assert.equal((await cache.read("b.example", 10))?.registeredAtMs, 2);
  });
}
