import { DOMAIN_MAX_OCTETS } from "../../core/name/domain.ts";
import type { Log } from "../../base/log.ts";
import type { Caller } from "../../accounts/admission/caller.ts";

/** One answered request. */
export interface AccessLine {
  readonly method: string;
  /** The route's family. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

export interface AccessDetail {
  readonly caller: Caller | undefined;
  /** What was checked, in clear. */
  readonly entry: string | undefined;
}

export interface AccessLogOptions {
  readonly log: Log;
  /** Lines in one second; what goes beyond is counted and the next line says how many were left out. */
  readonly linesPerSecond: number;
}

/** `monotonicMs` is when the request was answered, by `Clock.monotonicMs`. */
export type AccessLog = (line: AccessLine, detail: AccessDetail, monotonicMs: number) => void;

/** A quiet server logs every request; a busy one a sample, so that logging never sets its pace. */
export function createAccessLog({ log, linesPerSecond }: AccessLogOptions): AccessLog {
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

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf({ caller, entry }: AccessDetail): Fields {
  return {
    ...(caller === undefined ? {} : callerFields(caller)),
    ...(entry === undefined ? {} : { domain: domainOf(entry) }),
  };
}

function callerFields({ owner, tier, keyId }: Caller): Fields {
  const account = owner.kind === "account" ? { account: owner.accountId } : {};
  return { tier, ...account, ...(keyId === undefined ? {} : { key: keyId }) };
}

/**
 * What stands behind the last at sign, or a whole text that looks like a domain; "invalid" for the rest:
 * a local part, password or key may have been pasted there.
 */
function domainOf(entry: string): string {
  const domain = entry
    .slice(entry.lastIndexOf("@") + 1)
    .trim()
    .toLowerCase();
  const fits = domain.length <= DOMAIN_MAX_OCTETS && /^[\p{L}\p{M}\p{N}.-]+$/u.test(domain);
  return fits && domain.includes(".") ? domain : "invalid";
}
