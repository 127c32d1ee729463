import { metricsClosed, metricsUnauthorized, notReady } from "../../service/refusals.ts";
import { Type } from "../../core/json-schema.ts";
import { errorResponse } from "../openapi/openapi.ts";
import type { Operation, PathItem, Response } from "../answer/operation.ts";

const STATUS = Type.Object({ status: Type.Literal("ok") }, { additionalProperties: false });

const OK: Response = {
  description: "Yes.",
  content: { "application/json": { schema: STATUS, example: { status: "ok" } } },
};

function page(operationId: string, summary: string, responses: Operation["responses"]): PathItem {
  return { get: { operationId, summary, tags: ["system"], security: [{}], responses } };
}

/** The documented pages outside `/api`. */
export const systemDocumentation: Readonly<Record<string, PathItem>> = {
  "/healthz": page("getHealth", "Whether the process lives", { 200: OK }),
  "/readyz": page("getReadiness", "Whether it can serve", {
    200: OK,
    503: errorResponse("The names of what does not answer.", notReady(["dns"])),
  }),
  "/metrics": page("getMetrics", "Figures for Prometheus", {
    200: {
      description: "The text format of Prometheus.",
      content: { "text/plain": { schema: Type.String() } },
    },
    401: errorResponse("A token is set and was not sent.", metricsUnauthorized()),
    403: errorResponse("No token is set and the peer is not this machine.", metricsClosed()),
  }),
  "/feeds/pocket": page("getPocketList", "Listed names as keyed hashes, for client libraries", {
    200: {
      description: "See docs/pocket.md; with `ETag`, for `If-None-Match`.",
      content: {
        "application/octet-stream": {
          schema: Type.String({ contentMediaType: "application/octet-stream" }),
        },
      },
    },
    304: { description: "The list has not changed." },
  }),
  "/openapi.json": page("getOpenApi", "This document", {
    200: {
      description: "OpenAPI 3.1.",
      content: { "application/json": { schema: Type.Object({}) } },
    },
  }),
};
