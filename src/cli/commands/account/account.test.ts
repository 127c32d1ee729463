import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { countingIds, openStores } from "../../../../test/contracts/stores.ts";
import { recordingTerminal } from "../../../../test/process/recording-terminal.ts";
import { memoryRateCounter } from "../../../adapters/memory/rate-counter.ts";
import { sqlAccounts } from "../../../adapters/sql/account/accounts.ts";
import { sqlCredits } from "../../../adapters/sql/admission/credits.ts";
import { openEmbedded } from "../../../adapters/sql/engine/database.ts";
import { sqlHooks } from "../../../adapters/sql/policy/hooks.ts";
import { sqlOutcomes } from "../../../adapters/sql/policy/outcomes.ts";
import { sqlKeys } from "../../../adapters/sql/account/keys.ts";
import { sqlOwnSpellings } from "../../../adapters/sql/evidence/own-spellings.ts";
import type { Passwords } from "../../../ports/account/passwords.ts";
import { createAccountService } from "../../../service/account/accounts.ts";
import { createAdmission } from "../../../service/admission/counting-admission.ts";
import { createCreditService } from "../../../service/account/credits.ts";
import { createOutcomeReport } from "../../../service/policy/outcome-report.ts";
import { createKeyService } from "../../../service/account/keys.ts";
import { createSpellingSwitch } from "../../../service/account/spelling-switch.ts";
import { DEFAULT_TIERS } from "../../../service/admission/tiers.ts";
import { program, runProgram } from "../../program.ts";
import { accountCommand } from "./account.ts";
import type { AccountDeps, CliAccounts } from "./account-deps.ts";
import { keyCommand } from "./key.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const clock = { nowMs: () => NOW_MS };
const passwords: Passwords = {
  hash: (password) => Promise.resolve(`hash of ${String(password.length)} characters`),
  verify: () => Promise.resolve(false),
};

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Shell {
  readonly dataDir: string;
  readonly run: (...words: string[]) => Promise<Outcome>;
  /** Runs with --json and reads what came. */
  readonly json: (...words: string[]) => Promise<unknown>;
}

interface More extends Partial<Pick<AccountDeps, "openAccounts" | "confirm">> {
  readonly isInteractive?: true;
}

function openShell(t: TestContext, input = "", more: More = {}): Shell {
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-cli-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const ids = countingIds();
  const openAccounts = async (): Promise<CliAccounts> => {
    const { db, close } = await openEmbedded(dataDir, NOW_MS);
    const keys = createKeyService({ keys: sqlKeys(db), ids, clock });
    const credits = createCreditService({ credits: sqlCredits(db), clock });
    const accounts = sqlAccounts(db);
    return {
      accounts: createAccountService({ accounts, passwords, ids, clock }),
      keys,
      credits,
      switchSpellings: createSpellingSwitch({ accounts, spellings: sqlOwnSpellings(db), clock }),
      reportOutcomes: createOutcomeReport({
        outcomes: sqlOutcomes(db),
        keys: sqlKeys(db),
        hooks: sqlHooks(db),
        clock,
      }),
      close,
    };
  };
  const run = async (...words: string[]): Promise<Outcome> => {
    const { isInteractive: interactive = false, ...changed } = more;
    const terminal = { ...recordingTerminal(), interactive };
    const deps: AccountDeps = {
      terminal,
      openAccounts,
      readInput: () => Promise.resolve(input),
      confirm: () => Promise.reject(new Error("unexpected question")),
      ...changed,
    };
    const root = program("1.2.3", terminal, [accountCommand(deps), keyCommand(deps)]);
    const code = await runProgram(root, words, terminal);
    return { code, out: terminal.written(), err: terminal.complained() };
  };
  const json = async (...words: string[]): Promise<unknown> => {
    const { code, out, err } = await run(...words, "--json");
    assert.deepEqual([code, err], [0, ""], words.join(" "));
    assert.equal(out.split("\n").length, 2, "one line of JSON and nothing else");
    return JSON.parse(out) as unknown;
  };
  return { dataDir, run, json };
}

const ANN = "ann@gatepost.example";

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
    counts_spellings: false,
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
  const counting = { ...want, disabled: false, counts_spellings: true };
  assert.deepEqual(await json("account", "spellings", ANN, "on"), counting);
  assert.match((await run("account", "list")).out, / enabled admin spellings\n/);
  assert.equal((await run("account", "spellings", ANN, "off")).code, 0);
  assert.equal((await run("account", "spellings", ANN, "maybe")).code, 2);
});

test("an empty store lists nothing", async (t) => {
  const { json, run } = openShell(t);
  assert.deepEqual(await json("account", "list"), []);
  assert.equal((await run("account", "list")).out, "ID  EMAIL  TIER  CREDITS  STATE\n");
});

for (const [name, words, code, want] of [
  [
    "an e-mail address that is taken is no",
    ["account", "create", "taken@gatepost.example"],
    1,
    /an account with this email address exists/,
  ],
  [
    "an invalid e-mail address is bad usage",
    ["account", "create", "ann"],
    2,
    /not a valid email address/,
  ],
  [
    "an unknown tier is bad usage",
    ["account", "create", ANN, "--tier", "gold"],
    2,
    /Allowed choices/,
  ],
  [
    "the anonymous tier is refused for accounts",
    ["account", "tier", "taken@gatepost.example", "anonymous"],
    2,
    /Allowed choices/,
  ],
  [
    "an unknown account is no",
    ["account", "disable", "nobody@gatepost.example"],
    1,
    /^gatepost: no account nobody/,
  ],
  [
    "an account that would drive the terminal is shown without",
    ["account", "enable", "\u001b[2J"],
    1,
    /^gatepost: no account \ufffd\[2J\n$/,
  ],
  [
    "a balance below 0 is no",
    ["account", "credit", "taken@gatepost.example", "-1"],
    1,
    /the balance is 0/,
  ],
  [
    "no credits are bad usage",
    ["account", "credit", "taken@gatepost.example", "0"],
    2,
    /amount must be/,
  ],
  [
    "half a credit is bad usage",
    ["account", "credit", "taken@gatepost.example", "1.5"],
    2,
    /whole number/,
  ],
  [
    "too many credits are bad usage",
    ["account", "credit", "taken@gatepost.example", "1000000001"],
    2,
    /amount must be/,
  ],
  [
    "a reason of two lines is bad usage",
    ["account", "credit", "taken@gatepost.example", "1", "--reason", "a\nb"],
    2,
    /one line/,
  ],
  [
    "a short password is bad usage",
    ["account", "password", "taken@gatepost.example", "--password-stdin"],
    2,
    /10 to 1000 characters/,
  ],
  [
    "a short password makes no account",
    ["account", "create", ANN, "--password-stdin"],
    2,
    /10 to 1000 characters/,
  ],
  [
    "a password on the command line is bad usage",
    ["account", "password", "taken@gatepost.example", "secret"],
    2,
    /./,
  ],
  [
    "a missing amount is bad usage",
    ["account", "credit", "taken@gatepost.example"],
    2,
    /missing required argument/,
  ],
  ["a key of nobody is no", ["key", "create", "nobody"], 1, /^gatepost: no account nobody\n$/],
  [
    "a key without a name is bad usage",
    ["key", "create", "taken@gatepost.example", "--name", " "],
    2,
    /one line of 1 to 100/,
  ],
  ["an unknown key is no", ["key", "revoke", "k", "--yes"], 1, /^gatepost: no key k\n$/],
  ["the command alone is bad usage", ["account"], 2, /Usage: gatepost account/],
] as const) {
  test(`exit code: ${name}`, async (t) => {
    const { run } = openShell(t, "short");
    await run("account", "create", "taken@gatepost.example");
    const { out, err, ...outcome } = await run(...words);
    assert.equal(outcome.code, code);
    assert.match(err, want);
    assert.equal(out, "");
  });
}

test("a store that cannot be opened is a failure with its reason", async (t) => {
  const { run } = openShell(t, "", {
    openAccounts: () => openEmbedded("/dev/null/x", NOW_MS).then(() => Promise.reject(new Error())),
  });
  const { code, err } = await run("account", "list");
  assert.equal(code, 3);
  assert.match(err, /^gatepost: data directory \/dev\/null\/x: it is not a directory\n$/);
});

for (const [name, isSure, code] of [
  ["a person at a terminal who says yes revokes", true, 0],
  ["a person at a terminal who says no does not", false, 1],
] as const) {
  test(name, async (t) => {
    const asked: string[] = [];
    const { run, json } = openShell(t, "", {
      isInteractive: true,
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

test("a running server follows the command line within 5 s", async (t) => {
  const { dataDir, json, run } = openShell(t);
  const server = await openStores(t, dataDir);
  const keys = sqlKeys(server.sql.db);
  const admission = createAdmission({
    ...server,
    keys,
    rates: memoryRateCounter(),
    quotas: server.counter,
    tiers: DEFAULT_TIERS,
  });
  const { api_key: apiKey } = (await json("account", "create", ANN)) as Created;
  const enter = async () => {
    server.clock.advance(5_000);
    return admission.enter({ apiKey: [apiKey], authorization: [] }, "192.0.2.1");
  };
  assert.equal((await enter()).rate?.limit, 60);
  await run("account", "tier", ANN, "pro");
  assert.equal((await enter()).rate?.limit, 500);
  await run("account", "credit", ANN, "5");
  assert.equal((await enter()).hasCredits, true);
  await run("account", "disable", ANN);
  assert.equal((await enter()).refusal?.status, 403);
  await run("account", "enable", ANN);
  assert.equal((await enter()).refusal, undefined);
  const [key] = (await json("key", "list", ANN)) as { readonly id: string }[];
  await run("key", "revoke", key?.id ?? "");
  assert.equal((await enter()).refusal?.status, 401);
});
