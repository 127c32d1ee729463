import type { FeedRefresh } from "../../../lists/feed-status.ts";
import type { Audit } from "../../../accounts/audit.ts";
import { auditedRefresh } from "../../../gate/audited.ts";
import { statusJson } from "../../../lists/rules/entry-json.ts";
import { badField } from "../../../base/refusals.ts";
import { Type } from "../../../core/json-schema.ts";
import { textsField } from "../fields.ts";
import { noteOf } from "../note.ts";
import { type AccountRoute, answering } from "../route.ts";
import { Outcomes, Sources } from "./admin-shapes.ts";

export interface SourceDeps {
  readonly refresh: FeedRefresh;
  readonly audit: Audit;
}

/** More than there are. */
const SOURCES_MAX = 20;

/** Where detection's data comes from. */
export const adminSourceRoutes = (deps: SourceDeps): readonly AccountRoute[] => [
  answering(Sources, {
    method: "GET",
    path: "admin/lists",
    for: "admin",
    summary: "Every list source: names in use, where from, and why its last answer was not taken",
    handle: async () => ({ sources: (await deps.refresh.status()).map(statusJson) }),
  }),
  answering(Outcomes, {
    method: "POST",
    path: "admin/lists/refresh",
    for: "admin",
    summary:
      "Ask every source now and say what came of it; those in `accept` may have changed much, this once",
    body: Type.Object({ accept: Type.Optional(Type.Array(Type.String())) }),
    async handle(request) {
      const { body } = request;
      const accept = body["accept"] === undefined ? [] : textsField(body, "accept", SOURCES_MAX);
      const known = new Set((await deps.refresh.status()).map(({ id }) => id));
      if (!accept.every((id) => known.has(id))) throw badField("That is not one of the lists.");
      const lists = auditedRefresh(deps.refresh, noteOf(request, deps.audit));
      const outcomes = await lists.refresh(accept);
      const nulls = { why: null, detail: null };
      return { outcomes: outcomes.map((outcome) => ({ ...nulls, ...outcome })) };
    },
  }),
];
