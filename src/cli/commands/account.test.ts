import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openShell, ANN } from "../../../test/process/account-shell.ts";

interface Created {
  readonly account_id: string;
  readonly api_key: string;
}

test("create prints the account and its first key, in exactly the documented shape", async (t) => {
  const { json } = openShell(t);
  const made = (await json(
    "account",
    "create",
    ` Ann@GATEPOST.example`,
    "--tier",
    "pro",
  )) as Created;
  assert.deepEqual(Object.keys(made), ["account_id", "email", "tier", "api_key"]);
  assert.deepEqual(
    { ...made, api_key: "" },
    { account_id: made.account_id, email: ANN, tier: "pro", api_key: "" },
  );
  assert.match(made.account_id, /^[0-9a-f]{32}$/);
  assert.match(made.api_key, /^gp_live_[0-9A-Za-z]{40}$/);
});

test("the key is printed once, and that it is not shown again", async (t) => {
  const { run } = openShell(t);
  const { out, code } = await run("account", "create", ANN);
  assert.equal(code, 0);
  assert.match(
    out,
    /^account [0-9a-f]{32} \(ann@gatepost\.example, free\)\nkey {5}gp_live_\w{40}\nThe key is not/,
  );
});

test("keys are made, listed and revoked, and never stored", async (t) => {
  const { json, run, dataDir } = openShell(t);
  const { api_key: first } = (await json("account", "create", ANN)) as Created;
  const made = (await json("key", "create", ANN, "--name", "web shop")) as Record<string, string>;
  assert.deepEqual(Object.keys(made), ["id", "name", "api_key"]);
  assert.equal(made["name"], "web shop");
  const key = made["api_key"] ?? "";
  const revoked = await json("key", "revoke", made["id"] ?? "", "--yes");
  assert.deepEqual(revoked, { id: made["id"], revoked: true });
  const listed = (await json("key", "list", ANN)) as Record<string, unknown>[];
  assert.equal(listed.length, 2);
  assert.deepEqual(
    listed.find(({ id }) => id === made["id"]),
    {
      id: made["id"],
      name: "web shop",
      prefix: key.slice(0, 12),
      last_four: key.slice(-4),
      created_at: "2026-11-20T12:00:00.000Z",
      last_used_at: null,
      revoked_at: "2026-11-20T12:00:00.000Z",
    },
  );
  assert.match(
    (await run("key", "list", ANN)).out,
    /web shop +gp_live_\w{4}\.\.\.\w{4} .* revoked 2026/,
  );
  for (const name of ["gatepost.db", "gatepost.db-wal"]) {
    const path = join(dataDir, name);
    const bytes = existsSync(path) ? readFileSync(path, "latin1") : "";
    for (const secret of [first, key]) assert.ok(!bytes.includes(secret.slice(12, 44)));
  }
});

test("without a password the output says how an administrator sets one", async (t) => {
  const { run } = openShell(t);
  const { code, err } = await run("account", "create", ANN, "--admin");
  assert.equal(code, 0);
  assert.match(err, /gatepost account password ann@gatepost\.example --password-stdin/);
});

test("tier, credits, disabling and a password change what list shows", async (t) => {
  const { json, run } = openShell(t, "correct horse battery");
  const { account_id: id } = (await json("account", "create", ANN, "--admin")) as Created;
  const refused = await run("account", "tier", ANN, "starter");
  assert.equal(refused.code, 1);
  assert.match(refused.err, /An administrator has the plan pro/);
  await json("account", "credit", id, "100", "--reason", "invoice 7");
  await json("account", "credit", ANN, "-30");
  await json("account", "password", ANN, "--password-stdin");
  await json("account", "disable", id.toUpperCase());
  const want = {
    account_id: id,
    email: ANN,
    tier: "pro",
    credits: 70,
    admin: true,
    disabled: true,
    second_factor: false,
    counts_traffic: true,
    logs_decisions: false,
    created_at: "2026-11-20T12:00:00.000Z",
  };
  assert.deepEqual(await json("account", "list"), [want]);
  assert.deepEqual(await json("account", "demote", ANN), { ...want, admin: false });
  assert.equal((await run("account", "tier", ANN, "starter")).code, 0);
  assert.deepEqual(await json("account", "promote", ANN), want);
  assert.deepEqual(await json("account", "enable", ANN), { ...want, disabled: false });
  assert.match(
    (await run("account", "list")).out,
    /ID +EMAIL +TIER +CREDITS +STATE\n.* pro +70 +enabled admin\n/,
  );
  const quiet = { ...want, disabled: false, counts_traffic: false };
  assert.deepEqual(await json("account", "traffic", ANN, "off"), quiet);
  assert.match((await run("account", "list")).out, / enabled admin no traffic\n/);
  assert.equal((await run("account", "traffic", ANN, "on")).code, 0);
  const logged = { ...want, disabled: false, logs_decisions: true };
  assert.deepEqual(await json("account", "log", ANN, "on"), logged);
  assert.match((await run("account", "list")).out, / enabled admin log\n/);
  assert.equal((await run("account", "log", ANN, "off")).code, 0);
  assert.equal((await run("account", "log", ANN, "maybe")).code, 2);
  assert.equal((await run("account", "traffic", ANN, "maybe")).code, 2);
});

test("an empty store lists nothing", async (t) => {
  const { json, run } = openShell(t);
  assert.deepEqual(await json("account", "list"), []);
  assert.equal((await run("account", "list")).out, "ID  EMAIL  TIER  CREDITS  STATE\n");
});

for (const [name, isSure, code] of [
  ["a person at a terminal who says yes revokes", true, 0],
  ["a person at a terminal who says no does not", false, 1],
] as const) {
  test(name, async (t) => {
    const asked: string[] = [];
    const { run, json } = openShell(t, "", {
      interactive: true,
      confirm: (question) => {
        asked.push(question);
        return Promise.resolve(isSure);
      },
    });
    await run("account", "create", ANN);
    const [key] = (await json("key", "list", ANN)) as { readonly id: string }[];
    const id = key?.id ?? "";
    assert.equal((await run("key", "revoke", id)).code, code);
    assert.deepEqual(asked, [`Revoke key ${id}?`]);
  });
}

test("token-secret prints a new secret each time, once", async (t) => {
  const shell = openShell(t);
  await shell.run("account", "create", "jo@example.com");
  const first = await shell.run("account", "token-secret", "jo@example.com");
  assert.match(first.out, /token secret {2}gp_sign_[A-Za-z0-9_-]{43}\n/);
  const made = (await shell.json("account", "token-secret", "jo@example.com")) as object;
  assert.deepEqual(Object.keys(made), ["account_id", "token_secret"]);
  const unknown = await shell.run("account", "token-secret", "eve@example.com");
  assert.deepEqual([unknown.code, unknown.out], [1, ""]);
});
