import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { StoreDown } from "../../base/store-down.ts";
import { openMigrated } from "../../../test/process/migrated-database.ts";
import { Accounts } from "../accounts-store.ts";
import { SignUpSwitch } from "./sign-up.ts";

test("sign-up is open until there is an administrator, and a switch is known at every server within a second", async (t) => {
  const { db } = await openMigrated(":memory:", 0);
  const clock = manualClock();
  const server = (fixed?: "open" | "closed") => new SignUpSwitch({ db, fixed, clock });
  const [one, other, fixed] = [server(), server(), server("open")];
  assert.deepEqual([await one.mode(), await other.mode()], ["open", "open"]);
  const admin = { id: "a1", email: "ops@x.example", tier: "pro", origin: "operator" } as const;
  await new Accounts(db).create({ ...admin, admin: 1, created_at_ms: 0 });
  clock.advance(1_000);
  assert.deepEqual([await one.mode(), await other.mode()], ["closed", "closed"]);
  await one.set("open");
  clock.advance(1_000);
  assert.equal(await other.mode(), "open");
  await one.set("closed");
  assert.equal(await one.mode(), "closed");
  clock.advance(1_000);
  assert.equal(await other.mode(), "closed");
  assert.equal(await server().mode(), "closed", "a server that starts later");
  assert.deepEqual([await fixed.mode(), fixed.isFixed], ["open", true]);
  await one.set("open");
  clock.advance(1_000);
  assert.equal(await other.mode(), "open");
  await one.set("closed");
  t.mock.method(db, "selectFrom", () => {
    throw new StoreDown("away");
  });
  clock.advance(1_000);
  assert.equal(await other.mode(), "open", "what was known last, while the database is away");
  assert.equal(await server().mode(), "closed", "nothing was ever known");
});
