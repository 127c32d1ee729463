import { limitsOf, type Tiers } from "../../accounts/admission/tiers.ts";
import { badParameter, missingParameter, tooManyWatched } from "../../base/refusals.ts";
import { orNull, oneOf, Type } from "../../core/json-schema.ts";
import type { WatchList } from "../../watch/watch-list.ts";
import { json, type Operation } from "../operation.ts";
import type { Route } from "../route.ts";
import { AFTER, accountOperation, accountRoute } from "./account-route.ts";

/** /api/watch: the domains of an account's users. */
export const watchRoute = (watch: WatchList, tiers: Tiers): Route =>
  accountRoute(WATCH, async ({ method, params, admitted }, accountId) => {
    if (method === "GET") {
      const after = params.words("after") ?? "";
      if (after.length > 253) throw badParameter("after", "the next of a page before");
      return watch.page(accountId, after);
    }
    const names = params.texts("domains");
    if (names === undefined) throw missingParameter("domains");
    if (method === "DELETE") return { watched: await watch.remove(accountId, names) };
    const most = limitsOf(tiers, admitted.caller).watch;
    return method === "PUT"
      ? watch.replace(accountId, names, most)
      : watch.add(accountId, names, most);
  });

const body = {
  domains: { schema: Type.Array(Type.String(), { description: "Names, never addresses." }) },
};
const watched = Type.Integer({ minimum: 0, description: "Domains watched now." });
const CHANGE = Type.Object({
  watched,
  refused: Type.Array(
    Type.Object({
      domain: Type.String(),
      why: oneOf(
        ["malformed", "shared"],
        "`shared`: a provider, relay or shared suffix, whose mailboxes belong to many.",
      ),
    }),
  ),
});
const EXAMPLE = { domains: ["shop.example", "gmail.com"] };
const CHANGED = { watched: 1, refused: [{ domain: "gmail.com", why: "shared" }] };
const changing = (
  id: string,
  at: Operation["at"],
  more: Partial<Operation> & Pick<Operation, "summary">,
): Operation =>
  accountOperation({
    id,
    at,
    body,
    bodyExample: EXAMPLE,
    answers: json("Stored.", CHANGE, CHANGED),
    refusals: { 422: ["More than the plan's `watch`.", tooManyWatched(100)] },
    ...more,
  });

export const WATCH: readonly Operation[] = [
  accountOperation({
    id: "listWatched",
    at: "GET /api/watch",
    summary: "Read the watched domains",
    about: "By name, up to 1,000 a page.",
    query: { after: AFTER },
    answers: json(
      "One page.",
      Type.Object({
        domains: Type.Array(
          Type.Object({
            domain: Type.String(),
            mail: oneOf(["yes", "no", "unknown"], "Whether it took mail when DNS last said."),
            since: Type.String({ format: "date-time", description: "Since when `mail` is so." }),
            registered: orNull(Type.String({ format: "date" }), "Null: the registry does not say."),
            disposable: orNull(Type.Boolean(), "Null before the first look."),
          }),
        ),
        next: orNull(Type.String()),
      }),
      {
        domains: [
          {
            domain: "shop.example",
            mail: "yes",
            since: "2026-11-28T09:00:00.000Z",
            registered: "2019-03-01",
            disposable: false,
          },
        ],
        next: null,
      },
    ),
  }),
  changing("replaceWatched", "PUT /api/watch", {
    summary: "Watch these domains alone",
    about: "Those watched already keep what is known of them.",
  }),
  changing("addWatched", "POST /api/watch", { summary: "Watch these domains, too" }),
  changing("removeWatched", "DELETE /api/watch", {
    summary: "Watch these domains no more",
    bodyExample: { domains: ["shop.example"] },
    answers: json("Removed.", Type.Object({ watched }), { watched: 0 }),
    refusals: {},
  }),
];
