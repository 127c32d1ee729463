import type { Registry } from "prom-client";
import { createShares, type Shares } from "../../ports/sharing/shares.ts";
import { createHeldBackLog } from "../../service/admission/held-back.ts";
import { watchShares } from "../metrics/share-metrics.ts";
import type { Process } from "../process/open-process.ts";

/** The shares of this process; owners that are held back are in its log and metrics. */
export function openShares({ config, clock, ids, log }: Process, registry: Registry): Shares {
  const hashKey = ids.bytes(32);
  const showAddresses = config.logAddresses;
  const heldBack = createHeldBackLog({ log, clock, showAddresses, hashKey });
  const { maxConnections, maxConnectionsPerAddress } = config;
  const connections = {
    total: maxConnections,
    perOwner: Math.min(maxConnections, maxConnectionsPerAddress),
  };
  // The embedded database writes one after the other, and the event loop stands still while the disk does.
  const writes = config.databaseUrl === undefined ? { total: 1, restTurns: 4 } : {};
  const reading = { queuePerOwner: connections.perOwner };
  const shares = createShares(heldBack, { connections, reading, writes });
  watchShares(registry, () => shares.figures());
  return shares;
}
