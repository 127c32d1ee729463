import type { Clock } from "../../base/clock.ts";
import { sameText } from "../../base/secrets.ts";
import type { HttpMetrics, MetricsPage } from "../../base/metrics.ts";
import {
  hostNotAllowed,
  metricsClosed,
  metricsUnauthorized,
  notReady,
  type Refusal,
} from "../../base/refusals.ts";
import { type BrokenPart, shownPart } from "../../base/health.ts";
import { Type } from "../../core/json-schema.ts";
import { refused } from "../answer.ts";
import { isLoopback } from "../client-address.ts";
import { keptText } from "../files.ts";
import { type HostCheck, isAllowedFor } from "../hosts.ts";
import { BROKEN } from "../schemas.ts";
import { json, type Operation, type Refusals } from "../operation.ts";
import { type HttpRequest, JSON_TYPE, type RouteReply } from "../route.ts";
import type { Page } from "../routes.ts";

export interface ProcessDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly broken: () => Promise<readonly BrokenPart[]>;
  readonly isStopping?: () => boolean;
  readonly metrics: HttpMetrics;
  readonly metricsPage: MetricsPage;
  readonly metricsToken: string | undefined;
  readonly isHostAllowed: HostCheck;
}

/** Pages for the operator, uncounted and without a key. */
export const systemPages = (
  deps: ProcessDeps,
  publicUrl: () => string,
  openApi: () => object,
): readonly Page[] => [
  ...processPages(deps),
  ...observed(deps, [
    pageOf(
      "/openapi.json",
      keptText(JSON_TYPE, OPEN, () => JSON.stringify(openApi())),
    ),
    pageOf(
      "/llms.txt",
      keptText("text/plain; charset=utf-8", OPEN, () => llmsText(publicUrl().replace(/\/$/, ""))),
    ),
  ]),
];

const pageOf = (path: string, handle: Page["handle"]): Page => ({ method: "GET", path, handle });

const OPEN = { "access-control-allow-origin": "*" };

/** A proxy that looks sends its requests elsewhere before the listener ends. */
const STOPPING = refused(notReady(["stopping"]), undefined);

export const processPages = (deps: ProcessDeps): readonly Page[] =>
  observed(deps, [
    pageOf("/healthz", () => (deps.isStopping?.() === true ? STOPPING : OK)),
    pageOf("/readyz", async ({ source }) => {
      if (deps.isStopping?.() === true) return STOPPING;
      const broken = await deps.broken();
      const stopped = broken.filter(({ stops }) => stops).map(({ part }) => part);
      // Sentences name folders and servers: names are all that others get.
      const isTold = isLocal(source) || metricsRefusal(source, deps) === undefined;
      const detail = isTold ? { broken: broken.map(shownPart) } : {};
      if (stopped.length > 0) return refused(notReady(stopped, detail), undefined);
      return { ...OK, body: JSON.stringify({ status: "ok", ...detail }) };
    }),
    pageOf("/metrics", async ({ source }) => {
      const refusal = metricsRefusal(source, deps);
      if (refusal === undefined) {
        return { type: deps.metricsPage.contentType, body: await deps.metricsPage.text() };
      }
      return refused(refusal, undefined);
    }),
  ]);

const OK: RouteReply = {
  type: JSON_TYPE,
  headers: { "cache-control": "no-store" },
  body: '{"status":"ok"}',
};

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

const isLocal = ({ headers, socket }: HttpRequest): boolean =>
  FORWARDING.every((name) => headers[name] === undefined) && isLoopback(socket.remoteAddress ?? "");

/** `/llms.txt`: what agents read first (llmstxt.org). `publicUrl` has no trailing slash. */
const llmsText = (publicUrl: string): string => `# Gatepost

> Checks email addresses and domains without sending mail: is the format valid, can mail be received, is it disposable, and why.

Every check answers HTTP 200 with a JSON object; any other status is {"error": "..."}. Look at "format" first, then "disposable" and "dns".
"dns": false with the signal "dns_indeterminate" means that DNS did not answer: retry later, and let the person pass. Mailboxes are not
probed, so nothing says that a mailbox exists. Send a key as X-Api-Key; without one the limits of the client address apply. Wait as long
as Retry-After says.

## API

- [OpenAPI](${publicUrl}/openapi.json): every route, parameter and field
- [Documentation](${publicUrl}/docs): the same for people
- POST ${publicUrl}/api/email with "email": check one address; with "bulk=1&json=1" up to 100 at once
- POST ${publicUrl}/api/domain with "domain": check a domain
- POST ${publicUrl}/api/decide with "email": accept, challenge, review or reject a sign-up
- GET ${publicUrl}/api/explain/{entry}: why, signal by signal; needs a key

## Tools for agents

- gatepost mcp --server ${publicUrl}: a Model Context Protocol server on standard input and output
`;

const YES = json("Yes.", Type.Object({ status: Type.Literal("ok") }), { status: "ok" });

const READY = json(
  "Yes. Who may read `/metrics` sees what is broken without stopping it.",
  Type.Object({ status: Type.Literal("ok"), broken: BROKEN }),
  { status: "ok" },
);

const page = (
  id: string,
  path: string,
  summary: string,
  answers: Operation["answers"],
  refusals: Refusals = {},
): Operation => ({
  id,
  at: `GET ${path}` as "GET /",
  summary,
  tag: "system",
  key: "unread",
  answers,
  refusals,
});

export const systemOperations: readonly Operation[] = [
  page("getHealth", "/healthz", "Whether the process lives", YES, {
    503: ["It is stopping.", notReady(["stopping"])],
  }),
  page("getReadiness", "/readyz", "Whether it can serve", READY, {
    503: ["The names of what does not answer.", notReady(["dns"])],
  }),
  page(
    "getMetrics",
    "/metrics",
    "Figures for Prometheus",
    {
      "text/plain": {
        about: "The text format of Prometheus.",
        schema: Type.String(),
        example: "gatepost_requests_total 1\n",
      },
    },
    {
      401: ["A token is set and was not sent.", metricsUnauthorized()],
      403: ["No token is set and the peer is not this machine.", metricsClosed()],
    },
  ),
  page(
    "getOpenApi",
    "/openapi.json",
    "This document",
    json("OpenAPI 3.1.", Type.Object({}, { additionalProperties: true }), { openapi: "3.1.0" }),
  ),
];
