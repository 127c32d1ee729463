import { strict as assert } from "node:assert";
import { test } from "node:test";
import { worldFor } from "../../test/dashboard/account-world.ts";
import { Browser } from "../../test/dashboard/dashboard-client.ts";
import { PASSWORD } from "../../test/dashboard/dashboard-world.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { createSecretBox } from "../base/secrets.ts";
import { Accounts } from "./accounts-store.ts";
import { ResetLinks } from "./reset-links.ts";

const OPERATOR = "ops@gatepost.example";
const OWNER = "ann@gatepost.example";
const BEA = "bea@gatepost.example";
const NEXT = "seven quiet rivers";

async function linked(t: Parameters<typeof worldFor>[0]) {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(OPERATOR, { isAdmin: true, tier: "pro" });
  const id = await world.addAccount(OWNER);
  const operator = await signedIn(OPERATOR);
  const make = async (password = PASSWORD) =>
    operator.post(`admin/accounts/${id}/reset-link`, { current_password: password });
  const tokenOf = async (): Promise<string> => {
    const { link } = (await make()).json as { link: string };
    return decodeURIComponent(link.split("#")[1] ?? "");
  };
  const visitor = new Browser(world);
  const use = async (token: string, password = NEXT): Promise<number> =>
    (await visitor.post("new-password", { token, password })).status;
  return { world, id, make, tokenOf, use, signedIn };
}

test("a link for a new password needs the operator's own, works once, and ends sessions", async (t) => {
  const { make, tokenOf, use, signedIn, world } = await linked(t);
  assert.equal((await make("not mine at all")).status, 403);
  const [first, second] = [await tokenOf(), await tokenOf()];
  const owner = await signedIn(OWNER);
  assert.equal(await use(first, "short"), 400);
  assert.equal(await use(first), 204);
  assert.equal((await owner.get("keys")).status, 401, "who was signed in is signed out");
  assert.equal(await use(first), 403);
  assert.equal(await use(second), 403, "it replaced another password");
  assert.equal((await new Browser(world).signIn(OWNER, PASSWORD)).status, 401);
  await signedIn(OWNER, NEXT);
});

test("a link ends after a day, and another text is none", async (t) => {
  const { world, id, tokenOf, use } = await linked(t);
  const token = await tokenOf();
  for (const other of [
    "",
    "x",
    token.slice(0, -4),
    `${token.slice(0, 12)}AAAA${token.slice(16)}`,
  ]) {
    assert.equal(await use(other), 403, other);
  }
  const clock = manualClock();
  const stored = new Accounts(world.store.sql.db);
  const links = new ResetLinks({
    stored,
    accounts: world.store.accounts,
    box: createSecretBox(new Uint8Array(32)),
    audit: () => Promise.resolve(),
    clock,
  });
  const account = await stored.find(id);
  assert.ok(account);
  const old = await links.make(account);
  clock.advance(old.expiresAtMs - clock.nowMs());
  await assert.rejects(links.use(old.token, NEXT, { clientAddress: "192.0.2.1", userAgent: "" }), {
    code: "reset_link_invalid",
  });
});

test("an account that the operator made is entered by its link alone", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(OPERATOR, { isAdmin: true, tier: "pro" });
  const operator = await signedIn(OPERATOR);
  const order = { email: "New@Gatepost.example", tier: "starter", current_password: PASSWORD };
  const { link } = (await operator.post("admin/accounts", order)).json as { link: string };
  assert.match(link, /\/new-password#/);
  assert.equal((await operator.post("admin/accounts", order)).status, 409);
  for (const wrong of [{ tier: "gold" }, { email: "no address" }]) {
    assert.equal((await operator.post("admin/accounts", { ...order, ...wrong })).status, 400);
  }
  const visitor = new Browser(world);
  const token = decodeURIComponent(link.split("#")[1] ?? "");
  assert.equal((await visitor.post("new-password", { token, password: NEXT })).status, 204);
  await signedIn("new@gatepost.example", NEXT);
});

test("who asks for an address does not learn whether another account has it", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(OPERATOR, { isAdmin: true });
  await world.addAccount(OWNER);
  const owner = await signedIn(OWNER);
  const ask = async (email: string, password = PASSWORD): Promise<number> =>
    (await owner.post("email", { email, current_password: password })).status;
  assert.deepEqual([await ask("b@gatepost.example", "wrong one"), await ask("no")], [403, 400]);
  const seen: unknown[] = [];
  for (const email of [OPERATOR, BEA]) {
    assert.equal(await ask(email), 204);
    const { json } = await owner.get("session");
    const again = await new Browser(world).signIn(email, PASSWORD + "1");
    const { entries } = (await owner.get("activity")).json as { entries: { detail: string }[] };
    assert.equal(entries[0]?.detail, email);
    seen.push([json, again.status]);
  }
  assert.deepEqual(seen[0], seen[1], "a known address looks like an unknown one");
});

test("an administrator gives an account another address, which no other has", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(OPERATOR, { isAdmin: true, tier: "pro" });
  const id = await world.addAccount(OWNER);
  const [owner, operator] = [await signedIn(OWNER), await signedIn(OPERATOR)];
  const page = `admin/accounts/${id}/email`;
  const give = async (email: string, password = PASSWORD): Promise<number> =>
    (await operator.post(page, { email, current_password: password })).status;
  assert.deepEqual(
    [await give(OPERATOR), await give("no"), await give(BEA), await give(OWNER, "wrong one")],
    [409, 400, 204, 403],
  );
  await signedIn(BEA);
  const { json } = await owner.get("export");
  assert.equal((json as { account: { email: string } }).account.email, BEA);
  assert.doesNotMatch(JSON.stringify(json), /password_hash|\$argon2/);
});

test("keys are renamed by their account alone", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(OPERATOR);
  const id = await world.addAccount(OWNER);
  const made = await world.store.keys.create(id, "one");
  const path = `keys/${made.key.id}/name`;
  const [owner, other] = [await signedIn(OWNER), await signedIn(OPERATOR)];
  assert.equal((await owner.post(path, { name: "two\nlines" })).status, 400);
  assert.equal((await other.post(path, { name: "mine" })).status, 404);
  assert.equal((await owner.post(path, { name: " two " })).status, 204);
  const { keys } = (await owner.get("keys")).json as { keys: { name: string }[] };
  assert.equal(keys[0]?.name, "two");
});

test("a link verifies the address of an account that a sign-up made: its keys end with the password, once", async (t) => {
  const { world, id, tokenOf, use, signedIn } = await linked(t);
  const { db } = world.store.sql;
  await db.updateTable("accounts").set({ origin: "signup" }).where("id", "=", id).execute();
  const stranger = await signedIn(OWNER);
  assert.equal((await stranger.post("keys", { name: "theirs" })).status, 200);
  assert.equal(await use(await tokenOf(), "short"), 400);
  assert.deepEqual(
    (await world.store.keys.list(id)).map((key) => key.revoked_at_ms),
    [null],
  );
  assert.equal(await use(await tokenOf()), 204);
  assert.equal((await stranger.get("keys")).status, 401);
  assert.ok((await world.store.keys.list(id)).every((key) => key.revoked_at_ms !== null));
  const owner = await signedIn(OWNER, NEXT);
  assert.equal((await owner.post("keys", { name: "mine" })).status, 200);
  assert.equal(await use(await tokenOf(), "eight quiet rivers"), 204);
  assert.equal(
    (await world.store.keys.list(id)).filter((key) => key.revoked_at_ms === null).length,
    1,
  );
});
