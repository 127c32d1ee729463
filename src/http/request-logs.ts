import type { Caller } from "../accounts/admission/caller.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { storeDownOf } from "../base/store-down.ts";
import { DOMAIN_MAX_OCTETS } from "../core/name/domain.ts";

interface AccessLine {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

interface AccessDetail {
  readonly caller: Caller | undefined;
  readonly entry: string | undefined;
}

/** `monotonicMs` is when the request was answered, by `Clock.monotonicMs`. */
export type AccessLog = (line: AccessLine, detail: AccessDetail, monotonicMs: number) => void;

/** Logs at most `linesPerSecond` requests, so that logging never slows the server; the next line counts the rest. */
export function createAccessLog(log: Log, linesPerSecond: number): AccessLog {
  let windowStartMs = 0;
  let lines = 0;
  let leftOut = 0;
  return (line, detail, monotonicMs) => {
    if (monotonicMs - windowStartMs >= 1_000) {
      windowStartMs = monotonicMs;
      lines = 0;
    }
    if (lines >= linesPerSecond) {
      leftOut += 1;
      return;
    }
    lines += 1;
    log.info("http.request", {
      ...line,
      durationMs: Math.round(line.durationMs * 100) / 100,
      ...fieldsOf(detail),
      ...(leftOut > 0 ? { leftOut } : {}),
    });
    leftOut = 0;
  };
}

const fieldsOf = ({ caller, entry }: AccessDetail) => ({
  ...(caller !== undefined && { tier: caller.tier }),
  ...(caller?.owner.kind === "account" && { account: caller.owner.accountId }),
  ...(caller?.keyId !== undefined && { key: caller.keyId }),
  ...(entry !== undefined && { domain: domainOf(entry) }),
});

/** "invalid" where it does not look like a domain: a local part, password or key may have been pasted there. */
function domainOf(entry: string): string {
  const domain = entry
    .slice(entry.lastIndexOf("@") + 1)
    .trim()
    .toLowerCase();
  const fits = domain.length <= DOMAIN_MAX_OCTETS && /^[\p{L}\p{M}\p{N}.-]+$/u.test(domain);
  return fits && domain.includes(".") ? domain : "invalid";
}

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
