import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import { dashboardWorld } from "../../../test/dashboard/dashboard-world.ts";
import { endingSessions, sqlSignIns } from "./sign-ins.ts";

test("a password that the operator sets signs every browser of the account out", async (t) => {
  const world = await dashboardWorld();
  t.after(() => world.close());
  const browser = new Browser(world);
  const id = await world.addAccount("ann@gatepost.example");
  browser.cookie = await world.cookieOf(id);
  const sessions = sqlSignIns(world.store.sql.db);
  const accounts = endingSessions(world.store.accounts, sessions);
  assert.equal(typeof (await accounts.setPassword(id, "short")), "object");
  assert.equal((await browser.get("keys")).status, 200, "what was refused changes nothing");
  assert.equal(await accounts.setPassword(id, "another fine password"), "changed");
  assert.equal((await browser.get("keys")).status, 401);
});
