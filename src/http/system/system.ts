import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { HttpMetrics, MetricsPage } from "../../base/metrics.ts";
import {
  hostNotAllowed,
  metricsClosed,
  metricsUnauthorized,
  notReady,
  type Refusal,
} from "../../base/refusals.ts";
import { refused } from "../answer/answer.ts";
import { type HostCheck, isAllowedFor } from "../request/allowed-hosts.ts";
import { llmsText } from "./llms.ts";
import { isLoopback } from "../request/client-address.ts";
import type { Readiness } from "./readiness.ts";
import { type HttpRequest, JSON_TYPE, type Reply } from "../answer/route.ts";
import type { Page } from "../routes.ts";

/** The routes of every process about itself. */
export interface ProcessDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly readiness: Readiness;
  readonly metrics: HttpMetrics;
  readonly metricsPage: MetricsPage;
  /** GATEPOST_METRICS_TOKEN. */
  readonly metricsToken: string | undefined;
  readonly isHostAllowed: HostCheck;
}

export interface SystemDeps extends ProcessDeps {
  /** The serialised document. */
  readonly openApi: () => string;
  /** The base of links. */
  readonly publicUrl: () => string;
  /** That of the dashboard's own API; absent without a dashboard. */
  readonly dashboardApi?: () => string;
}

/** `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/llms.txt`: for the operator, uncounted and without a key. */
export function systemPages(deps: SystemDeps): readonly Page[] {
  const { openApi, dashboardApi, publicUrl } = deps;
  const llms: Page["handle"] = () => ({
    type: "text/plain; charset=utf-8",
    headers: OPEN,
    body: llmsText(publicUrl().replace(/\/$/, "")),
  });
  return [
    ...processPages(deps),
    ...observed(deps, [
      { method: "GET", path: "/openapi.json", handle: document(openApi) },
      { method: "GET", path: "/llms.txt", handle: llms },
      ...(dashboardApi === undefined
        ? []
        : ([
            { method: "GET", path: "/account/openapi.json", handle: document(dashboardApi) },
          ] as const)),
    ]),
  ];
}

const OPEN = { "access-control-allow-origin": "*" };

function document(serialise: () => string): Page["handle"] {
  let octets: Buffer | undefined; // each answer that is not read yet would have a copy of a text
  return () => ({ type: JSON_TYPE, headers: OPEN, body: (octets ??= Buffer.from(serialise())) });
}

/** `/healthz`, `/readyz`, `/metrics`. */
export const processPages = (deps: ProcessDeps): readonly Page[] =>
  observed(deps, [
    { method: "GET", path: "/healthz", handle: () => OK },
    {
      method: "GET",
      path: "/readyz",
      async handle() {
        const failing = await deps.readiness.failing();
        return failing.length === 0 ? OK : refused(notReady(failing), undefined);
      },
    },
    {
      method: "GET",
      path: "/metrics",
      async handle({ source }) {
        const refusal = metricsRefusal(source, deps);
        if (refusal === undefined) {
          return { type: deps.metricsPage.contentType, body: await deps.metricsPage.text() };
        }
        const reply = refused(refusal, undefined);
        return refusal.status === 401
          ? { ...reply, headers: { "www-authenticate": "Bearer" } }
          : reply;
      },
    },
  ]);

const OK: Reply = {
  type: JSON_TYPE,
  headers: { "cache-control": "no-store" },
  body: '{"status":"ok"}',
};

/** The same pages, in the metrics of requests. */
const observed = ({ metrics, clock }: ProcessDeps, pages: readonly Page[]): readonly Page[] =>
  pages.map((page) => ({
    ...page,
    async handle(request) {
      const startMs = clock.monotonicMs();
      const reply = await page.handle(request);
      const { method = page.method } = request.source;
      metrics.observe(page.path, method, reply?.status ?? 200, clock.monotonicMs() - startMs);
      return reply;
    },
  }));

/** Headers that a proxy adds: with one of them the loopback peer forwards another client. */
const FORWARDING = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

function metricsRefusal(
  request: HttpRequest,
  { metricsToken: token, isHostAllowed }: ProcessDeps,
): Refusal | undefined {
  const { headers } = request;
  if (token !== undefined && token !== "") {
    const given = /^bearer +(.+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
    return sameText(given, token) ? undefined : metricsUnauthorized();
  }
  if (!isAllowedFor(request, isHostAllowed)) return hostNotAllowed();
  return isLocal(request) ? undefined : metricsClosed();
}

/** Whether the request comes from this machine itself, and not through a proxy on it. */
const isLocal = ({ headers, socket }: HttpRequest): boolean =>
  FORWARDING.every((name) => headers[name] === undefined) && isLoopback(socket.remoteAddress ?? "");

/** In constant time: digests have the same length for any input. */
function sameText(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
