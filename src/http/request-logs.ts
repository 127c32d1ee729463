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

export type AccessLog = (line: AccessLine, detail: AccessDetail, monotonicMs: number) => void;

/** Lets `most` lines of a second through; each tells how many were left out before it. */
function limited(most: number): (nowMs: number) => { readonly leftOut?: number } | undefined {
  let [startMs, lines, leftOut] = [-Infinity, 0, 0];
  return (nowMs) => {
    if (nowMs - startMs >= 1_000) [startMs, lines] = [nowMs, 0];
    lines += 1;
    if (lines > most) {
      leftOut += 1;
      return undefined;
    }
    const told = leftOut > 0 ? { leftOut } : {};
    leftOut = 0;
    return told;
  };
}

/** Logs at most `linesPerSecond` requests, so that logging never slows the server. */
export function createAccessLog(log: Log, linesPerSecond: number): AccessLog {
  const lines = limited(linesPerSecond);
  return (line, detail, monotonicMs) => {
    const told = lines(monotonicMs);
    if (told === undefined) return;
    const durationMs = Math.round(line.durationMs * 100) / 100;
    log.info("http.request", { ...line, durationMs, ...fieldsOf(detail), ...told });
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

/** While a store is down every request fails for the same reason: one line a second says so. */
export function createFaultLog(log: Log, clock: Pick<Clock, "monotonicMs">): FaultLog {
  const lines = limited(1);
  return (fault, fields) => {
    if (storeDownOf(fault) === undefined) {
      log.error("http.request_failed", fault, fields);
      return;
    }
    const told = lines(clock.monotonicMs());
    if (told !== undefined) log.error("http.store_down", fault, { ...fields, ...told });
  };
}
