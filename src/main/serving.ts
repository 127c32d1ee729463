import type { Registry } from "prom-client";
import { createThrottleLog } from "../accounts/admission/throttle-log.ts";
import { readTiersFile, type Tiers } from "../accounts/admission/tiers.ts";
import { sweepDrafts } from "../base/drafts.ts";
import { createMetrics, type Metrics } from "../base/metrics.ts";
import { RESOURCES } from "../base/resources.ts";
import { createShares, type Shares } from "../base/shares.ts";
import { readBacklog } from "../bulk/backlog.ts";
import type { Profile } from "../dns/flow/query-timeouts.ts";
import type { DnsLookup } from "../dns/lookup.ts";
import { OWN_MAX } from "../dns/transport/system-resolvers.ts";
import type { Trust } from "../dns/trust/trust.ts";
import { createListMetrics } from "../lists/feed-status.ts";
import { dnsCap, openDns, openTrust, rdapFolder } from "./checker.ts";
import { type ServedLists, openLists } from "./lists.ts";
import { type ProcessCounts, countedRequests, nothingCounted } from "./counted.ts";
import { BACKLOG, PROGRAM, readDatabase, SHARES, watch } from "./metrics.ts";
import type { Process } from "./process.ts";
import { programVersion } from "./program-files.ts";
import { type Backing, openBacking, openSecretKey } from "./store.ts";

export interface Serving {
  readonly tiers: Tiers;
  readonly backing: Backing;
  readonly secretKey: Uint8Array;
  readonly metrics: Metrics;
  readonly counted: ProcessCounts;
  readonly shares: Shares;
  /** Whether DNS tells the truth; undefined when the operator switched the canaries off. */
  readonly trust: Trust | undefined;
  /** For the lists, so that learning holds up no check. */
  readonly dns: DnsLookup;
  readonly lists: ServedLists;
}

/** `profile` is of its DNS client. Everything is closed with the process. */
export async function openServing(process: Process, profile: Profile): Promise<Serving> {
  const { config, machine, clock, closing } = process;
  const tiers = readTiersFile(config.tiersFile);
  tidyUp(process);
  const backing = await openBacking(process);
  const { answers, store } = backing;
  const { sql, notices } = store;
  const secretKey = await openSecretKey(config, sql);
  const counted = nothingCounted();
  const made = createMetrics();
  const metrics = { ...made, http: countedRequests(made.http, counted) };
  const { registry } = metrics;
  const shares = openShares(process, registry);
  watch(registry, PROGRAM, programVersion);
  const backlog = () => readBacklog(sql.db, clock.nowMs());
  watch(registry, BACKLOG, () => readDatabase(clock, answers, backlog));
  const trust = openTrust(process);
  trust?.start();
  closing.add(() => trust?.close());
  const dns = openDns(config, profile, { machine, trust });
  closing.add(() => dns.close());
  const listMetrics = createListMetrics(registry);
  const lists = await openLists(process, { sql, lookup: dns, metrics: listMetrics, notices });
  return { tiers, backing, secretKey, metrics, counted, shares, trust, dns, lists };
}

/** At a start: what killed processes left half written in the data directory goes. */
function tidyUp({ config: { dataDir }, clock, log }: Process): void {
  const files = sweepDrafts([dataDir, rdapFolder(dataDir)], clock.nowMs());
  if (files > 0) log.info("start.drafts_deleted", { files });
}

function openShares(process: Process, registry: Registry): Shares {
  const { config, clock, ids, log, machine } = process;
  const heldBack = createThrottleLog({ log, clock, hashKey: ids.bytes(32) });
  const connections = { perOwner: config.maxConnectionsPerAddress };
  const part = dnsCap(config, machine).max / OWN_MAX; // a resolver of others is asked less at once
  const { total, perOwner } = RESOURCES.questions;
  const questions = { total: Math.ceil(total * part), perOwner: Math.ceil(perOwner * part) };
  const shares = createShares(heldBack, { connections, questions });
  watch(registry, SHARES, () => shares.figures());
  return shares;
}
