import { MemoryQuotaCounter } from "../src/accounts/admission/quota-counter.ts";
import { Charges } from "../src/accounts/admission/charges.ts";
import { ChunkQueue } from "../src/bulk/chunk-queue.ts";
import { Jobs } from "../src/bulk/jobs.ts";
import { openPostgres } from "../src/store/postgres-database.ts";
import { UsageLedger } from "../src/accounts/admission/usage.ts";
import { systemClock as clock } from "../src/base/clock.ts";
import { systemIds as ids } from "../src/base/ids.ts";
import { allValid, newJob, termsFor } from "../test/contracts/bulk/bulk-stores.ts";
import { startPostgres } from "../test/services/postgres.ts";

// How fast chunks are claimed and stored on PostgreSQL, by one claimer and by four at once, each on
// connections of its own: from one owner's job, and from four owners' jobs.

const CLAIMERS = 4;
const CHUNKS = 200;
const OUTCOME = allValid(500);

const server = await startPostgres();
const url = await server.createDatabase();
const opened = [];
for (let at = 0; at < CLAIMERS; at += 1) opened.push(await openPostgres(url, clock.nowMs()));
const log = { error: () => undefined };
const processes = opened.map(({ db }) => {
  const counter = new MemoryQuotaCounter({ ledger: new UsageLedger(db), clock, log });
  const deps = { db, ids, charges: new Charges({ db, counter, ids }) };
  return { jobs: new Jobs(deps), chunks: new ChunkQueue(deps) };
});

async function makeJobs(owners: number): Promise<void> {
  for (let at = 0; at < owners; at += 1) {
    const owner = { kind: "bucket", bucket: ids.hex32() } as const;
    const order = newJob({ ids, clock }, (CHUNKS / owners) * 500, { owner });
    const terms = { ...termsFor(order), limits: { daily: null, monthly: null } };
    await processes[0]?.jobs.create(order, terms);
  }
}

async function claimAll(chunks: ChunkQueue, worker: string, waitsMs: number[]): Promise<void> {
  for (;;) {
    const startMs = performance.now();
    const lease = { worker, nowMs: clock.nowMs(), leaseMs: 60_000 };
    const chunk = await chunks.claim(lease, ids.hex32());
    if (chunk === undefined) return;
    waitsMs.push(performance.now() - startMs);
    await chunks.complete(chunk, OUTCOME, { nowMs: clock.nowMs(), conclusive: true });
  }
}

async function run(owners: number, claimers: number): Promise<number> {
  await makeJobs(owners);
  const waitsMs: number[] = [];
  const startMs = performance.now();
  await Promise.all(
    processes
      .slice(0, claimers)
      .map(({ chunks }, at) => claimAll(chunks, `w${String(at)}`, waitsMs)),
  );
  const perSecond = (waitsMs.length / (performance.now() - startMs)) * 1_000;
  const slowestMs = Math.max(...waitsMs).toFixed(0);
  const words = `${String(owners)} owner(s), ${String(claimers)} claimer(s)`;
  process.stdout.write(
    `${words}: ${perSecond.toFixed(0)} chunks/s claimed and stored (${String(waitsMs.length)}), ` +
      `slowest claim ${slowestMs} ms\n`,
  );
  return perSecond;
}

await run(1, 1); // warms up
for (const owners of [1, CLAIMERS]) {
  const alone = await run(owners, 1);
  const together = await run(owners, CLAIMERS);
  process.stdout.write(`  four beside one: ${(together / alone).toFixed(2)}\n`);
}
await Promise.all(opened.map(({ close }) => close()));
await server.close();
