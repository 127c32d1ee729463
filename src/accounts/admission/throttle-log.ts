import { createHmac } from "node:crypto";
import { ownerOf } from "../../base/owner.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { OnThrottled } from "../../base/shares.ts";

interface ThrottleLogOptions {
  readonly log: Log;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly hashKey: Uint8Array;
}

/** Owners named in one minute; what goes beyond is counted, and the next line says how many were left out. */
const LINES_A_MINUTE = 100;

/** Logs an owner that is held back: one line for each owner and resource in a minute. */
export function createThrottleLog(options: ThrottleLogOptions): OnThrottled {
  const { log, clock } = options;
  const named = new Set<string>();
  let minuteStartMs = -Infinity;
  let leftOut = 0;
  return ({ resource, owner, used, waiting }) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - minuteStartMs >= 60_000) {
      minuteStartMs = nowMs;
      named.clear();
    }
    const key = `${resource} ${owner}`;
    if (named.has(key)) return;
    if (named.size >= LINES_A_MINUTE) {
      leftOut += 1;
      return;
    }
    named.add(key);
    log.warn("share.owner_held_back", {
      resource,
      ...ownerFields(owner, options),
      used,
      waiting,
      ...(leftOut > 0 ? { leftOut } : {}),
    });
    leftOut = 0;
  };
}

function ownerFields(
  key: string,
  { hashKey }: ThrottleLogOptions,
): Readonly<Record<string, string>> {
  const owner = ownerOf(key);
  if (owner.kind === "account") return { account: owner.accountId };
  return {
    clientHash: createHmac("sha256", hashKey).update(owner.bucket).digest("hex").slice(0, 12),
  };
}
