import { type Duties, startDuties } from "../store/elections.ts";
import { TrafficStore } from "../gate/traffic-store.ts";
import { SHADOW_DAYS } from "../gate/policies.ts";
import { Outcomes, OUTCOME_DAYS } from "../gate/outcomes.ts";
import { Hooks } from "../gate/hooks.ts";
import { pruneFeedback } from "../gate/feedback.ts";
import { pruneDecisions } from "../gate/decision-log.ts";
import { DAY_MS, dayOf } from "../core/calendar.ts";
import { pruneWatchEvents } from "../watch/watch-list.ts";
import { pruneRegistrations } from "../check/registration-store.ts";
import { pruneListHistory } from "../bulk/lists/list-store.ts";
import { keepSessions } from "../bulk/jobs/housekeeping.ts";
import { every } from "../base/every.ts";
import { SignIns } from "../accounts/sign-in/sign-ins.ts";
import { pruneUsage } from "../accounts/prune-usage.ts";
import { Guesses } from "../accounts/guesses.ts";
import { AUDIT_MS, AuditLog } from "../accounts/audit.ts";
import { pruneCounters } from "../accounts/admission/shared-counters.ts";
import type { Registry } from "prom-client";
import { createThrottleLog } from "../accounts/admission/throttle-log.ts";
import { readTiersFile } from "../accounts/admission/tiers.ts";
import { sweepDrafts } from "../base/drafts.ts";
import { createMetrics } from "../base/metrics.ts";
import { createShares, type Shares } from "../base/shares.ts";
import { readBacklog } from "../bulk/jobs/jobs.ts";
import type { Profile } from "../dns/query.ts";
import { openDns, openTrust, rdapFolder } from "./checker.ts";
import { openLists } from "./lists.ts";
import {
  BACKLOG,
  countedRequests,
  eventCounter,
  FEEDS,
  nothingCounted,
  PROGRAM,
  readDatabase,
  SHARES,
  watch,
} from "./metrics.ts";
import type { Process } from "./process.ts";
import { programVersion } from "./program-files.ts";
import { openBacking, openSecretKey } from "./store.ts";

/** `profile` is of its DNS client. Everything is closed with the process. */
export async function openServing(process: Process, profile: Profile) {
  const { config, clock } = process;
  const tiers = readTiersFile(config.tiersFile);
  tidyUp(process);
  const backing = await openBacking(process);
  const { ails, store } = backing;
  const { sql, notices } = store;
  const secretKey = await openSecretKey(config, sql);
  const requests = nothingCounted();
  const made = createMetrics();
  const metrics = { ...made, http: countedRequests(made.http, requests) };
  const { registry } = metrics;
  const shares = openShares(process, registry);
  watch(registry, PROGRAM, programVersion);
  const backlog = () => readBacklog(sql.db, clock.nowMs());
  watch(registry, BACKLOG, () =>
    readDatabase(clock, async () => (await ails()) === undefined, backlog),
  );
  const trust = openTrust(process);
  trust?.start();
  const dns = openDns(config, profile, { ...process, trust });
  const counted = eventCounter(registry, "listFetches");
  const lists = await openLists(process, { sql, lookup: dns, counted, notices });
  watch(registry, FEEDS, () => lists.feeds());
  return { tiers, backing, secretKey, metrics, counted: requests, shares, trust, dns, lists };
}

export type Serving = Awaited<ReturnType<typeof openServing>>;

/** At a start: what killed processes left half written in the data directory goes. */
function tidyUp({ config: { dataDir }, clock, log }: Process): void {
  const files = sweepDrafts([dataDir, rdapFolder(dataDir)], clock.nowMs());
  if (files > 0) log.info("start.drafts_deleted", { files });
}

function openShares(process: Process, registry: Registry): Shares {
  const { config, clock, ids, log } = process;
  const heldBack = createThrottleLog({ log, clock, hashKey: ids.bytes(32) });
  const connections = { perOwner: config.maxConnectionsPerAddress };
  const shares = createShares(heldBack, { connections });
  watch(registry, SHARES, () => shares.figures());
  return shares;
}

/** Follows changes of the lists and does what one process at a time does; alone, the bulk thread looks after sessions. */
export function startUpkeep(process: Process, serving: Serving, ofLists: Duties): void {
  const { clock, log, closing } = process;
  const { backing, lists } = serving;
  const { db } = backing.store.sql;
  lists.start();
  const failed = (fault: unknown): void => log.error("housekeeping.failed", fault);
  const daily = { ms: DAY_MS, firstMs: 60_000, clock, failed };
  const scrub = (): Promise<void> => Promise.resolve(); // PostgreSQL's vacuum makes the disk forget
  const sessions: Duties =
    backing.where === "alone"
      ? {}
      : { sessions: () => Promise.resolve(keepSessions({ db, scrub, clock, log })) };
  const housekeeping = () => Promise.resolve(every(daily, () => keepHouse(process, serving)));
  const duties = { ...ofLists, ...sessions, housekeeping };
  const started = startDuties(duties, { elections: backing.elections, clock, log });
  closing.add(() => started.stop());
}

async function keepHouse({ clock, log }: Process, serving: Serving): Promise<void> {
  const { backing, tiers, lists } = serving;
  const { usage, charges, store } = backing;
  const { db } = store.sql;
  const nowMs = clock.nowMs();
  const today = dayOf(nowMs);
  const pruned = await pruneUsage({ usage, charges, tiers }, nowMs);
  const registrations = await pruneRegistrations(db, nowMs);
  await lists.prune();
  await new SignIns(db).prune(nowMs);
  await new Guesses(db).prune(nowMs - DAY_MS);
  await new AuditLog(db).prune(nowMs - AUDIT_MS);
  await new Outcomes(db).prune(today - SHADOW_DAYS + 1, today - OUTCOME_DAYS + 1);
  await new TrafficStore(db, clock).prune(nowMs);
  await pruneWatchEvents(db, nowMs);
  await pruneListHistory(db, nowMs);
  await pruneFeedback(db, nowMs);
  await pruneDecisions(db, nowMs);
  await new Hooks(db).prune(today - OUTCOME_DAYS + 1);
  await pruneCounters(db, nowMs);
  log.info("housekeeping.done", { ...pruned, registrations });
}
