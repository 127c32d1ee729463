import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  BACK,
  BULK_ENTRIES,
  BULK_NAMES,
  DEADLINE_MS,
  isBack,
  type Kind,
  startTraffic,
  type Traffic,
} from "./outage-traffic.ts";
import type { ScaledAccount } from "./scaled-account.ts";
import { givenMsOf } from "../time/given-time.ts";
import { readError } from "../http/strict-client.ts";
import { until } from "../time/until.ts";
import { mailZone, openScaledWorld, type ScaledProcess, type ScaledWorld } from "./scaled-world.ts";
import { type CutLine, openCutLine } from "../services/cut-line.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

/** Two servers and two workers, with a line to PostgreSQL that can be cut. */
export interface OutageWorld extends ScaledWorld {
  readonly line: CutLine;
  readonly apis: readonly [string, string];
  readonly processes: readonly ScaledProcess[];
  /** The result of a job of `jobText` without an outage; names are without the case's number. */
  readonly calm: string;
}

export interface Outage {
  readonly name: string;
  readonly breakIt: (world: OutageWorld) => Promise<void> | void;
  /** Between the two; after 3 s `/readyz` must name the database. */
  readonly lastsMs: number;
  readonly mendIt: (world: OutageWorld) => Promise<void> | void;
}

/** A busy machine may not run the server for so long. */
const BUSY_MS = 3_000;
/** The longest wait for a refusal during any outage is 3 s. Those that are silent last longer than this allows. */
const REFUSED_WITHIN_MS = 3_000 + BUSY_MS;
/** For successful answers: the time budgets of single checks and synchronous batches. */
const SERVED_WITHIN_MS: Readonly<Record<Kind, number>> = {
  keyed: 5_000 + BUSY_MS,
  anonymous: 5_000 + BUSY_MS,
  bulk: 10_000 + BUSY_MS,
  decide: DEADLINE_MS + BUSY_MS,
  ready: REFUSED_WITHIN_MS,
};
const NAMED_FROM_MS = 3_000;
const NAMED_WITHIN_MS = 4_000;

const LOOK_MS = 50;
const CASES_MAX = 16;
const NAMES = 1_600;
/** With an invalid name and a duplicate, which counts once. */
const UNITS = NAMES + 1;
const CREDITS = 100_000;

/** Few questions at once, so that an outage finds the job running. */
const DNS_WINDOW = 3;
const DNS_DELAY_MS = 20;

const namesOf = (at: number): readonly string[] =>
  Array.from({ length: NAMES }, (_, name) => `d${String(name)}.k${String(at)}.example`);

/** The same batch for each case, with names that no cache has. */
const jobText = (at: number): string =>
  [...namesOf(at), "nonsense", `D1.k${String(at)}.example`].join("\n");

const zone = mailZone(
  [...Array.from({ length: CASES_MAX }, (_, at) => namesOf(at)).flat(), ...BULK_NAMES],
  DNS_DELAY_MS,
);

/** Unlimited rates; one tier has a quota that is not reached, the other pays only by credits. */
const TIERS = {
  pro: { rate_per_minute: null },
  free: { rate_per_minute: null, daily: 1_000_000, monthly: null },
  starter: { rate_per_minute: null, daily: 1 },
};

export async function openOutageWorld(): Promise<OutageWorld> {
  const folder = temporaryFolder();
  const file = join(folder, "tiers.json");
  writeFileSync(file, JSON.stringify(TIERS));
  const environment = { GATEPOST_TIERS_FILE: file, GATEPOST_TRUST_PROXY: "127.0.0.1" };
  const world = await openScaledWorld({ zone, environment });
  const line = await openCutLine(world.postgres.port);
  const databaseUrl = new URL(world.urls.databaseUrl);
  databaseUrl.port = String(line.port);
  const via = { databaseUrl: databaseUrl.href };
  const worker = { command: "worker", dnsWindowMax: DNS_WINDOW } as const;
  const [first, second, ...workers] = await Promise.all([
    world.start({ command: "serve" }, via),
    world.start({ command: "serve" }, via),
    world.start(worker, via),
    world.start(worker, via),
  ]);
  const apis = [first.url, second.url] as const;
  const account = await world.account();
  const session = await account.queue(first.url, jobText(0));
  assert.equal(await account.ended(second.url, session), "completed");
  const calm = anonymized(await account.results(second.url, session), 0);
  assert.equal((await account.books()).units, UNITS);
  return {
    ...world,
    line,
    apis,
    processes: [first, second, ...workers],
    calm,
    async close() {
      await world.close();
      await line.close();
    },
  };
}

const anonymized = (results: string, at: number): string =>
  results.replaceAll(`k${String(at)}.example`, "k.example");

let cases = 0;

/** Traffic and a job through an outage: answers are right meanwhile and the ledger afterwards, without help. */
export async function ridesOut(t: TestContext, world: OutageWorld, outage: Outage): Promise<void> {
  const at = (cases += 1);
  assert.ok(at < CASES_MAX);
  const { apis } = world;
  const [jobs, keyed, bulk, gate, other] = await Promise.all([
    world.account("pro"),
    world.account("free"),
    world.account("starter"),
    world.account("pro"),
    world.account("pro"),
  ]);
  await world.store.credits.grant(bulk.accountId, CREDITS, "outages");
  const session = await jobs.queue(apis[0], jobText(at));
  await untilAtWork(jobs, apis[1], session);
  const traffic = startTraffic({ apis, keyed, bulk, gate });
  t.after(() => traffic.stop()); // a failure here must not disturb later cases
  await until(() => isBack(traffic, 0), { what: "traffic", everyMs: LOOK_MS });
  const breakingAtMs = performance.now();
  await outage.breakIt(world);
  const brokenAtMs = performance.now();
  if (outage.lastsMs < NAMED_FROM_MS) await pause(outage.lastsMs);
  else {
    await pause(outage.lastsMs / 3);
    await Promise.all([pause((outage.lastsMs * 2) / 3), assertRefused(apis, other)]);
  }
  const mendedAtMs = performance.now();
  await outage.mendIt(world);
  await until(() => isBack(traffic, mendedAtMs), { what: "everything", everyMs: LOOK_MS });
  assert.equal(await jobs.ended(apis[1], session), "completed");
  await traffic.stop();
  const span: Span = { breakingAtMs, brokenAtMs, mendedAtMs };
  report(t, traffic, span);
  assert.deepEqual([...traffic.odd], []);
  assertAnswers(traffic, outage, span);
  const results = anonymized(await jobs.results(apis[0], session), at);
  assert.ok(results === world.calm, "the results equal those of an undisturbed run");
  await assertJobBooks(jobs, session);
  await assertTrafficBooks(traffic, { keyed, bulk });
  const { units, runningJobs } = await other.books();
  assert.deepEqual([units, runningJobs], [0, 0], "refused requests cost nothing");
  for (const one of world.processes) assert.equal(one.child.exitCode, null, one.text());
}

/** Batches and jobs of an account without limits are refused too. */
async function assertRefused(apis: readonly string[], other: ScaledAccount): Promise<void> {
  const requests = apis.flatMap((api) =>
    [namesOf(0).slice(0, BULK_ENTRIES), namesOf(0)].map(async (names) => {
      const form = { domain: names.join("\n"), bulk: "true" };
      const tookMs = await givenMsOf(async () =>
        readError(await other.post(api, "/api/domain", form), 503),
      );
      assert.ok(tookMs < REFUSED_WITHIN_MS, `${String(tookMs)} ms`);
    }),
  );
  await Promise.all(requests);
}

/** By the monotonic clock. */
interface Span {
  readonly breakingAtMs: number;
  readonly brokenAtMs: number;
  readonly mendedAtMs: number;
}

/** The job cannot end earlier: this process answers its names, between two polls. */
async function untilAtWork(account: ScaledAccount, api: string, session: string): Promise<void> {
  const isAtWork = async (): Promise<boolean> => {
    const { body } = await account.get(api, `/api/view/${session}`);
    assert.ok(body.startsWith("{"), "the job ended before the outage");
    return ((JSON.parse(body) as { processed_count?: number }).processed_count ?? 0) > 0;
  };
  await until(isAtWork, { what: "the job's work", everyMs: LOOK_MS });
}

function assertAnswers(traffic: Traffic, outage: Outage, span: Span): void {
  const { seen, named } = traffic;
  for (const { kind, status, tookMs } of seen) {
    const withinMs = status === 503 ? REFUSED_WITHIN_MS : SERVED_WITHIN_MS[kind];
    assert.ok(tookMs < withinMs, `${kind} ${String(status)}: ${String(tookMs)} ms`);
  }
  const refused = (kind: Kind): number =>
    seen.filter((one) => one.kind === kind && one.status === 503).length;
  const during = seen.filter(
    ({ askedAtMs, answeredAtMs }) =>
      askedAtMs >= span.breakingAtMs && answeredAtMs < span.mendedAtMs,
  );
  assert.equal(refused("decide"), 0, "sign-ups are decided all the time");
  if (outage.lastsMs < NAMED_FROM_MS) return;
  assert.ok(refused("bulk") > 0, "bulk requests are refused");
  for (const kind of ["keyed", "anonymous"] as const) {
    const checks = during.filter((one) => one.kind === kind && one.askedAtMs > span.brokenAtMs);
    // An address that is over its rate is refused from memory.
    assert.ok(
      checks.every(({ status }) => status === 503 || status === 429),
      kind,
    );
  }
  for (const names of named) assert.deepEqual([...names], ["database"]);
  const ready = during.filter(
    ({ kind, askedAtMs }) => kind === "ready" && askedAtMs > span.brokenAtMs + NAMED_WITHIN_MS,
  );
  assert.ok(ready.every(({ status }) => status === 503));
}

async function assertJobBooks(account: ScaledAccount, session: string): Promise<void> {
  await until(async () => (await account.books()).runningJobs === 0, { what: "a free slot" });
  const { units, balance, creditSum, webhooks } = await account.books();
  assert.equal(units, UNITS);
  assert.equal(balance, creditSum);
  assert.ok((webhooks.get(session) ?? 0) <= 1);
}

async function assertTrafficBooks(
  { seen }: Traffic,
  { keyed, bulk }: Readonly<Record<"keyed" | "bulk", ScaledAccount>>,
): Promise<void> {
  const count = (kind: Kind, status: number): number =>
    seen.filter((one) => one.kind === kind && one.status === status).length;
  const served = count("keyed", 200);
  const isWritten = async (): Promise<boolean> => (await keyed.books()).units >= served;
  await until(isWritten, { what: "every check in the ledger" });
  assert.equal((await keyed.books()).units, served);
  const { balance, creditSum } = await bulk.books();
  assert.equal(balance, creditSum);
  const paid = (CREDITS - balance) / BULK_ENTRIES;
  // A commit without an answer may have succeeded.
  const unanswered = count("bulk", 503);
  const sent = count("bulk", 200);
  assert.ok(paid >= sent && paid <= sent + unanswered, `${String(paid)} of ${String(sent)} paid`);
}

/** The figures of the case: the longest answers during the outage, and the time of the last refusal after it. */
function report(t: TestContext, { seen }: Traffic, { brokenAtMs, mendedAtMs }: Span): void {
  const felt = seen.filter(({ answeredAtMs }) => answeredAtMs >= brokenAtMs);
  const longest = (["keyed", "anonymous", "bulk", "decide", "ready"] as const).map((kind) => {
    const took = felt.filter((one) => one.kind === kind).map(({ tookMs }) => tookMs);
    return `${kind} ${Math.max(0, ...took).toFixed(0)} ms`;
  });
  const backMs = BACK.map((kind) => {
    const refused = seen.filter((one) => one.kind === kind && one.status === 503);
    const last = Math.max(mendedAtMs, ...refused.map((one) => one.answeredAtMs));
    return `${kind} ${(last - mendedAtMs).toFixed(0)} ms`;
  });
  t.diagnostic(`longest: ${longest.join(", ")}; last refusal after: ${backMs.join(", ")}`);
}
