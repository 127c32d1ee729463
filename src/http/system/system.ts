import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { HttpMetrics, MetricsPage } from "../../base/metrics.ts";
import {
  hostNotAllowed,
  metricsClosed,
  metricsUnauthorized,
  notReady,
  type Refusal,
} from "../../base/refusals.ts";
import { errorBody } from "../answer/answer.ts";
import { type HostCheck, isAllowedFor } from "../request/allowed-hosts.ts";
import { llmsText } from "./llms.ts";
import { isLoopback } from "../request/client-address.ts";
import type { Readiness } from "./readiness.ts";
import { JSON_TYPE } from "../answer/route.ts";

/** The routes of every process about itself. */
export interface ProcessDeps {
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
export function addSystemRoutes(app: FastifyInstance, deps: SystemDeps): void {
  addProcessRoutes(app, deps);
  addDocument(app, "/openapi.json", deps.openApi);
  app.get("/llms.txt", (_, reply) =>
    reply
      .header("access-control-allow-origin", "*")
      .type("text/plain; charset=utf-8")
      .send(llmsText(deps.publicUrl().replace(/\/$/, ""))),
  );
  if (deps.dashboardApi !== undefined) {
    addDocument(app, "/account/openapi.json", deps.dashboardApi);
  }
}

function addDocument(app: FastifyInstance, url: string, serialise: () => string): void {
  let octets: Buffer | undefined; // each answer that is not read yet would have a copy of a text
  app.get(url, (_, reply) => {
    octets ??= Buffer.from(serialise());
    reply.header("access-control-allow-origin", "*").type(JSON_TYPE).send(octets);
  });
}

/** `/healthz`, `/readyz`, `/metrics`. */
export function addProcessRoutes(app: FastifyInstance, deps: ProcessDeps): void {
  app.addHook("onResponse", (request, reply, done) => {
    const { url = "none" } = request.routeOptions;
    deps.metrics.observe(url, request.method, reply.statusCode, reply.elapsedTime);
    done();
  });
  // Load balancers ask with HEAD as well.
  app.route({ method: ["GET", "HEAD"], url: "/healthz", handler: (_, reply) => ok(reply) });
  app.route({
    method: ["GET", "HEAD"],
    url: "/readyz",
    handler: async (_, reply) => {
      const failing = await deps.readiness.failing();
      return failing.length === 0 ? ok(reply) : refuse(reply, notReady(failing));
    },
  });
  app.get("/metrics", async (request, reply) => {
    const refusal = metricsRefusal(request, deps);
    if (refusal !== undefined) return refuse(reply, refusal);
    return reply.type(deps.metricsPage.contentType).send(await deps.metricsPage.text());
  });
}

const ok = (reply: FastifyReply): FastifyReply =>
  reply.header("cache-control", "no-store").type(JSON_TYPE).send('{"status":"ok"}');

function refuse(reply: FastifyReply, { status, message }: Refusal): FastifyReply {
  if (status === 401) reply.header("www-authenticate", "Bearer");
  return reply.code(status).type(JSON_TYPE).send(errorBody(message));
}

/** Headers that a proxy adds: with one of them the loopback peer forwards another client. */
const FORWARDING = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

function metricsRefusal(
  request: FastifyRequest,
  { metricsToken: token, isHostAllowed }: ProcessDeps,
): Refusal | undefined {
  const { headers } = request;
  if (token !== undefined && token !== "") {
    const given = /^bearer +(.+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
    return sameText(given, token) ? undefined : metricsUnauthorized();
  }
  if (!isAllowedFor({ headers, url: request.originalUrl }, isHostAllowed)) return hostNotAllowed();
  return isLocal(request) ? undefined : metricsClosed();
}

/** Whether the request comes from this machine itself, and not through a proxy on it. */
const isLocal = ({ raw: { headers, socket } }: FastifyRequest): boolean =>
  FORWARDING.every((name) => headers[name] === undefined) && isLoopback(socket.remoteAddress ?? "");

/** In constant time: digests have the same length for any input. */
function sameText(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
