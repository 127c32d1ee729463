import { sql } from "kysely";
import { createThrottleLog } from "../../accounts/admission/throttle-log.ts";
import { createAddressHash } from "../../base/secrets.ts";
import { type End, every } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";
import { createShares } from "../../base/shares.ts";
import { ChunkQueue } from "../../bulk/jobs/chunk-queue.ts";
import { keepSessions } from "../../bulk/jobs/housekeeping.ts";
import { LiveRules } from "../../lists/rules/live-rules.ts";
import { RuleStore } from "../../lists/rules/rule.ts";
import type { SharedDatasets } from "../../lists/shared-datasets.ts";
import type { SqlDatabase } from "../../store/database.ts";
import { alone, startDuties } from "../../store/elections.ts";
import { openWork } from "../bulk.ts";
import { joinDnsCap, openTrust } from "../checker.ts";
import { KnownNames, openMailRecorder } from "../lists.ts";
import { type Closing, closedTogether, type Machine } from "../process.ts";
import type { BulkFigures, BulkThreadSettings } from "./bulk-thread.ts";

interface BulkWorkDeps {
  readonly machine: Machine;
  readonly log: Log;
  readonly completed: () => void;
}

/** The bulk worker of one process alone, with a database connection, a resolver and a cache of its own. */
export const openBulkWork = (settings: BulkThreadSettings, deps: BulkWorkDeps) =>
  closedTogether(deps.log, (closing) => open(settings, deps, closing));

async function open(settings: BulkThreadSettings, deps: BulkWorkDeps, closing: Closing) {
  const { machine, log, completed } = deps;
  const { clock, ids } = machine;
  const process = { config: settings, machine, clock, log, closing, name: ids.hex32() };
  const { db, scrub } = await openStore(settings, deps, closing);
  const hash = createAddressHash(settings.secretKey);
  const rules = new LiveRules({ entries: new RuleStore(db), hash, clock, log });
  await rules.refresh();
  const known = new KnownNames(settings.datasets, rules);
  rules.start(() => known.change());
  closing.add(() => rules.stop());
  const recorder = openMailRecorder(process, db);
  const cap = joinDnsCap(settings, settings.dnsCap);
  // Not started: in a closed network a thread without traffic has found no name yet, and would be suspicious of it.
  const trust = openTrust({ ...process, cap });
  const shares = createShares(createThrottleLog({ log, clock, hashKey: ids.bytes(32) }));
  await new ChunkQueue({ db }).freeAll(clock.nowMs()); // a thread or process before this one may have left leases
  const { checks, worker } = openWork(process, {
    datasets: () => known.datasets,
    recorder,
    trust,
    cap,
    db,
    shares,
    isWatched: false,
    completed,
  });
  closing.add(() => worker.stop());
  const sessions = (): Promise<End> => Promise.resolve(keepSessions({ db, scrub, clock, log }));
  const duties = startDuties({ sessions }, { elections: alone, clock, log });
  closing.add(() => duties.stop());
  worker.start();
  return {
    wake: () => worker.wake(),
    use: (datasets: SharedDatasets) => known.change(datasets),
    figures: (): BulkFigures => ({
      dns: checks.dnsFigures(),
      verdicts: checks.verdicts(),
      worker: worker.figures(),
      shares: shares.figures(),
    }),
  };
}

/** The main thread copies nothing of the database's log into its file while this one does. */
const COPY_LOG_EVERY_MS = 5_000;

async function openStore(
  { dataDir, disk, file }: BulkThreadSettings,
  { machine: { clock, openSqlite }, log }: BulkWorkDeps,
  closing: Closing,
): Promise<Pick<SqlDatabase, "db"> & { readonly scrub: () => Promise<void> }> {
  // What a power cut takes from this connection is checked once more; what a killed process wrote stays anyway.
  const options = { waitsForDisk: false, disk, file, schema: "look" } as const;
  const { db, close, shrink } = await openSqlite(dataDir, clock.nowMs(), options);
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
