import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { storeDownOf } from "../../base/store-down.ts";

/** Logs a request that ended in a fault, once. */
export type FaultLog = (fault: unknown, fields: Readonly<Record<string, unknown>>) => void;

/** While a store is down every request fails for the same reason: one line in this time says so. */
const DOWN_EVERY_MS = 1_000;

export function createFaultLog(log: Log, clock: Pick<Clock, "monotonicMs">): FaultLog {
  let nextAtMs = -Infinity;
  let leftOut = 0;
  return (fault, fields) => {
    if (storeDownOf(fault) === undefined) {
      log.error("http.request_failed", fault, fields);
      return;
    }
    const nowMs = clock.monotonicMs();
    if (nowMs < nextAtMs) {
      leftOut += 1;
      return;
    }
    nextAtMs = nowMs + DOWN_EVERY_MS;
    log.error("http.store_down", fault, { ...fields, ...(leftOut > 0 ? { leftOut } : {}) });
    leftOut = 0;
  };
}
