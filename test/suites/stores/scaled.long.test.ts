// The scale-out as processes: two `serve` and any number of `worker` with a PostgreSQL and a name server.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { domains } from "../../bulk/bulk-world.ts";
import { testWith } from "../../process/require-tool.ts";
import type { ScaledAccount } from "../../scaled/scaled-account.ts";
import {
  mailZone,
  missingServices,
  openScaledWorld,
  type ScaledProcess,
  type ScaledWorld,
} from "../../scaled/scaled-world.ts";
import { readResult } from "../../http/strict-client.ts";
import { until } from "../../time/until.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const ENTRIES = 1_204;
const TEXT = `${domains(ENTRIES)},d1.example,D2.example`;

const zone = mailZone(domains(ENTRIES - 4).split("\n"), 20);

const missing = missingServices();
const folder = temporaryFolder();
let opened: ScaledWorld | undefined;
let apis: readonly [string, string] = ["", ""];
/** The result of an undisturbed job. */
let calm = "";

const world = (): ScaledWorld => {
  assert.ok(opened !== undefined);
  return opened;
};

before(async () => {
  if (missing.length > 0) return;
  const file = join(folder, "tiers.json");
  const endless = { rate_per_minute: null };
  writeFileSync(file, JSON.stringify({ pro: endless }));
  opened = await openScaledWorld({ zone, environment: { GATEPOST_TIERS_FILE: file } });
  const started = await Promise.all([
    opened.start({ command: "serve" }),
    opened.start({ command: "serve" }),
  ]);
  apis = [started[0].url, started[1].url];
});

after(() => opened?.close());

const rule = (sentence: string, check: () => Promise<void>): void =>
  testWith(["postgresql"], missing, `scale-out: ${sentence}`, check);

/** A finished job is charged once, announced at most once, and no longer blocks its owner. */
async function assertSettled(
  account: ScaledAccount,
  session: string,
  { jobs = 1 }: { readonly jobs?: number } = {},
): Promise<void> {
  const books = await account.books();
  assert.equal(books.units, jobs * ENTRIES);
  assert.equal(books.balance, books.creditSum);
  assert.equal(books.runningJobs, 0);
  assert.ok((books.webhooks.get(session) ?? 0) <= 1);
}

async function untilTold(account: ScaledAccount, session: string): Promise<void> {
  const isTold = async (): Promise<boolean> => (await account.books()).webhooks.has(session);
  await until(isTold, { what: "a webhook" });
}

rule("two servers and two workers are one service", async () => {
  const workers = await Promise.all([
    world().start({ command: "worker" }),
    world().start({ command: "worker" }),
  ]);
  const account = await world().account();
  const [first, second] = apis;
  readResult(await account.get(first, "/api/domain/d1.example"), "domain");
  readResult(await account.get(second, "/api/email/jo@d2.example"), "email");
  const together = await account.post(first, "/api/domain", { domain: domains(50), bulk: "1" });
  assert.equal(together.status, 200);

  const session = await account.queue(first, TEXT);
  assert.equal(await account.ended(second, session), "completed");
  calm = await account.results(second, session);
  assert.equal(calm, await account.results(first, session));
  await untilTold(account, session);
  const units = ENTRIES + 52;
  // Units of single checks are written shortly after their answers.
  const isWritten = async (): Promise<boolean> => (await account.books()).units >= units;
  await until(isWritten, { what: "every unit in the ledger" });
  const books = await account.books();
  assert.deepEqual([books.units, books.runningJobs], [units, 0]);

  const figure = async (name: string): Promise<number> => {
    const pages = workers.map(async ({ url }) => (await fetch(`${url}/metrics`)).text());
    return (await Promise.all(pages))
      .map((page) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(page)?.[1]))
      .reduce((sum, one) => sum + one, 0);
  };
  // A worker counts a chunk after the database's answer, when the job may already have ended.
  const stored = 'gatepost_worker_chunks_total\\{outcome="stored"\\}';
  await until(async () => (await figure(stored)) >= 3, { what: "three chunks that are stored" });
  assert.equal(await figure(stored), 3);
  for (const worker of workers) {
    assert.deepEqual(await worker.stop("SIGTERM"), { code: 0, signal: null });
  }
});

rule("a job blocks its owner until another server cancels it, with a refund", async () => {
  const account = await world().account();
  const session = await account.queue(apis[0], TEXT); // no worker runs it
  const beside = await account.post(apis[1], "/api/domain", { domain: TEXT, bulk: "true" });
  assert.equal(beside.status, 429, "a second job is refused on every server");
  assert.equal((await account.remove(apis[1], `/api/view/${session}`)).status, 200);
  assert.equal((await account.get(apis[0], `/api/view/${session}`)).status, 404);
  assert.deepEqual((await account.books()).units, 0);
  const again = await account.queue(apis[1], TEXT);
  assert.equal((await account.remove(apis[0], `/api/view/${again}`)).status, 200);
});

/** Chunks that this world's workers hold. */
const leased = async (): Promise<number> =>
  (
    await world()
      .sql.db.selectFrom("chunks")
      .select("number")
      .where("lease_worker", "is not", null)
      .execute()
  ).length;

const untilLeased = (): Promise<true> =>
  until(async () => (await leased()) > 0, { what: "a lease" });

rule("SIGTERM returns chunks at once, and the job continues elsewhere", async () => {
  const account = await world().account();
  // A window of one makes the job slow enough.
  const leaving: ScaledProcess = await world().start({ command: "worker", dnsWindowMax: 1 });
  const session = await account.queue(apis[0], TEXT);
  await untilLeased();
  assert.deepEqual(await leaving.stop("SIGTERM"), { code: 0, signal: null });
  assert.equal(await leased(), 0);
  const other = await world().start({ command: "worker" });
  assert.equal(await account.ended(apis[1], session), "completed");
  assert.equal(await account.results(apis[1], session), calm);
  await assertSettled(account, session);
  await other.stop("SIGKILL");
});

/** A worker's death delays its entries by 30 s, and a busy machine the end of the job by as much again. */
const TAKEN_WITHIN_MS = 60_000;

rule("the chunks of a killed worker are another's soon, and the job ends", async () => {
  const account = await world().account();
  const dying = await world().start({ command: "worker", dnsWindowMax: 1 });
  const session = await account.queue(apis[0], TEXT);
  await untilLeased();
  const other = await world().start({ command: "worker" });
  await dying.stop("SIGKILL");
  const killedAtMs = performance.now();
  assert.equal(await account.ended(apis[1], session), "completed");
  const tookMs = performance.now() - killedAtMs;
  assert.ok(tookMs < TAKEN_WITHIN_MS, `${tookMs.toFixed(0)} ms`);
  assert.equal(await account.results(apis[1], session), calm);
  await assertSettled(account, session);
  await other.stop("SIGKILL");
});
