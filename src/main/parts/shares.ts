import type { Registry } from "prom-client";
import { OWN_MAX } from "../../dns/transport/system-resolvers.ts";
import { RESOURCES } from "../../base/resources.ts";
import { createShares, type Shares } from "../../base/shares.ts";
import { createHeldBackLog } from "../../accounts/admission/held-back.ts";
import { watchShares } from "../metrics/share-metrics.ts";
import type { Process } from "../process/open-process.ts";
import { dnsCap } from "./dns.ts";

/** The shares of this process; owners that are held back are in its log and metrics. */
export function openShares(process: Process, registry: Registry): Shares {
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
