import type { DnsLookup } from "../../adapters/dns/lookup.ts";
import { createListMetrics } from "../../adapters/system/list-metrics.ts";
import { createLog } from "../../adapters/system/log.ts";
import { createMetrics, type Metrics } from "../../adapters/system/metrics.ts";
import type { Log } from "../../ports/process/log.ts";
import type { Tiers } from "../../service/admission/tiers.ts";
import { openDns } from "./checker.ts";
import type { Config } from "../settings/config.ts";
import { type Lists, openLists } from "../feeds/lists.ts";
import { processName } from "../process/process-name.ts";
import { webhookCounter } from "../metrics/program-metrics.ts";
import { openScaledBacking, type ScaledBacking } from "./scaled.ts";
import { readTiersFile } from "../settings/tiers-setting.ts";
import { openSecretKey } from "../settings/secret-key.ts";
import { tidyUp } from "./tidy-up.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

/** What a worker process has beside its bulk work. */
export interface WorkerParts {
  readonly config: Config;
  readonly name: string;
  readonly tiers: Tiers;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly backing: ScaledBacking;
  readonly lists: Lists;
  readonly webhooks: Webhooks;
  /** For webhooks and lists; bulk has its own. */
  readonly dns: DnsLookup;
}

/** Opens everything, or throws with nothing left open that would keep the process. */
export async function openParts(config: Config): Promise<WorkerParts> {
  const { databaseUrl, redisUrl } = config;
  if (databaseUrl === undefined || redisUrl === undefined) {
    throw new Error(
      "the worker is part of `gatepost serve` unless DATABASE_URL and REDIS_URL are set: there is nothing for one of its own",
    );
  }
  const tiers = readTiersFile(config.tiersFile);
  const log = createLog({ level: config.logLevel, showAddresses: config.logAddresses });
  tidyUp(config.dataDir, log);
  const backing = await openScaledBacking({ databaseUrl, redisUrl }, log);
  const { sql } = backing.store;
  const secretKey = await openSecretKey(config, sql);
  const metrics = createMetrics();
  const dns = openDns(config, "interactive");
  const lists = await openLists(config, {
    sql,
    lookup: dns,
    log,
    notices: backing.store.notices,
    metrics: createListMetrics(metrics.registry),
    ...(backing.sharedLists !== undefined && { shared: backing.sharedLists }),
  });
  const { addresses } = dns;
  const counted = webhookCounter(metrics.registry);
  const webhooks = openWebhooks({ sql, secretKey, addresses, log, sent: "here", counted });
  return { config, name: processName(), tiers, log, metrics, backing, lists, webhooks, dns };
}

/** Lets webhooks under way end, writes what waits and closes everything. */
export async function closeParts(parts: WorkerParts): Promise<void> {
  await parts.webhooks.dispatcher.stop();
  await parts.lists.stop();
  parts.dns.close();
  await parts.backing.close();
}
