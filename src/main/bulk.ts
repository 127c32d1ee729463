import type { Admission } from "../accounts/admission/admission.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import type { OwnerKey } from "../base/owner.ts";
import type { Shares } from "../base/shares.ts";
import { type Announcement, announcer } from "../bulk/jobs/announce.ts";
import type { Splitter } from "../bulk/jobs/bulk-shapes.ts";
import { IdempotencyKeys } from "../bulk/jobs/idempotency.ts";
import { createOctetBox } from "../base/secrets.ts";
import { ChunkQueue } from "../bulk/jobs/chunk-queue.ts";
import type { Jobs } from "../bulk/jobs/jobs.ts";
import { LISTS } from "../bulk/lists/list-store.ts";
import { holdsSessions, keepJobs } from "../bulk/jobs/housekeeping.ts";
import type { ReadsLists } from "../bulk/lists/list-reader.ts";
import { AccountLists } from "../bulk/lists/lists.ts";
import { SessionStore } from "../bulk/jobs/sessions.ts";
import { BUFFER_MAX_ENTRIES, BulkService } from "../bulk/jobs/submit.ts";
import { BulkWorker } from "../bulk/jobs/worker.ts";
import { coreEntryCheck } from "../bulk/jobs/entry-check.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import type { SharedCap } from "../dns/flow/window.ts";
import type { DnsQuestions } from "../dns/lookup.ts";
import type { Trust } from "../dns/trust/trust.ts";
import type { SharedDatasets } from "../lists/shared-datasets.ts";
import type { MailRecorder } from "../lists/mail-recorder.ts";
import type { SqlDatabase } from "../store/database.ts";
import { type Checker, dnsCap, isDnsOff, openDns } from "./checker.ts";
import { type DnsFigures, type VerdictTotals, VerdictTally } from "./metrics.ts";
import type { Process } from "./process.ts";
import type { Config } from "./settings/config.ts";
import type { BulkThread } from "./threads/bulk-thread.ts";
import { CORE_BUDGET_MS } from "../check/bounded-lookup.ts";

/** No client waits for one entry, so all its tries may run, also those of a second host. */
const ENTRY_BUDGET_MS = 10_000;

/** The second pass: one try and its ticks. What the server has learnt by now it says at once. */
const AGAIN_BUDGET_MS = 500;

/** Entries started in one turn; with more, answers waiting in the sockets look slow, which narrows the window. */
const BEGUN_AT_ONCE = 20;

interface CheckerProcess extends Pick<Process, "machine"> {
  readonly config: Pick<Config, "dnsServers" | "implicitMx">;
}

interface EntryCheckParts {
  readonly datasets: () => Datasets;
  readonly recorder?: Pick<MailRecorder, "record">;
  readonly trust: Trust | undefined;
  readonly cap?: SharedCap;
}

export function openBulkChecker(
  { config, machine }: CheckerProcess,
  { datasets, recorder, trust, cap }: EntryCheckParts,
) {
  const dns = openDns(config, "bulk", { cap, machine, trust });
  // The second pass has sockets and a window of its own: names that are dead would narrow that of the first.
  const second = openDns(config, "again", { cap, machine, trust });
  const probe = openDns(config, "probe", { cap, machine });
  const verdicts = new VerdictTally();
  const check = coreEntryCheck({
    datasets,
    lookup: withoutRegistry({ mx: dns.mx, addresses: dns.addresses, txt: dns.txt }),
    again: withoutRegistry(second.again),
    clock: machine.clock,
    implicitMx: config.implicitMx,
    budgetMs: ENTRY_BUDGET_MS,
    againBudgetMs: AGAIN_BUDGET_MS,
    observe(validation) {
      verdicts.count(validation.result);
      recorder?.record(validation);
    },
  });
  let begun = 0;
  return {
    check,
    /** Undefined, or a promise that the resolver takes the program's own questions, after a turn of the event loop. */
    room: (): Promise<void> | undefined => {
      begun += 1;
      if (begun % BEGUN_AT_ONCE > 0) return dns.room();
      return new Promise((resolve) => setImmediate(resolve)).then(() => dns.room());
    },
    /** Whether DNS answers, in four tries, and its answers can be trusted. */
    dnsAnswers: () => trust?.answers() ?? probe.probe(),
    isDnsOff: isDnsOff(config),
    silentMs: () => dns.stats().silentMs,
    dnsFigures: (): DnsFigures => ({
      clients: { bulk: dns.stats(), again: second.stats() },
      trust: trust?.stats(),
    }),
    verdicts: (): VerdictTotals => verdicts.counts,
    hasRoom: (owner: OwnerKey) => dns.room(owner) === undefined,
    close: () => [dns, second, probe].forEach((client) => client.close()),
  };
}

export type BulkChecker = ReturnType<typeof openBulkChecker>;

/** Bulk asks no registry: of the premium checks only the spam trap runs, which needs no question. */
const withoutRegistry = (questions: DnsQuestions): Lookup => ({
  ...questions,
  registration: () => ({ kind: "unknown", why: "deadline" }),
});

interface WorkParts extends EntryCheckParts {
  readonly db: SqlDatabase["db"];
  readonly shares: Pick<Shares, "of">;
  readonly isWatched: boolean;
  readonly completed: () => void;
}

/** Works off jobs, in a thread of one process alone or as a worker beside servers. The caller starts and stops it. */
export function openWork(
  process: CheckerProcess & Pick<Process, "clock" | "log" | "closing" | "name">,
  parts: WorkParts,
) {
  const { clock, log, closing, name } = process;
  const { db, shares, isWatched, completed } = parts;
  const checks = openBulkChecker(process, parts);
  closing.add(() => checks.close());
  const chunks = new ChunkQueue({ db });
  const own = { shares, chunks, name, clock, log, isWatched, completed };
  return { checks, worker: new BulkWorker({ ...checks, ...own }) };
}

interface OpenBulkParts {
  /** Alone the jobs run in a thread of this process, else in workers that look after them. */
  readonly where: "alone" | "among_others";
  readonly sql: SqlDatabase;
  readonly jobs: Jobs;
  readonly admission: Pick<Admission, "terms" | "receipt">;
  readonly tiers: Tiers;
  readonly checker: Pick<Checker, "datasets" | "lookup">;
  readonly recorder: Pick<MailRecorder, "record">;
  readonly datasets: SharedDatasets;
  readonly secretKey: Uint8Array;
  readonly announcement: Announcement;
  readonly shares: Pick<Shares, "of" | "include">;
  readonly split: Splitter;
  readonly lists: ReadsLists;
}

interface BulkProcess extends Pick<Process, "machine" | "clock" | "ids" | "log" | "closing"> {
  readonly config: Pick<
    Config,
    "dataDir" | "dnsServers" | "dnsCanaries" | "implicitMx" | "listHours" | "syncBudgetMs"
  > &
    Partial<Pick<Config, "cacheMb">>;
}

/** Bulk validation: the service here, and its worker where it is alone. Closing hands jobs back. */
export async function openBulk(process: BulkProcess, parts: OpenBulkParts) {
  const { clock, ids, log, closing, config } = process;
  const { where, sql, jobs, checker, recorder, shares } = parts;
  const { db } = sql;
  const { announce, stop } = announcer({ jobs, clock, log, announcement: parts.announcement });
  closing.add(stop);
  const thread = where === "alone" ? openThread(process, parts, announce) : undefined;
  const wake = (): void => thread?.wake();
  const idempotencyKeys = new IdempotencyKeys({ db, ids });
  if (where === "alone") await idempotencyKeys.releaseAll();
  const sessions = new SessionStore({ db });
  const { datasets, lookup } = checker;
  const service = new BulkService({
    jobs,
    sessions,
    idempotencyKeys,
    wake,
    split: parts.split,
    shares,
    check: coreEntryCheck({
      datasets,
      lookup,
      again: lookup,
      clock,
      implicitMx: config.implicitMx,
      observe: (validation) => recorder.record(validation),
      budgetMs: CORE_BUDGET_MS,
      againBudgetMs: CORE_BUDGET_MS,
    }),
    admission: parts.admission,
    tiers: parts.tiers,
    clock,
    ids,
    log,
    syncBudgetMs: config.syncBudgetMs,
    bufferMax: BUFFER_MAX_ENTRIES,
    completed() {
      wake(); // the session has an end
      void announce();
    },
  });
  if (where === "alone") closing.add(keepJobs({ jobs, clock, log }));
  const lists = new AccountLists({
    db,
    ids,
    sessions,
    jobs,
    bulk: service,
    reader: parts.lists,
    shares,
    clock,
    wake,
    box: createOctetBox(parts.secretKey, LISTS),
    lifeMs: config.listHours * 3_600_000,
  });
  return { service, lists, thread };
}

function openThread(
  { machine, config, log, closing }: BulkProcess,
  { sql, datasets, secretKey, shares }: OpenBulkParts,
  announce: () => Promise<void>,
): BulkThread {
  const { dataDir, dnsServers, dnsCanaries, implicitMx, cacheMb } = config;
  const cap = dnsCap(config, machine);
  const caches = cacheMb === undefined ? {} : { cacheMb };
  const dns = { dnsServers, dnsCanaries, dnsCap: cap.memory, ...caches };
  const { disk, file } = sql;
  const settings = { dataDir, disk, file, ...dns, implicitMx, datasets, secretKey };
  const thread = machine.startBulkThread(settings, {
    log,
    completed: () => void announce(),
    ended: () => cap.clearOther(),
  });
  closing.add(() => thread.stop());
  shares.include(() => thread.figures()?.shares);
  const failed = (fault: unknown): boolean => {
    log.error("bulk.lookup_failed", fault);
    return true;
  };
  void holdsSessions(sql.db)
    .catch(failed)
    .then((isHeld) => {
      if (isHeld) thread.wake();
    });
  return thread;
}
