import { Type } from "typebox";
import type { Operation, PathItem, Response } from "../operation.ts";

const STATUS = Type.Object({ status: Type.Literal("ok") }, { additionalProperties: false });

const OK: Response = {
  description: "Yes.",
  content: { "application/json": { schema: STATUS, example: { status: "ok" } } },
};

const failure = (description: string, error: string): Response => ({
  description,
  content: {
    "application/json": { schema: { $ref: "#/components/schemas/Error" }, example: { error } },
  },
});

const page = (summary: string, responses: Operation["responses"]): PathItem => ({
  get: { summary, tags: ["system"], security: [{}], responses },
});

/** The documented pages outside `/api`. */
export const systemDocumentation: Readonly<Record<string, PathItem>> = {
  "/healthz": page("Whether the process lives", { 200: OK }),
  "/readyz": page("Whether it can serve", {
    200: OK,
    503: failure("The names of what does not answer.", "Not ready: dns."),
  }),
  "/metrics": page("Figures for Prometheus", {
    200: {
      description: "The text format of Prometheus.",
      content: { "text/plain": { schema: Type.String() } },
    },
    401: failure("A token is set and was not sent.", "Invalid metrics token."),
    403: failure(
      "No token is set and the peer is not this machine.",
      "Metrics are for this machine or with a token.",
    ),
  }),
  "/openapi.json": page("This document", {
    200: {
      description: "OpenAPI 3.1.",
      content: { "application/json": { schema: Type.Object({}) } },
    },
  }),
};
