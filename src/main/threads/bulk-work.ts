import { createShares, type Shares } from "../../base/shares.ts";
import { createHeldBackLog } from "../../accounts/admission/held-back.ts";
import { sql } from "kysely";
import { createLiveRules } from "../../lists/rules/live-rules.ts";
import { attachDatasets, type SharedDatasets } from "../../lists/shared-datasets.ts";
import { sqlChunkQueue } from "../../bulk/chunk-queue.ts";
import type { SqlDatabase } from "../../store/database.ts";
import { sqlRules } from "../../lists/rules/rule.ts";
import { pruneSessions } from "../../bulk/sessions.ts";
import { createAddressHash } from "../../base/address-hash.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import { every } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";
import { keepSessions } from "../../bulk/keep-house.ts";
import { type BulkWorker, bulkWorker } from "../../bulk/worker/worker.ts";
import { type BulkChecker, type BulkCheckerOptions, openBulkChecker } from "../bulk.ts";
import { joinDnsCap, openTrust } from "../checker.ts";
import { alone, startDuties } from "../../store/elections.ts";
import { openOwnTraffic } from "../lists.ts";
import { Closing, type Machine } from "../process.ts";
import type { BulkFigures, BulkThreadSettings } from "./bulk-thread.ts";

/** The bulk worker of one process alone, with a database connection, a resolver and a cache of its own. */
export interface BulkWork {
  readonly wake: () => void;
  readonly use: (datasets: SharedDatasets) => void;
  readonly figures: () => BulkFigures;
  /** Hands the chunks under way back and closes everything. */
  readonly stop: () => Promise<void>;
}

interface BulkWorkDeps {
  readonly machine: Machine;
  readonly log: Log;
  /** A job is done and may be announced. */
  readonly completed: () => void;
}

/** Opens and starts it. When that fails half way, all that was opened is closed. */
export async function openBulkWork(
  settings: BulkThreadSettings,
  deps: BulkWorkDeps,
): Promise<BulkWork> {
  const closing = new Closing();
  try {
    const work = await open(settings, deps, closing);
    return { ...work, stop: () => closing.close() };
  } catch (fault) {
    await closing.close().catch((after: unknown) => deps.log.error("start.close_failed", after));
    throw fault;
  }
}

async function open(
  settings: BulkThreadSettings,
  { machine, log, completed }: BulkWorkDeps,
  closing: Closing,
): Promise<Omit<BulkWork, "stop">> {
  const { clock, ids } = machine;
  const { db, scrub } = await openStore(settings, { machine, log }, closing);
  const known = await openDatasets(settings, { db, machine, log }, closing);
  const traffic = openOwnTraffic({ sql: { db }, clock, log });
  closing.add(() => traffic.flush());
  const { observe } = traffic;
  const bulk = openCheckers(settings, { machine, log, observe, datasets: known.datasets }, closing);
  const name = ids.hex32();
  const shares = sharesOf(machine, log);
  const chunks = sqlChunkQueue({ db });
  await chunks.freeAll(clock.nowMs()); // a thread or process before this one may have left leases
  const worker: BulkWorker = bulkWorker({
    shares,
    window: bulk.window,
    chunks,
    name,
    check: bulk.check,
    room: bulk.room,
    dnsAnswers: bulk.dnsAnswers,
    clock,
    log,
    completed,
  });
  closing.add(() => worker.stop());
  const sessions = { prune: (nowMs: number) => pruneSessions(db, nowMs) };
  const duties = startDuties(
    { sessions: () => Promise.resolve(keepSessions({ sessions, scrub, clock, log })) },
    { elections: alone, clock, log },
  );
  closing.add(() => duties.stop());
  worker.start();
  const figures = (): BulkFigures => ({
    dns: bulk.dnsFigures(),
    verdicts: bulk.verdicts(),
    worker: worker.figures(),
    shares: shares.figures(),
  });
  return { wake: () => worker.wake(), use: known.use, figures };
}

/** The main thread copies nothing of the database's log into its file while this one does. */
const COPY_LOG_EVERY_MS = 5_000;

/** The thread's own connection. `scrub` makes the disk forget what was deleted. */
async function openStore(
  { dataDir }: BulkThreadSettings,
  { machine, log }: Pick<BulkWorkDeps, "machine" | "log">,
  closing: Closing,
): Promise<Pick<SqlDatabase, "db"> & { readonly scrub: () => Promise<void> }> {
  const { clock } = machine;
  // What a power cut takes from this connection is checked once more; what a killed process wrote stays anyway.
  const own = { waitsForDisk: false };
  const { db, close, shrink } = await machine.openSqlite(dataDir, clock.nowMs(), own);
  closing.add(close);
  const failed = (fault: unknown): void => log.error("bulk.housekeeping_failed", fault);
  const copyLog = async (): Promise<void> => {
    await sql`pragma wal_checkpoint(passive)`.execute(db);
  };
  closing.add(every({ ms: COPY_LOG_EVERY_MS, clock, failed }, copyLog));
  const scrub = async (): Promise<void> => {
    shrink?.();
    await sql`pragma wal_checkpoint(truncate)`.execute(db);
  };
  return { db, scrub };
}

function sharesOf({ clock, ids }: Pick<Machine, "clock" | "ids">, log: Log): Shares {
  const hashKey = ids.bytes(32);
  return createShares(createHeldBackLog({ log, clock, hashKey }));
}

type CheckerDeps = Pick<BulkWorkDeps, "machine" | "log"> &
  Pick<BulkCheckerOptions, "observe"> & { readonly datasets: () => Datasets };

/** The DNS clients of this thread, under the process's cap, and what watches their resolver. */
function openCheckers(
  settings: BulkThreadSettings,
  { machine, log, datasets, ...options }: CheckerDeps,
  closing: Closing,
): BulkChecker {
  const cap = joinDnsCap(settings, settings.dnsCap);
  const trust = openTrust({ config: settings, machine, log, cap });
  closing.add(() => trust?.close());
  // Not started: in a closed network a thread without traffic has found no name yet, and would be suspicious of it.
  const bulk = openBulkChecker(settings, datasets, { ...options, cap, machine, trust });
  closing.add(() => bulk.close());
  return bulk;
}

type Store = Pick<BulkWorkDeps, "machine" | "log"> & {
  readonly db: Parameters<typeof sqlRules>[0];
};

/** The lists that the serving thread shares, under the operator's rules as this thread reads them. */
async function openDatasets(
  { datasets: given, secretKey }: BulkThreadSettings,
  { db, machine: { clock }, log }: Store,
  closing: Closing,
) {
  const hash = createAddressHash(secretKey);
  const operator = createLiveRules({ entries: sqlRules(db), hash, clock, log });
  await operator.refresh();
  let shared = given;
  let datasets = attachDatasets(shared, operator.current());
  const use = (fresh: SharedDatasets = shared): void => {
    shared = fresh;
    datasets = attachDatasets(shared, operator.current());
  };
  operator.start(() => use());
  closing.add(() => operator.stop());
  return { datasets: () => datasets, use };
}
