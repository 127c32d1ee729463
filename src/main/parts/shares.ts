import { systemClock as clock } from "../../adapters/system/clock.ts";
import { systemIds as ids } from "../../adapters/system/ids.ts";
import type { Log } from "../../ports/process/log.ts";
import { createShares, type Shares } from "../../ports/sharing/shares.ts";
import { createHeldBackLog } from "../../service/admission/held-back.ts";

/** The shares of this process or thread; owners that are held back are in its log. */
export function openShares(log: Log, showAddresses: boolean): Shares {
  return createShares(createHeldBackLog({ log, clock, showAddresses, hashKey: ids.bytes(32) }));
}
