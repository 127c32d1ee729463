// A batch that completed gets its delivery row, whatever the database does and whoever dies.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { after, before, test } from "node:test";
import pg from "pg";
import { openAccount } from "../../kill/front.ts";
import { openGround } from "../../kill/ground.ts";
import { testWith } from "../../process/require-tool.ts";
import { mailZone, missingServices, openScaledWorld } from "../../scaled/scaled-world.ts";
import type { ScaledAccount } from "../../scaled/scaled-account.ts";
import { until } from "../../time/until.ts";

const NAMES = "d1.example,d2.example";
const LOCKED_MS = 4_000;

const missing = missingServices();
let opened: Awaited<ReturnType<typeof openScaledWorld>> | undefined;

const here = () => {
  assert.ok(opened !== undefined);
  return opened;
};

before(async () => {
  if (missing.length > 0) return;
  opened = await openScaledWorld({ zone: mailZone(NAMES.split(","), 0) });
});

after(() => opened?.close());

const rule = (sentence: string, check: () => Promise<void>): void =>
  testWith(["postgresql"], missing, `webhook rows: ${sentence}`, check);

/** A batch that is checked at once; its session. */
async function complete(account: ScaledAccount, api: string): Promise<string> {
  const answer = await account.post(api, "/api/domain", { domain: NAMES, bulk: "true" });
  assert.equal(answer.status, 200, answer.body);
  return (JSON.parse(answer.body) as { session: string }).session;
}

const rowsOf = async (account: ScaledAccount, sessions: readonly string[]) => {
  const { webhooks } = await account.books();
  return sessions.map((session) => webhooks.get(session) ?? 0);
};

rule("a lock on tables loses none, and a worker that starts meanwhile waits", async () => {
  const world = here();
  const api = await world.start({ command: "serve" });
  const account = await world.account();
  const client = new pg.Client({ connectionString: world.urls.databaseUrl });
  await client.connect();
  await client.query("begin; lock table webhook_deliveries, installation in access exclusive mode");
  const worker = world.start({ command: "worker" });
  const sessions: string[] = [];
  for (let passed = 0; passed < LOCKED_MS; passed += 500) {
    sessions.push(await complete(account, api.url));
    await pause(500);
  }
  await client.query("commit");
  await client.end();
  await worker;
  const all = sessions.map(() => 1);
  await until(async () => (await rowsOf(account, sessions)).every((rows) => rows > 0));
  assert.deepEqual(await rowsOf(account, sessions), all);
  await Promise.all([api.stop("SIGKILL"), (await worker).stop("SIGKILL")]);
});

rule("a server killed right after its answer loses none", async () => {
  const world = here();
  const account = await world.account();
  const sessions: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const api = await world.start({ command: "serve" });
    sessions.push(await complete(account, api.url));
    await api.stop("SIGKILL");
  }
  const worker = await world.start({ command: "worker" });
  await until(async () => (await rowsOf(account, sessions)).every((rows) => rows > 0));
  await worker.stop("SIGKILL");
});

test("webhook rows: an embedded server killed right after its answer loses none", async (t) => {
  const ground = await openGround("sqlite");
  t.after(() => ground.close());
  const { headers } = await ground.look((sql) => openAccount(sql, "ada", "pro"));
  const [place] = ground.places;
  const sessions: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    await place?.start();
    const url = `${place?.running?.url ?? ""}/api/domain`;
    const body = new URLSearchParams({ domain: "n1.example,n2.example", bulk: "true" });
    const answer = await fetch(url, { method: "POST", headers, body });
    assert.equal(answer.status, 200);
    sessions.push(((await answer.json()) as { session: string }).session);
    await place?.stop("SIGKILL");
  }
  await place?.start();
  const rows = () =>
    ground.look(({ db }) => db.selectFrom("webhook_deliveries").select("session").execute());
  await until(async () => (await rows()).length >= sessions.length, { everyMs: 200 });
  assert.deepEqual(new Set((await rows()).map(({ session }) => session)), new Set(sessions));
  assert.equal((await rows()).length, sessions.length);
});
