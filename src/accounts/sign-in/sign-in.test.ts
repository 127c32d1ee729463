import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import type { Account } from "../accounts-store.ts";
import { boundPasswords, type Passwords } from "./passwords.ts";
import { Refusal } from "../../base/refusals.ts";
import { createShares } from "../../base/shares.ts";
import { openMigrated } from "../../../test/process/migrated-database.ts";
import { Guesses } from "../guesses.ts";
import { createSignIn } from "./sign-in.ts";
import { memoryRateCounter } from "../admission/counters.ts";

const ANN: Account = {
  id: "a1",
  email: "ann@gatepost.example",
  tier: "free",
  origin: "operator",
  isAdmin: false,
  isDisabled: false,
  trafficSince: 1,
  logsDecisions: false,
  creditBalance: 0,
  createdAtMs: 0,
};

/** One account with the password "right"; hashes are the passwords themselves. */
async function signInWith(known: readonly string[] = [], account: Account = ANN) {
  const { db } = await openMigrated(":memory:", 0);
  const guesses = Object.assign(new Guesses(db), { places: () => Promise.resolve(known) });
  const told: string[] = [];
  const clock = manualClock();
  const verified: string[] = [];
  const signIn = createSignIn({
    accounts: {
      find: (id) => Promise.resolve(id === ANN.email ? account : undefined),
      passwordHash: () => Promise.resolve("right"),
    },
    passwords: {
      hash: (password) => Promise.resolve(`made of ${password}`),
      verify: (hash, password) => {
        verified.push(hash);
        return Promise.resolve(hash === password);
      },
    },
    rates: memoryRateCounter(),
    guesses,
    factors: { accepts: (_, code) => Promise.resolve(code === "123456") },
    log: { warn: (event) => void told.push(event) },
    counted: (outcome) => void told.push(outcome),
    logins: {
      start: (account) =>
        Promise.resolve({ session: { account_id: account.id } as never, token: "t" }),
    },
    audit: ({ action, accountId, actorId }) => {
      told.push([action, accountId, actorId].join(" "));
      return Promise.resolve();
    },
    ids: { bytes: (count) => new Uint8Array(count), hex32: () => "0" },
    clock,
  });
  const attempt = (
    password: string,
    clientAddress: string,
    { email = ANN.email, code }: { readonly email?: string; readonly code?: string } = {},
  ) =>
    signIn.signIn({ email, password, code }, { clientAddress, userAgent: "" }).then(
      ({ token }) => token,
      (error: unknown) => (error instanceof Refusal ? error.code : "a fault"),
    );
  return { clock, verified, attempt, told };
}

test("a flood of wrong passwords from one address never locks the owner out", async () => {
  const { attempt, clock } = await signInWith(["192.0.2.1"]);
  for (let tries = 0; tries < 10; tries += 1) {
    assert.equal(await attempt("wrong", "192.0.2.66"), "wrong_password");
  }
  assert.equal(await attempt("right", "192.0.2.66"), "too_many_attempts");
  assert.equal(await attempt("right", "192.0.2.1"), "t", "the owner is somewhere else");
  clock.advance(60_000);
  assert.equal(await attempt("right", "192.0.2.66"), "t", "and a minute later it is forgotten");
});

test("an IPv6 client has one count for its whole /64", async () => {
  const { attempt } = await signInWith(["2001:db8:0:1::5"]);
  for (let host = 1; host <= 10; host += 1) await attempt("wrong", `2001:db8::${String(host)}`);
  assert.equal(await attempt("right", "2001:db8::ffff"), "too_many_attempts");
  assert.equal(await attempt("right", "2001:db8:0:1::1"), "t");
});

test("an unknown address costs a hash as well, so that time tells nothing", async () => {
  const { attempt, verified } = await signInWith();
  assert.equal(
    await attempt("right", "192.0.2.1", { email: "nobody@gatepost.example" }),
    "wrong_password",
  );
  assert.equal(verified.length, 1);
});

test("a password of a million characters is refused without a hash", async () => {
  const { attempt, verified } = await signInWith();
  assert.equal(await attempt("a".repeat(1_000_000), "192.0.2.1"), "wrong_password");
  assert.deepEqual(verified, []);
});

for (const [what, email] of [
  ["an account", ANN.email],
  ["an address without an account", "nobody@gatepost.example"],
] as const) {
  test(`a password of ${what} is tried ten times from ten addresses, then later and later`, async () => {
    const { attempt, clock, told } = await signInWith();
    for (let tries = 1; tries <= 10; tries += 1) {
      assert.equal(await attempt("wrong", `192.0.2.${String(tries)}`, { email }), "wrong_password");
    }
    assert.equal(await attempt("right", "192.0.2.99", { email }), "too_many_attempts");
    clock.advance(10_000);
    assert.equal(await attempt("wrong", "192.0.2.98", { email }), "wrong_password");
    clock.advance(10_000);
    assert.equal(await attempt("wrong", "192.0.2.97", { email }), "too_many_attempts");
    clock.advance(10_000);
    const right = email === ANN.email ? "t" : "wrong_password";
    assert.equal(await attempt("right", "192.0.2.96", { email }), right, "delayed and not locked");
    assert.ok(told.includes("sign_in.delayed") && told.includes("delayed"));
    const entries = told.filter((line) => line.startsWith("session.delayed"));
    assert.equal(entries.length, email === ANN.email ? 2 : 0);
  });
}

test("a code that is wrong counts as a wrong password, and one that is missing does not", async () => {
  const { attempt, clock } = await signInWith([], { ...ANN, secondFactor: "{}" });
  const at = "192.0.2.1";
  for (let tries = 1; tries <= 12; tries += 1) {
    if (tries === 10) clock.advance(60_000); // another limit is 10 a minute from one address
    assert.equal(await attempt("right", at), "second_factor_needed");
  }
  assert.equal(await attempt("wrong", at, { code: "123456" }), "wrong_password");
  assert.equal(await attempt("right", at, { code: "123456" }), "t");
  for (let tries = 1; tries <= 9; tries += 1) {
    const from = `198.51.100.${String(tries)}`;
    assert.equal(await attempt("right", from, { code: "000000" }), "wrong_second_factor");
  }
  assert.equal(await attempt("right", "198.51.100.10", { code: "123456" }), "too_many_attempts");
  clock.advance(10_000);
  assert.equal(await attempt("right", "198.51.100.10", { code: "123456" }), "t");
});

test("whoever guesses elsewhere does not keep the owner out of a place that is known", async () => {
  const { attempt } = await signInWith(["2001:db8::7"]);
  for (let tries = 1; tries <= 10; tries += 1) await attempt("wrong", `192.0.2.${String(tries)}`);
  assert.equal(await attempt("right", "192.0.2.99"), "too_many_attempts");
  assert.equal(await attempt("right", "2001:db8::8"), "t", "the same network");
  for (let tries = 1; tries <= 10; tries += 1) await attempt("wrong", "2001:db8::9");
  assert.equal(await attempt("right", "2001:db8::8"), "too_many_attempts", "and is counted too");
});

test("few hashes run at once, owners take turns, and an owner with many is refused", async () => {
  const running: (() => void)[] = [];
  const slow: Passwords = {
    hash: (password) => new Promise((resolve) => running.push(() => resolve(password))),
    verify: () => Promise.reject(new Error("broken")),
  };
  const bounded = boundPasswords(slow, createShares().of("sign_ins"));
  const first = bounded.hash("1", "a");
  const more = ["2", "3", "4", "5"].map((password) => bounded.hash(password, "a"));
  await assert.rejects(bounded.hash("6", "a"), { resource: "sign_ins", why: "owner" });
  const second = bounded.hash("b1", "b");
  const third = bounded.hash("c1", "c");
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(running.length, 2, "one of each owner");
  running[0]?.();
  assert.equal(await first, "1");
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(running.length, 3, "another owner's first comes before the second of the same");
  running[2]?.();
  assert.equal(await third, "c1");
  for (let turns = 0; turns < 30; turns += 1) {
    for (const finish of running) finish(); // those that had begun by now
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await Promise.all([second, ...more]), ["b1", "2", "3", "4", "5"]);
  await assert.rejects(bounded.verify("", ""), /broken/);
  await assert.rejects(bounded.verify("", ""), /broken/, "a failure gives its place back");
});
