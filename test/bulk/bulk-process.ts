// A process for crash tests: submits a batch if the database has none, runs it, and prints on standard
// output what it saw, one JSON text a line. It is killed from inside at a stage, or from outside.
import { createShares } from "../../src/ports/sharing/shares.ts";
import { once } from "node:events";
import { memoryRateCounter } from "../../src/adapters/memory/rate-counter.ts";
import { MemoryQuotaCounter } from "../../src/adapters/memory/quota-counter.ts";
import { sqlCharges } from "../../src/adapters/sql/admission/charges.ts";
import { sqlChunkQueue } from "../../src/adapters/sql/bulk/chunk-queue.ts";
import { openEmbedded } from "../../src/adapters/sql/engine/database.ts";
import { sqlJobs } from "../../src/adapters/sql/bulk/jobs.ts";
import { sqlIdempotencyKeys } from "../../src/adapters/sql/bulk/idempotency-keys.ts";
import { sqlSessionStore } from "../../src/adapters/sql/bulk/session-store.ts";
import { sqlUsageLedger } from "../../src/adapters/sql/admission/usage-ledger.ts";
import { systemClock as clock } from "../../src/adapters/system/clock.ts";
import { systemIds as ids } from "../../src/adapters/system/ids.ts";
import { splitText } from "../../src/core/batch/batch-chunk.ts";
import { finish } from "../../src/core/batch/batch.ts";
import { dayOf } from "../../src/core/calendar.ts";
import type { Checkpoint } from "../../src/ports/bulk/checkpoint.ts";
import type { Log } from "../../src/ports/process/log.ts";
import { announcer } from "../../src/service/bulk/announce.ts";
import { coreEntryCheck } from "../../src/service/bulk/core-entry-check.ts";
import { createBulk } from "../../src/service/bulk/submit.ts";
import { keepJobs } from "../../src/service/bulk/keep-house.ts";
import { bulkWorker } from "../../src/service/bulk/worker.ts";
import { createAdmission } from "../../src/service/admission/counting-admission.ts";
import { DEFAULT_TIERS } from "../../src/service/admission/tiers.ts";
import { entranceOf, listOf, mailEverywhere, noDatasets, STARTER } from "./bulk-world.ts";

/** What a crash test asks of a process. */
export interface BulkProcessOrder {
  readonly dataDir: string;
  /** The batch; absent: only work. */
  readonly text?: string;
  /** Kill this process when it reaches a stage for the n-th time. */
  readonly dieAt?: { readonly stage: string; readonly times: number };
  /** Checks nothing before standard input has data. */
  readonly waits?: boolean;
}

export type BulkProcessLine =
  | { readonly kind: "accepted"; readonly session: string }
  | { readonly kind: "event"; readonly session: string }
  | { readonly kind: "stored"; readonly outcome: string }
  /** It holds every available chunk. */
  | { readonly kind: "idle" }
  | {
      readonly kind: "ended";
      readonly state: string;
      readonly units: number;
      readonly results: readonly string[];
      readonly slotIsFree: boolean;
    };

const say = (line: BulkProcessLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const order = JSON.parse(process.argv[2] ?? "{}") as BulkProcessOrder;
let passed = 0;
const checkpoint: Checkpoint = (stage) => {
  if (stage !== order.dieAt?.stage) return;
  passed += 1;
  if (passed === order.dieAt.times) process.kill(process.pid, "SIGKILL");
};
const log: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: (event, fault) => void process.stderr.write(`${event} ${String(fault)}\n`),
};

const told = order.waits === true ? once(process.stdin, "data") : undefined;
const { db, close } = await openEmbedded(order.dataDir, clock.nowMs());
const usage = sqlUsageLedger(db);
const counter = new MemoryQuotaCounter({ ledger: usage, clock, log });
const charges = sqlCharges({ db, counter, ids });
const stores = { db, charges, ids, checkpoint };
const jobs = sqlJobs(stores);
const sessions = sqlSessionStore(stores);
const quick = coreEntryCheck({
  datasets: () => noDatasets,
  lookup: mailEverywhere((name) => name.startsWith("silent")),
  again: mailEverywhere((name) => name.startsWith("silent")),
  clock,
  implicitMx: false,
  budgetMs: 5_000,
  againBudgetMs: 1_700,
});
const announce = announcer({
  jobs,
  clock,
  log,
  checkpoint,
  onCompleted: ({ session }) => Promise.resolve(say({ kind: "event", session })),
});
const tiers = DEFAULT_TIERS;
const admission = createAdmission({
  keys: { holder: () => Promise.resolve(undefined) },
  rates: memoryRateCounter(),
  quotas: counter,
  charges,
  clock,
  tiers,
});
const bulk = createBulk({
  where: "alone",
  jobs,
  sessions,
  idempotencyKeys: sqlIdempotencyKeys(stores),
  queue: { wake: () => Promise.resolve(worker.wake()) },
  shares: createShares(),
  split: ({ text, layout }) => Promise.resolve(finish(splitText(text, layout))),
  check: quick,
  admission,
  tiers,
  clock,
  ids,
  log,
  syncBudgetMs: 10_000,
  bufferMax: 1_000_000,
  completed: () => void announce(),
});
const chunks = sqlChunkQueue({ db, checkpoint });
const worker = bulkWorker({
  shares: createShares(),
  window: () => 1_000,
  chunks: {
    ...chunks,
    async claim(lease, token, except) {
      const chunk = await chunks.claim(lease, token, except);
      if (chunk === undefined) say({ kind: "idle" });
      return chunk;
    },
    async complete(...args) {
      const outcome = await chunks.complete(...args);
      say({ kind: "stored", outcome });
      return outcome;
    },
  },
  name: ids.hex32(),
  clock,
  log,
  async check(entry, options) {
    await told;
    return quick(entry, options);
  },
  room: () => undefined,
  dnsAnswers: () => Promise.resolve(true),
  checkpoint,
  completed: () => void announce(),
});

/** The only batch, from an earlier process or this one. */
async function session(): Promise<string> {
  const known = await db.selectFrom("jobs").select("session").executeTakeFirst();
  if (known !== undefined) return known.session;
  const answer = await bulk.submit(entranceOf(STARTER), listOf(order.text ?? ""));
  const hash = answer.kind === "done" ? answer.stats.session : answer.queued.session;
  say({ kind: "accepted", session: hash });
  return hash;
}

async function ended(hash: string): Promise<string> {
  for (;;) {
    const found = await sessions.find(hash, clock.nowMs());
    if (found === undefined) return "gone";
    if (found.state === "completed" || found.state === "failed") return found.state;
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function results(hash: string): Promise<readonly string[]> {
  const answer = await bulk.results(STARTER, hash);
  const all: string[] = [];
  if (answer.kind !== "results") return all;
  for await (const page of answer.results()) {
    for (const { spelling, result } of page) all.push(`${spelling} ${result}`);
  }
  return all;
}

const hash = await session();
const stopKeeping = keepJobs({ jobs, announce, clock, log });
worker.start();
const state = await ended(hash);
await announce();
const running = await db.selectFrom("jobs").select("session").where("is_running", "=", 1).execute();
const days = await usage.days("account:a1", 0, dayOf(clock.nowMs()));
const units = days.reduce((sum, day) => sum + day.units, 0);
const slotIsFree = running.length === 0;
say({ kind: "ended", state, units, results: await results(hash), slotIsFree });
await stopKeeping();
await worker.stop();
await close();
process.stdin.destroy();
