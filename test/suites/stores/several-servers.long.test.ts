// What two servers on the same stores must agree on, as processes, and notices from commands.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { domains } from "../../bulk/bulk-world.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { PASSWORD } from "../../dashboard/dashboard-world.ts";
import { check, refusedWithin } from "../../time/refused-within.ts";
import { testWith } from "../../process/require-tool.ts";
import type { ScaledAccount } from "../../scaled/scaled-account.ts";
import {
  mailZone,
  missingServices,
  openScaledWorld,
  type ScaledWorld,
  SECRET_KEY,
} from "../../scaled/scaled-world.ts";
import { type Answered, readError } from "../../http/strict-client.ts";
import { until } from "../../time/until.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const ENTRIES = 1_204;
const FEW = 20;

/** A key is trusted for 4 s after it was read: anything faster came by notice. */
const BY_NOTICE_MS = 3_000;
const BY_POLL_MS = 5_000;

/** Names that no earlier case used. */
const WATCHED = domains(ENTRIES).replaceAll(".example", ".watched.example");
const zone = mailZone(`${domains(ENTRIES)}\n${WATCHED}`.split("\n"), 20);

const missing = missingServices();
const folder = temporaryFolder();
let opened: { world: ScaledWorld; apis: readonly [string, string] } | undefined;

const here = () => {
  assert.ok(opened !== undefined);
  return opened;
};

before(async () => {
  if (missing.length > 0) return;
  const world = await openScaledWorld({ zone, environment: { GATEPOST_TRUST_PROXY: "127.0.0.1" } });
  const [first, second] = await Promise.all([
    world.start({ command: "serve" }),
    world.start({ command: "serve" }),
    // Slow enough to observe.
    world.start({ command: "worker", dnsWindowMax: 8 }),
  ]);
  opened = { world, apis: [first.url, second.url] };
});

after(() => opened?.world.close());

const rule = (sentence: string, check: () => Promise<void>): void =>
  testWith(["postgresql"], missing, `several servers: ${sentence}`, check);

/** The same batch with the same Idempotency-Key on both servers at once. */
const twins = (account: ScaledAccount, key: string, text: string): Promise<readonly Answered[]> =>
  Promise.all(
    here().apis.map(async (api) => {
      const answer = await fetch(`${api}/api/domain`, {
        method: "POST",
        headers: { "x-api-key": account.apiKey, "idempotency-key": key },
        body: new URLSearchParams({ domain: text, bulk: "true" }),
      });
      const { status, headers } = answer;
      return { status, headers: Object.fromEntries(headers), body: await answer.text() };
    }),
  );

/** One answer; the other one is equal unless it came too early. */
function assertOneAnswer(answers: readonly Answered[]): string {
  const given = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body));
  assert.equal(given.size, 1, answers.map(({ status, body }) => `${status} ${body}`).join("\n"));
  for (const answer of answers) if (answer.status !== 200) readError(answer, 409);
  return [...given][0] ?? "";
}

rule("the same batch sent twice is one batch, 20 times", async () => {
  const account = await here().world.account();
  for (let round = 1; round <= 20; round += 1) {
    const key = `round ${String(round)}`;
    const text = domains(FEW);
    const first = assertOneAnswer(await twins(account, key, text));
    const again = await twins(account, key, text);
    assert.deepEqual(
      again.map(({ status, body }) => [status, body]),
      [
        [200, first],
        [200, first],
      ],
    );
    assert.equal((await account.books()).units, round * FEW);
  }
});

rule("of forty wrong passwords at once ten are tried", async () => {
  const { world, apis } = here();
  const email = "guessed@gatepost.example";
  const order = {
    email,
    password: PASSWORD,
    tier: "free",
    origin: "operator",
    isAdmin: false,
  } as const;
  assert.equal((await world.store.accounts.create(order)).kind, "created");
  const tries = Array.from({ length: 40 }, async (_, at) => {
    const url = apis[at % 2 === 0 ? 0 : 1];
    const headers = { "x-forwarded-for": `198.51.${String(at)}.7` };
    const body = { email, password: `wrong number ${String(at)}` };
    const { status } = await new Browser({ url }).call("POST", "/account/sign-in", {
      body,
      headers,
    });
    return status;
  });
  const statuses = await Promise.all(tries);
  const count = (status: number): number => statuses.filter((one) => one === status).length;
  assert.equal(count(401), 10, statuses.join(" "));
  assert.equal(count(429) + count(503), 30, "the others are refused untried");
});

rule("the other server reports a job's progress", async () => {
  const { world, apis } = here();
  const account = await world.account();
  // No entry is checked before progress is reported, and not all before it is reported again.
  const letLastGo = world.dns.hold((name) => /^d1\d{3}\.watched/.test(name));
  const letOthersGo = world.dns.hold((name) => name.endsWith(".watched.example"));
  const session = await account.queue(apis[0], WATCHED);
  const told = async (): Promise<{ status: string; processed_count?: number }> => {
    const headers = { "x-api-key": account.apiKey };
    const answer = await fetch(`${apis[1]}/api/view/${session}/json`, { headers });
    return (await answer.json()) as { status: string; processed_count?: number };
  };
  assert.match((await told()).status, /^(?:pending|processing)$/);
  letOthersGo();
  await until(async () => ((await told()).processed_count ?? 0) > 0 || undefined, {
    what: "progress of a job that another server checks",
    withinMs: 60_000,
  });
  letLastGo();
  await until(async () => "stats" in (await told()) || undefined, {
    what: "its results",
    withinMs: 60_000,
  });
});

const firstKey = async ({ accountId }: ScaledAccount): Promise<string> => {
  const [key] = (await here().world.store.keys.list(accountId)) ?? [];
  assert.ok(key !== undefined);
  return key.id;
};

/** In the dashboard of the first server. */
async function signedIn(account: ScaledAccount): Promise<Browser> {
  const { world, apis } = here();
  await world.store.accounts.setPassword(account.accountId, PASSWORD);
  const found = await world.store.accounts.find(account.accountId);
  const browser = new Browser({ url: apis[0] });
  assert.equal((await browser.signIn(found?.email ?? "", PASSWORD)).status, 204);
  return browser;
}

/** Revokes the account's key in the dashboard of the first server. */
async function revokeByDashboard(account: ScaledAccount): Promise<void> {
  const browser = await signedIn(account);
  const id = await firstKey(account);
  assert.deepEqual(await check(account, here().apis), [200, 200]);
  assert.equal((await browser.delete(`keys/${id}`)).status, 204);
}

rule("a key revoked on one server is refused by the other at once", async () => {
  const account = await here().world.account();
  await revokeByDashboard(account);
  await refusedWithin(account, here().apis, BY_NOTICE_MS);
});

rule("without a session that hears notices it is refused within 5 s", async () => {
  const account = await here().world.account();
  const cut = "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'";
  await here().world.postgres.run(cut);
  await revokeByDashboard(account);
  await refusedWithin(account, here().apis, BY_POLL_MS);
});

/** Runs a command of the program like an operator, and gives its output; rejects unless it exits with 0. */
function command(...args: readonly string[]): Promise<string> {
  const program = fileURLToPath(new URL("../../../src/main/gatepost.js", import.meta.url));
  const env = childEnvironment({
    DATABASE_URL: here().world.urls.databaseUrl,
    GATEPOST_SECRET_KEY: SECRET_KEY.toString("base64"),
    GATEPOST_DATA_DIR: folder,
  });
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { env }, (fault, out, err) => {
      if (fault === null) resolve(out);
      else reject(new Error(err, { cause: fault }));
    });
  });
}

/** The notices of a command; the last may arrive after its end. */
async function toldBy(...args: readonly string[]): Promise<readonly string[]> {
  const listener = new pg.Client({ connectionString: here().world.urls.databaseUrl });
  const told: string[] = [];
  listener.on("notification", ({ payload = "" }) => told.push(payload.split(" ")[0] ?? ""));
  await listener.connect();
  await listener.query("listen gatepost");
  try {
    await command(...args);
    // Deliveries of the tests before wake the workers at any time.
    const own = (): readonly string[] => told.filter((topic) => topic !== "webhooks");
    await until(() => own().length > 0, { what: "a notice" });
    return own();
  } finally {
    await listener.end();
  }
}

rule("a key revoked by a command is announced to all processes and refused", async () => {
  const account = await here().world.account();
  const id = await firstKey(account);
  assert.deepEqual(await check(account, here().apis), [200, 200]);
  assert.deepEqual(await toldBy("key", "revoke", id, "--yes"), ["accounts"]);
  await refusedWithin(account, here().apis, BY_POLL_MS);
});

/** Waits until both servers sign the account's tokens with this secret. */
async function signWith(account: ScaledAccount, secret: string): Promise<void> {
  assert.match(secret, /^gp_sign_[\w-]{43}$/);
  for (const api of here().apis) {
    const isSigner = async (): Promise<boolean> => {
      const form = { email: "jo@d1.example", token: "true" };
      const { body } = await account.post(api, "/api/decide", form);
      const { token = "" } = JSON.parse(body) as { token?: string };
      const end = token.lastIndexOf(".");
      const mac = createHmac("sha256", secret).update(token.slice(0, end)).digest("base64url");
      return mac === token.slice(end + 1);
    };
    await until(isSigner, { what: `tokens by the new secret from ${api}` });
  }
}

rule(
  "a token secret of a command or of the dashboard ends the old one on all servers",
  async () => {
    const { world, apis } = here();
    const account = await world.account();
    const words = ["account", "token-secret", account.accountId, "--json"];
    const made = JSON.parse(await command(...words)) as Record<string, string>;
    await signWith(account, made["token_secret"] ?? "");
    const stranger = await new Browser({ url: apis[0] }).post("token-secret");
    assert.equal(stranger.status, 401);
    const browser = await signedIn(account);
    const { status, json } = await browser.post("token-secret");
    assert.equal(status, 200);
    const { secret } = json as { readonly secret: string };
    await signWith(account, secret);
    const { text } = await browser.get("activity");
    assert.equal(text.split("account.token_secret").length - 1, 2, "both are on record");
    assert.ok(!text.includes("gp_sign_"));
  },
);

rule("a deny rule of a command is announced to all processes and applied", async () => {
  const { world, apis } = here();
  const account = await world.account();
  assert.deepEqual(await toldBy("lists", "deny", "d2.example"), ["lists"]);
  for (const api of apis) {
    const isDenied = async (): Promise<boolean> =>
      (await account.get(api, "/api/domain/d2.example")).body.includes('"disposable":true');
    await until(isDenied, { what: `its denial by ${api}` });
  }
});

rule("a farm that signs up on both is found by each", async () => {
  const { world, apis } = here();
  const account = await world.account();
  const [name = ""] = domains(1).split("\n");
  const decide = async (api: string, local: string): Promise<string> => {
    const { body } = await account.post(api, "/api/decide", { email: `${local}@${name}` });
    const { decision, reason } = JSON.parse(body) as { decision: string; reason: string };
    return `${decision} ${reason}`;
  };
  for (const [at, local] of ["a", "b", "c", "d"].entries()) {
    assert.equal(await decide(apis[at % 2] ?? "", local), "accept ok");
  }
  for (const api of apis) await until(async () => (await decide(api, "e")) === "review burst");
});
