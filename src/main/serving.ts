import type { Registry } from "prom-client";
import { createHeldBackLog } from "../accounts/admission/held-back.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import { createMetrics, type Metrics } from "../base/metrics.ts";
import { RESOURCES } from "../base/resources.ts";
import { createShares, type Shares } from "../base/shares.ts";
import type { Profile } from "../dns/flow/patience.ts";
import type { DnsLookup } from "../dns/lookup.ts";
import { OWN_MAX } from "../dns/transport/system-resolvers.ts";
import type { Trust } from "../dns/trust/trust.ts";
import { createListMetrics } from "../lists/feed-status.ts";
import { watchStores } from "./backlog-metrics.ts";
import { dnsCap, openDns, openTrust } from "./checker.ts";
import { housekeepingDuty, sessionsDuty, tidyUp } from "./housekeeping.ts";
import { type Duties, startDuties } from "../store/elections.ts";
import { type Lists, openLists } from "./lists.ts";
import { watchProgram, watchShares } from "./metrics.ts";
import type { Process } from "./process.ts";
import { programVersion } from "./program-files.ts";
import { openSecretKey } from "./settings/secret-key.ts";
import { readTiersFile } from "./settings/tiers-setting.ts";
import { type Backing, openEmbeddedBacking, openScaledBacking } from "./store.ts";

/** The shares of this process; owners that are held back are in its log and metrics. */
function openShares(process: Process, registry: Registry): Shares {
  const { config, clock, ids, log, machine } = process;
  const hashKey = ids.bytes(32);
  const heldBack = createHeldBackLog({ log, clock, hashKey });
  const connections = { perOwner: config.maxConnectionsPerAddress };
  const part = dnsCap(config, machine).max / OWN_MAX; // a resolver of others is asked less at once
  const { total, perOwner } = RESOURCES.questions;
  const questions = { total: Math.ceil(total * part), perOwner: Math.ceil(perOwner * part) };
  const shares = createShares(heldBack, { connections, questions });
  watchShares(registry, () => shares.figures());
  return shares;
}

/** What servers and workers share. */
export interface Serving extends Process {
  readonly tiers: Tiers;
  readonly backing: Backing;
  readonly secretKey: Uint8Array;
  readonly metrics: Metrics;
  readonly shares: Shares;
  /** Whether DNS tells the truth; undefined when the operator switched the canaries off. */
  readonly trust: Trust | undefined;
  /** For the lists, so that learning holds up no check. */
  readonly dns: DnsLookup;
  readonly lists: Lists;
}

/** `profile` is of its DNS client. Everything is closed with the process. */
export async function openServing(process: Process, profile: Profile): Promise<Serving> {
  const { config, machine, clock, closing } = process;
  const tiers = readTiersFile(config.tiersFile);
  tidyUp(process);
  const backing = await openBacking(process);
  const { sql, notices } = backing.store;
  const secretKey = await openSecretKey(config, sql);
  const metrics = createMetrics();
  const shares = openShares(process, metrics.registry);
  watchProgram(metrics.registry, programVersion());
  watchStores(metrics.registry, backing, clock);
  const trust = openTrust(process);
  trust?.start();
  closing.add(() => trust?.close());
  const dns = openDns(config, profile, { machine, trust });
  closing.add(() => dns.close());
  const lists = await openLists(process, {
    sql,
    lookup: dns,
    metrics: createListMetrics(metrics.registry),
    notices,
  });
  return { ...process, tiers, backing, secretKey, metrics, shares, trust, dns, lists };
}

/** By the settings: many processes with DATABASE_URL, else one. */
function openBacking(process: Process): Promise<Backing> {
  const { databaseUrl } = process.config;
  if (databaseUrl === undefined) return openEmbeddedBacking(process);
  return openScaledBacking(databaseUrl, process);
}

/** Follows changes of the lists and does what one process at a time does; alone, the bulk thread looks after sessions. */
export function startUpkeep(serving: Serving, ofLists: Duties): void {
  const { backing, lists, clock, log, closing } = serving;
  lists.start();
  const sessions = backing.where === "alone" ? {} : sessionsDuty(serving);
  const duties = { ...ofLists, ...sessions, housekeeping: housekeepingDuty(serving) };
  const { elections } = backing;
  const started = startDuties(duties, { elections, clock, log });
  closing.add(() => started.stop());
}
