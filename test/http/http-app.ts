import { type AppDeps, buildApp } from "../../src/http/app.ts";
import { BodyReader } from "../../src/http/body.ts";
import type { Log } from "../../src/base/log.ts";
import type { CheckOne } from "../../src/check/check-one.ts";
import { createShares } from "../../src/base/shares.ts";
import { manualClock } from "../time/manual-clock.ts";
import { openAdmission } from "./open-admission.ts";

export interface Logged {
  readonly level: "info" | "warn" | "error";
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly fault?: unknown;
}

/** A log that keeps its events. */
export function recordingLog(): Log & { readonly lines: readonly Logged[] } {
  const lines: Logged[] = [];
  return {
    lines,
    info: (event, fields = {}) => void lines.push({ level: "info", event, fields }),
    warn: (event, fields = {}) => void lines.push({ level: "warn", event, fields }),
    error: (event, fault, fields = {}) => void lines.push({ level: "error", event, fault, fields }),
  };
}

/** Answers with a well-formed result whose `mx_info` has the question: entry, mode, features. */
export const echoingCheck: CheckOne = (_entrance, { text, mode, features }) => {
  const result = {
    format: true,
    domain: "echo.example",
    disposable: false,
    dns: true,
    confidence: 0,
    whitelist: false,
    signals: [],
    domain_info: { tld: "example", is_subdomain: false, parent_domain: null },
    mx_info: [text, mode, ...features],
    role: false,
    free: false,
    ...(mode === "address" ? { alias: false } : {}),
  };
  return { body: JSON.stringify(result), paidBy: "plan" };
};

/** Fake dependencies of an app; given ones replace them. */
export function appDeps(over: Partial<AppDeps> = {}): AppDeps {
  return {
    admission: openAdmission(),
    checkOne: echoingCheck,
    // A list is answered like one entry.
    bulk: async ({ admitted }, { family, text }) => {
      const mode = family === "email" ? "address" : "domain";
      const answer = await echoingCheck(admitted, { text, mode, features: [] });
      return { type: "application/json", ...answer };
    },
    clock: manualClock(),
    log: recordingLog(),
    metrics: { observe: () => undefined, refused: () => undefined },
    metricsPage: { contentType: "text/plain", text: () => Promise.resolve("figures 1\n") },
    usage: { record: () => undefined },
    broken: () => Promise.resolve([]),
    bodies: new BodyReader({ shares: createShares(), clock: over.clock ?? manualClock() }),
    settings: {
      publicUrl: () => "http://gatepost.example",
      trustedProxies: [],
      accessLogLinesPerSecond: 100,
    },
    ...over,
  };
}

export const appWith = (over: Partial<AppDeps> = {}) => buildApp(appDeps(over));
