import assert from "node:assert/strict";
import { test } from "node:test";
import { Accounts } from "../../accounts/accounts-store.ts";
import { openEmbedded } from "../../store/database.ts";
import { NOW_MS, openShell, ANN } from "../../../test/process/account-shell.ts";

/** Words of the command lines. */
const NAMED: Readonly<Record<string, string>> = { ANN, TAKEN: "taken@gatepost.example" };

for (const [name, words, code, want] of [
  [
    "an e-mail address that is taken is no",
    "account create TAKEN",
    1,
    /An account has this address already/,
  ],
  ["an invalid e-mail address is bad usage", "account create ann", 2, /not a valid email address/],
  ["an unknown tier is bad usage", "account create ANN --tier gold", 2, /Allowed choices/],
  [
    "the anonymous tier is refused for accounts",
    "account tier TAKEN anonymous",
    2,
    /Allowed choices/,
  ],
  [
    "an unknown account is no",
    "account disable nobody@gatepost.example",
    1,
    /^gatepost: no account nobody/,
  ],
  [
    "an account that would drive the terminal is shown without",
    ["account", "enable", "\u001b[2J"],
    1,
    /^gatepost: no account \ufffd\[2J\n$/,
  ],
  ["a balance below 0 is no", "account credit TAKEN -1", 1, /has 0 credits/],
  ["no credits are bad usage", "account credit TAKEN 0", 2, /amount is a whole/],
  ["half a credit is bad usage", "account credit TAKEN 1.5", 2, /whole number/],
  ["too many credits are bad usage", "account credit TAKEN 1000000001", 2, /amount is a whole/],
  [
    "a reason of two lines is bad usage",
    ["account", "credit", "taken@gatepost.example", "1", "--reason", "a\nb"],
    2,
    /one line/,
  ],
  [
    "a short password is bad usage",
    "account password TAKEN --password-stdin",
    2,
    /at least 10 characters/,
  ],
  [
    "a short password makes no account",
    "account create ANN --password-stdin",
    2,
    /at least 10 characters/,
  ],
  ["a password on the command line is bad usage", "account password TAKEN secret", 2, /./],
  ["a missing amount is bad usage", "account credit TAKEN", 2, /missing required argument/],
  ["a key of nobody is no", "key create nobody", 1, /^gatepost: no account nobody\n$/],
  [
    "a key without a name is bad usage",
    ["key", "create", "taken@gatepost.example", "--name", " "],
    2,
    /one line of at most 100/,
  ],
  ["an unknown key is no", "key revoke k --yes", 1, /^gatepost: no key k\n$/],
  ["the command alone is bad usage", "account", 2, /Usage: gatepost account/],
] as const) {
  test(`exit code: ${name}`, async (t) => {
    const { run } = openShell(t, "short");
    await run("account", "create", NAMED["TAKEN"] ?? "");
    const line = typeof words === "string" ? words.split(" ") : words;
    const { out, err, ...outcome } = await run(...line.map((word) => NAMED[word] ?? word));
    assert.equal(outcome.code, code);
    assert.match(err, want);
    assert.equal(out, "");
  });
}

test("promote: an account of a sign-up gets a new password, with a warning", async (t) => {
  const { run, dataDir } = openShell(t);
  await run("account", "list");
  const { db, close } = await openEmbedded(dataDir, NOW_MS);
  const accounts = new Accounts(db);
  const stranger = {
    id: "s1",
    email: "ann@gatepost.example",
    tier: "free",
    admin: 0,
  } as const;
  const made = {
    ...stranger,
    origin: "signup",
    created_at_ms: NOW_MS,
    password_hash: "old",
  } as const;
  await accounts.create(made);
  const { code, out, err } = await run("account", "promote", "ann@gatepost.example");
  assert.equal(code, 0, err);
  assert.match(
    err,
    /^Warning: ann@gatepost\.example was registered by a sign-up.*\npassword \S{24}\n/,
  );
  assert.doesNotMatch(out, /password/);
  assert.notEqual(await accounts.passwordHash("s1"), "old");
  assert.equal((await accounts.find("s1"))?.isAdmin, true);
  await close();
});

test("promoting an account of the operator warns of nothing, and another's address stays taken", async (t) => {
  const { run } = openShell(t);
  await run("account", "create", "bob@gatepost.example");
  assert.deepEqual((await run("account", "create", "bob@gatepost.example", "--admin")).code, 1);
  assert.equal((await run("account", "promote", "bob@gatepost.example")).err, "");
});

test("NUL in an argument is bad usage", async (t) => {
  const { run } = openShell(t);
  await run("account", "create", "bob@gatepost.example");
  assert.equal((await run("account", "disable", "bob@gatepost.example\0")).code, 2);
});

test("a store that cannot be opened is a failure with its reason", async (t) => {
  const { run } = openShell(t, "", {
    openAccounts: () => openEmbedded("/dev/null/x", NOW_MS).then(() => Promise.reject(new Error())),
  });
  const { code, err } = await run("account", "list");
  assert.equal(code, 3);
  assert.match(
    err,
    /^gatepost: data directory \/dev\/null\/x: it is not a directory\nSee docs\/operations\/troubleshooting\.md#a-start-that-fails\n$/,
  );
});
