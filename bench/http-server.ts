/**
 * One server of `bench/http.ts`, in a process of its own: `app` is the real HTTP face over a cached check,
 * `bare` is node:http writing the same bytes. Tells its address over IPC, and its use of the machine when asked.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLog } from "../src/adapters/system/log.ts";
import { createMetrics } from "../src/adapters/system/metrics.ts";
import { buildApp } from "../src/http/app.ts";
import { createListener, DEFAULT_LIMITS, listen } from "../src/main/listen.ts";
import type { CheckOne } from "../src/service/check-one.ts";
import { openGate } from "../test/open-gate.ts";
import { realClock } from "../test/real-clock.ts";

export const CHECKED = "ada.lovelace@example.org";

const RESULT = {
  format: true,
  domain: "example.org",
  disposable: false,
  dns: true,
  confidence: 0,
  whitelist: false,
  signals: [],
  domain_info: { tld: "org", is_subdomain: false, parent_domain: null },
  mx_info: ["mx1.mail.example.org", "mx2.mail.example.org", "mx3.mail.example.org"],
  role: false,
  free: false,
  alias: false,
};

/** What one server has used since it started. */
export interface Usage {
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
}

async function startApp(): Promise<string> {
  const answers = new Map([[`address ${CHECKED}`, JSON.stringify(RESULT)]]);
  const checkOne: CheckOne = (_entrance, { text, mode }) => ({
    body: answers.get(`${mode} ${text}`) ?? "",
    paidBy: "plan",
  });
  const metrics = createMetrics();
  const app = await buildApp({
    gate: openGate("pro"),
    checkOne,
    clock: realClock,
    log: createLog({ level: "info", showAddresses: false }, { write: () => undefined }),
    metrics: metrics.http,
    metricsPage: metrics.page,
    usage: { record: () => undefined },
    probes: new Map(),
    settings: {
      publicUrl: "http://127.0.0.1",
      trustedProxies: [],
      logAddresses: false,
      accessLogLinesPerSecond: 100,
    },
    listener: createListener(DEFAULT_LIMITS),
  });
  return (await listen(app, { host: "127.0.0.1", port: 0 }, DEFAULT_LIMITS)).url;
}

function startBare(): Promise<string> {
  const body = JSON.stringify(RESULT);
  const headers = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-type": "application/json; charset=utf-8",
    "x-ratelimit-limit": "500",
    "x-ratelimit-remaining": "500",
    "content-length": String(Buffer.byteLength(body)),
  };
  const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
    });
  });
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() };
}

if (process.send !== undefined) {
  process.on("message", () => process.send?.(usage()));
  process.on("disconnect", () => process.exit(0));
  process.send(await (process.argv[2] === "app" ? startApp() : startBare()));
}
