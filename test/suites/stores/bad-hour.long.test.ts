// What the operator is told while PostgreSQL, workers or the holder of duties are away, as processes.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { HealthState } from "../../../src/http/account/shapes.ts";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { PASSWORD } from "../../dashboard/dashboard-world.ts";
import { testWith } from "../../process/require-tool.ts";
import { missingServices, openScaledWorld, type ScaledWorld } from "../../scaled/scaled-world.ts";
import { until } from "../../time/until.ts";

const missing = missingServices();
let world: ScaledWorld;

before(async () => {
  if (missing.length === 0) world = await openScaledWorld({ environment: { LOG_LEVEL: "info" } });
});
after(() => world?.close());

const rule = (name: string, body: () => Promise<void>): void =>
  testWith(["postgresql"], missing, name, body);

async function administrator(url: string): Promise<Browser> {
  const email = `boss-${String(Date.now())}@example.com`;
  const order = {
    email,
    tier: "pro",
    origin: "operator",
    isAdmin: true,
    password: PASSWORD,
  } as const;
  await world.store.accounts.create(order);
  const browser = new Browser({ url });
  await browser.post("sign-in", { email, password: PASSWORD });
  return browser;
}

const health = async (browser: Browser): Promise<HealthState> =>
  (await browser.get("admin/health")).json as HealthState;

/** Slowly: the dashboard takes 600 requests a minute from one address. */
const seen = (look: () => Promise<boolean>): Promise<unknown> => until(look, { everyMs: 300 });

const broken = async (browser: Browser): Promise<readonly string[]> =>
  (await health(browser)).broken.map(({ part }) => part);

rule("an idle worker is seen, and one that is gone is told", async () => {
  const server = await world.start({ command: "serve" });
  const browser = await administrator(server.url);
  await seen(async () => (await broken(browser)).includes("workers"));
  const worker = await world.start({ command: "worker" });
  await seen(async () => !(await broken(browser)).includes("workers"));
  await worker.stop("SIGTERM");
  await seen(async () => (await broken(browser)).includes("workers"));
  await server.stop("SIGKILL");
});

rule("who is signed in is told that PostgreSQL is stopped, since when and what to do", async () => {
  const server = await world.start({ command: "serve" });
  const browser = await administrator(server.url);
  assert.ok(!(await broken(browser)).includes("database"));
  await world.postgres.stop("fast");
  const startedMs = Date.now();
  await seen(async () => (await broken(browser)).includes("database"));
  const [first] = (await health(browser)).broken;
  assert.equal(first?.stops, true);
  assert.match(first.says, /of 127\.0\.0\.1:\d+ \(PostgreSQL\) does not answer/);
  assert.match(first.to_do, /^Start PostgreSQL/);
  assert.ok(Date.parse(first.since) >= startedMs - 1_000);
  const session = await browser.get("session");
  assert.equal((session.json as { account?: { admin?: boolean } }).account?.admin, true);
  assert.equal((await browser.get("keys")).status, 503);
  const ready = await fetch(`${server.url}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), /database/);
  await world.postgres.start();
  await seen(async () => !(await broken(browser)).includes("database"));
  const told = (event: string): number =>
    server.text().match(new RegExp(`"part":"database".*"health\\.${event}"`, "g"))?.length ?? 0;
  await until(() => told("mended") > 0); // its line may be on its way
  assert.deepEqual([told("broken"), told("mended")], [1, 1]);
  await server.stop("SIGKILL");
});

rule("the duties of a process that hangs are another's within two minutes", async () => {
  const first = await world.start({ command: "serve" });
  await until(() => first.text().includes('"duty.started"'));
  const second = await world.start({ command: "serve" });
  first.child.kill("SIGSTOP");
  await until(
    () => second.text().includes('"housekeeping"') && second.text().includes("duty.started"),
  );
  first.child.kill("SIGCONT");
  await until(() => first.text().includes('"duty.lost"'));
  await Promise.all([first.stop("SIGKILL"), second.stop("SIGKILL")]);
});
