import {
  apiKeyRequired,
  metricsClosed,
  metricsUnauthorized,
  notReady,
  publishableKeyElsewhere,
  rateExceeded,
} from "../../base/refusals.ts";
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

const SINCE = "The day it was first seen; null when it came with the program.";

const PublishedList = Type.Object({
  feeds: Type.Array(
    Type.Object({
      id: Type.String(),
      kind: Type.String(),
      names: Type.Integer(),
      spdx: Type.String(),
      copyright: Type.String(),
      url: Type.String(),
    }),
  ),
  left_out: Type.Array(Type.String(), { description: "Feeds that may not be passed on." }),
  licences: Type.Object(
    {},
    { additionalProperties: true, description: "Texts by SPDX identifier." },
  ),
  count: Type.Integer(),
  names: Type.Array(
    Type.Object({
      name: Type.String(),
      first_seen: Type.Union([Type.String(), Type.Null()], { description: SINCE }),
      kinds: Type.Array(Type.String(), { description: "curated, uncurated, doubtful, weak." }),
      feeds: Type.Array(Type.String()),
    }),
  ),
});

/** A form of the list of disposable domains. */
function listPage(
  operationId: string,
  form: string,
  content: NonNullable<Response["content"]>,
): PathItem {
  const summary = `Disposable domains as ${form}, for systems that take a list`;
  const responses: Operation["responses"] = {
    200: { description: "See docs/feeds.md; with `ETag`, for `If-None-Match`.", content },
    304: { description: "The list has not changed." },
    401: errorResponse("No key, or one that is invalid or revoked.", apiKeyRequired()),
    403: errorResponse("A publishable key.", publishableKeyElsewhere()),
    429: errorResponse("The rate is spent.", rateExceeded(30_000)),
  };
  const security = [{ apiKey: [] }, { bearer: [] }];
  return { get: { operationId, summary, tags: ["system"], security, responses } };
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
  "/feeds/disposable.txt": listPage("getDisposableText", "text", {
    "text/plain": { schema: Type.String() },
  }),
  "/feeds/disposable.json": listPage("getDisposableJson", "JSON", {
    "application/json": { schema: PublishedList },
  }),
  "/feeds/disposable.lists": listPage("getDisposableLists", "tables for the light library", {
    "application/octet-stream": {
      schema: Type.String({ contentMediaType: "application/octet-stream" }),
    },
  }),
  "/openapi.json": page("getOpenApi", "This document", {
    200: {
      description: "OpenAPI 3.1.",
      content: { "application/json": { schema: Type.Object({}) } },
    },
  }),
};
