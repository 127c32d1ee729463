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
import { passThrough } from "../ports/checkpoint.ts";
import { keepSessions } from "../service/bulk/keep-house.ts";
import { bulkWorker } from "../service/bulk/worker.ts";
import type { BulkThreadOrder, BulkThreadReport, BulkThreadSettings } from "./bulk-thread.ts";
import { openBulkJudge } from "./bulk-judge.ts";
import { sendingLog } from "./thread-log.ts";

const port = parentPort;
if (port === null) throw new Error("bulk-worker is a thread, not a program");
const report = (message: BulkThreadReport): void => port.postMessage(message);
const log = sendingLog(report);

const settings = workerData as BulkThreadSettings;
const { db, close } = await openEmbedded(settings.dataDir, clock.nowMs());
// What a power cut takes from this connection is judged once more; what a killed process wrote stays anyway.
await sql`pragma synchronous = normal`.execute(db);

let datasets = attachDatasets(settings.datasets, noOperatorLists);
const bulk = openBulkJudge(settings, () => datasets);

const worker = bulkWorker({
  chunks: sqlChunkQueue({ db, ids, checkpoint: passThrough }),
  name: ids.hex32(),
  judge: bulk.judge,
  room: bulk.room,
  dnsAnswers: bulk.dnsAnswers,
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
  bulk.close();
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
