// The thread that works off bulk jobs: its own connection to the database, its own resolver and cache, the
// lists in memory that it shares with the main thread. Nothing here can hold up a single check.
import { parentPort, workerData } from "node:worker_threads";
import { sql } from "kysely";
import { createLiveRules } from "../adapters/lists/refresh/live-rules.ts";
import { attachDatasets, type SharedDatasets } from "../adapters/lists/table/shared-datasets.ts";
import { memoryElections } from "../adapters/memory/elections.ts";
import { sqlChunkQueue } from "../adapters/sql/bulk/chunk-queue.ts";
import { openEmbedded } from "../adapters/sql/engine/database.ts";
import { sqlRules } from "../adapters/sql/evidence/rules.ts";
import { pruneSessions } from "../adapters/sql/bulk/prune-sessions.ts";
import { createAddressHash } from "../adapters/system/address-hash.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemIds as ids } from "../adapters/system/ids.ts";
import { passThrough } from "../ports/bulk/checkpoint.ts";
import { keepSessions } from "../service/bulk/keep-house.ts";
import type { End } from "../service/upkeep/elected.ts";
import { bulkWorker } from "../service/bulk/worker.ts";
import type {
  BulkThreadOrder,
  BulkThreadReport,
  BulkThreadSettings,
} from "./threads/bulk-thread.ts";
import { openBulkChecker } from "./parts/bulk-checker.ts";
import { startDuties } from "./feeds/duties.ts";
import { openOwnTraffic } from "./feeds/own-traffic.ts";
import { sendingLog } from "./threads/thread-log.ts";

const port = parentPort;
if (port === null) throw new Error("bulk-worker is a thread, not a program");
const report = (message: BulkThreadReport): void => port.postMessage(message);
const log = sendingLog(report);

const settings = workerData as BulkThreadSettings;
const { db, close } = await openEmbedded(settings.dataDir, clock.nowMs());
// What a power cut takes from this connection is judged once more; what a killed process wrote stays anyway.
await sql`pragma synchronous = normal`.execute(db);

const operator = createLiveRules({
  entries: sqlRules(db),
  hash: createAddressHash(settings.secretKey),
  clock,
  log,
});
await operator.refresh();
let shared = settings.datasets;
let datasets = attachDatasets(shared, operator.current());
const attach = (fresh: SharedDatasets = shared): void => {
  shared = fresh;
  datasets = attachDatasets(shared, operator.current());
};
operator.start(() => attach());
const traffic = openOwnTraffic({ sql: { db }, secretKey: settings.secretKey, log });
const bulk = openBulkChecker(settings, () => datasets, { observe: traffic.observe });

const worker = bulkWorker({
  chunks: sqlChunkQueue({ db, checkpoint: passThrough }),
  name: ids.hex32(),
  check: bulk.check,
  room: bulk.room,
  dnsAnswers: bulk.dnsAnswers,
  checkpoint: passThrough,
  ownEvidence: traffic.ownEvidence,
  clock,
  log,
  completed: () => report({ kind: "completed" }),
});

const sessions = (): End =>
  keepSessions({
    sessions: { prune: (nowMs) => pruneSessions(db, nowMs) },
    scrub: async () => void (await sql`pragma wal_checkpoint(truncate)`.execute(db)),
    clock,
    log,
  });
const duties = startDuties(
  { sessions: () => Promise.resolve(sessions()) },
  { elections: memoryElections(), log },
);

async function stop(): Promise<void> {
  await duties.stop();
  operator.stop();
  await worker.stop();
  await traffic.flush();
  bulk.close();
  await close();
}

port.on("message", (order: BulkThreadOrder) => {
  if (order.kind === "wake") worker.wake();
  else if (order.kind === "datasets") attach(order.datasets);
  else {
    stop()
      .catch((fault: unknown) => log.error("bulk.stop_failed", fault))
      .finally(() => port.close());
  }
});
worker.start();
