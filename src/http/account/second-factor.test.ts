import { strict as assert } from "node:assert";
import { test } from "node:test";
import { EMAIL, worldFor } from "../../../test/dashboard/account-world.ts";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import { PASSWORD } from "../../../test/dashboard/dashboard-world.ts";
import { codeNow } from "../../../test/dashboard/authenticator.ts";

const OWN = { current_password: PASSWORD };
const ADMIN = "admin@gatepost.example";

/** An account that asks for codes; `enter` signs in with one. */
async function guarded(t: Parameters<typeof worldFor>[0]) {
  const { world, signedIn } = await worldFor(t);
  const id = await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const begun = (await browser.post("second-factor", OWN)).json as Record<string, string>;
  const finish = { set_up: begun["set_up"], code: codeNow(begun["secret"] ?? "") };
  const made = await browser.post("second-factor/finish", finish);
  const { codes } = made.json as { codes: string[] };
  const visitor = new Browser(world);
  const enter = (code?: string, password = PASSWORD) =>
    visitor.post("sign-in", { email: EMAIL, password, ...(code !== undefined && { code }) });
  return {
    world,
    id,
    browser,
    signedIn,
    visitor,
    codes,
    enter,
    next: codeNow(begun["secret"] ?? "", 1),
  };
}

test("signing in asks for the code behind the password, and takes it once", async (t) => {
  const { browser, visitor, enter, next, codes } = await guarded(t);
  const half = await enter();
  assert.deepEqual(
    [half.status, half.headers.get("gatepost-error")],
    [401, "second_factor_needed"],
  );
  assert.equal(visitor.cookie, "");
  assert.equal((await enter("000000")).headers.get("gatepost-error"), "wrong_second_factor");
  assert.equal(
    (await enter(next, "wrong password")).headers.get("gatepost-error"),
    "wrong_password",
  );
  assert.equal((await enter(next)).status, 204);
  assert.equal((await visitor.get("keys")).status, 200);
  assert.equal((await enter(next)).status, 401);
  assert.equal((await enter(codes[0])).status, 204);
  const { account } = (await browser.get("export")).json as { account: Record<string, unknown> };
  assert.equal(account["second_factor"], true);
});

test("neither a link for a new password nor another password goes round it", async (t) => {
  const { world, browser, enter, id, codes } = await guarded(t);
  const next = "another fine password";
  const changed = { current_password: PASSWORD, new_password: next };
  assert.equal((await browser.post("password", changed)).status, 204);
  assert.equal((await enter(undefined, next)).status, 401);
  await world.store.accounts.setPassword(id, PASSWORD); // as a link does
  assert.equal((await enter()).status, 401);
  assert.equal((await enter(codes[0])).status, 204);
});

test("setting it up and removing it ask for the password", async (t) => {
  const { browser, enter } = await guarded(t);
  for (const path of ["second-factor", "second-factor/remove"]) {
    assert.equal((await browser.post(path, { current_password: "wrong one" })).status, 403);
  }
  assert.equal((await browser.post("second-factor", OWN)).status, 409);
  assert.equal((await enter()).status, 401);
  assert.equal((await browser.post("second-factor/remove", OWN)).status, 204);
  assert.equal((await enter()).status, 204);
});

test("an administrator clears it with their own password, and the account reads of it", async (t) => {
  const { world, id, browser, signedIn, enter } = await guarded(t);
  await world.addAccount(ADMIN, { isAdmin: true });
  const admin = await signedIn(ADMIN);
  const path = `admin/accounts/${id}/second-factor-off`;
  assert.equal((await admin.post(path, { current_password: "wrong one" })).status, 403);
  assert.equal((await admin.post(path, OWN)).status, 204);
  assert.equal((await enter()).status, 204);
  const { entries } = (await browser.get("activity")).json as {
    entries: { action: string; detail: string; actor: string }[];
  };
  const noted = entries.filter(({ action }) => action === "account.second_factor");
  assert.deepEqual(
    noted.map(({ detail, actor }) => [detail, actor]),
    [
      ["off", "An administrator"],
      ["on", EMAIL],
    ],
  );
});

test("an account that a sign-up made loses its maker's second factor with its promotion", async (t) => {
  const { world, id } = await guarded(t);
  await world.store.sql.db.updateTable("accounts").set({ origin: "signup" }).execute();
  await world.store.accounts.promote(id);
  assert.equal((await world.store.accounts.find(id))?.secondFactor, undefined);
});
