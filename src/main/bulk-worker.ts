// The thread that works off bulk jobs: its own connection to the database, its own resolver and cache, the
// lists in memory that it shares with the main thread. Nothing here can hold up a single check.
import { parentPort, workerData } from "node:worker_threads";
import { sql } from "kysely";
import { attachDatasets } from "../adapters/lists/shared-datasets.ts";
import { noOperatorLists } from "../adapters/lists/operator.ts";
import { sqlChunkQueue } from "../adapters/sql/chunk-queue.ts";
import { openEmbedded } from "../adapters/sql/database.ts";
import { pruneSessions } from "../adapters/sql/prune-sessions.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemIds as ids } from "../adapters/system/ids.ts";
import type { DnsQuestions } from "../adapters/dns/lookup.ts";
import type { Lookup } from "../core/lookup.ts";
import { passThrough } from "../ports/checkpoint.ts";
import { coreJudge } from "../service/bulk/core-judge.ts";
import { keepSessions } from "../service/bulk/keep-house.ts";
import { bulkWorker } from "../service/bulk/worker.ts";
import type { BulkThreadOrder, BulkThreadReport, BulkThreadSettings } from "./bulk-thread.ts";
import { openDns } from "./checker.ts";
import { sendingLog } from "./thread-log.ts";

/** Nobody waits for one entry, so its tries may run their course, and a second host's too. */
const ENTRY_BUDGET_MS = 10_000;

/** The second pass: a try, one more, and its answer. */
const AGAIN_BUDGET_MS = 1_200;

const port = parentPort;
if (port === null) throw new Error("bulk-worker is a thread, not a program");
const report = (message: BulkThreadReport): void => port.postMessage(message);
const log = sendingLog(report);

const settings = workerData as BulkThreadSettings;
const { db, close } = await openEmbedded(settings.dataDir, clock.nowMs());
// What a power cut takes from this connection is judged once more; what a killed process wrote stays anyway.
await sql`pragma synchronous = normal`.execute(db);

let datasets = attachDatasets(settings.datasets, noOperatorLists);
const dns = openDns(settings, "bulk");
// The second pass has sockets and a window of its own: names that are dead would narrow that of the first.
const second = openDns(settings, "interactive");
/** Bulk asks no registry: no premium check runs but the spam trap, which asks nobody. */
const withoutRegistry = (questions: DnsQuestions): Lookup => ({
  ...questions,
  registration: () => ({ kind: "unknown", why: "deadline" }),
});

/** Entries begun in one go; more, and answers that lie in the sockets look slow, which narrows the window. */
const BEGUN_AT_ONCE = 20;
let begun = 0;

/** Waits for the resolver, and now and then for a turn of the event loop. */
function room(): Promise<void> | undefined {
  begun += 1;
  if (begun % BEGUN_AT_ONCE > 0) return dns.room();
  return new Promise((resolve) => setImmediate(resolve)).then(() => dns.room());
}

const worker = bulkWorker({
  chunks: sqlChunkQueue({ db, ids, checkpoint: passThrough }),
  name: ids.hex32(),
  judge: coreJudge({
    datasets: () => datasets,
    lookup: withoutRegistry({ mx: dns.mx, addresses: dns.addresses, txt: dns.txt }),
    again: withoutRegistry(second.again),
    clock,
    implicitMx: settings.implicitMx,
    budgetMs: ENTRY_BUDGET_MS,
    againBudgetMs: AGAIN_BUDGET_MS,
  }),
  room,
  dnsAnswers: () => second.probe(),
  checkpoint: passThrough,
  clock,
  log,
  completed: () => report({ kind: "completed" }),
});

const stopKeeping = keepSessions({
  sessions: { prune: (nowMs) => pruneSessions(db, nowMs) },
  scrub: async () => void (await sql`pragma wal_checkpoint(truncate)`.execute(db)),
  clock,
  log,
});

async function stop(): Promise<void> {
  stopKeeping();
  await worker.stop();
  dns.close();
  second.close();
  await close();
}

port.on("message", (order: BulkThreadOrder) => {
  if (order.kind === "wake") worker.wake();
  else if (order.kind === "datasets") datasets = attachDatasets(order.datasets, noOperatorLists);
  else {
    stop()
      .catch((fault: unknown) => log.error("bulk.stop_failed", fault))
      .finally(() => port.close());
  }
});
worker.start();
