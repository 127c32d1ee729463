import type { DecideOne } from "../../../gate/decide-one.ts";
import { missingParameter, originNotAllowed } from "../../../base/refusals.ts";
import { isPublishableKey } from "../../../accounts/admission/api-key.ts";
import { presentedKey } from "../../../accounts/admission/identify.ts";
import type { Caller } from "../../../accounts/admission/caller.ts";
import { JSON_TYPE, type ApiRequest, type Route } from "../../route.ts";
import { decideDocumentation } from "./decide-documentation.ts";
import { DECIDE_PARAMETERS, deadlineOf, pageDeadlineOf, readDecide } from "./decide-parameters.ts";

export interface DecideRouteDeps {
  readonly decideOne: DecideOne;
}

/** POST /api/decide: accept, challenge, review or reject a sign-up, by the deadline; one unit. */
export function decideRoute({ decideOne }: DecideRouteDeps): Route {
  return {
    family: "decide",
    methods: ["POST"],
    body: "params",
    parameters: DECIDE_PARAMETERS,
    charges: "units",
    forPublishableKeys: true,
    deadlineMs(params, credentials) {
      const presented = presentedKey(credentials);
      const isPage = presented.kind === "key" && isPublishableKey(presented.key);
      return isPage ? pageDeadlineOf(params) : deadlineOf(params);
    },
    documentation: decideDocumentation,
    isSingle: true,
    async handle({ path, params, entrance, waitedMs, source }) {
      checkOrigin(entrance.caller, source);
      const text = path.join("/") || (params.entry("email", "address") ?? "");
      if (text === "") throw missingParameter("email");
      const request = readDecide(params, { text, waitedMs }, entrance.caller.page);
      const { body, paidBy } = await decideOne(entrance, request);
      return { type: JSON_TYPE, body, paidBy, entry: text };
    },
  };
}

/** Scheme, host and port of the page, exactly. A secret key and no key at all work from everywhere. */
function checkOrigin({ origins }: Caller, { headers }: ApiRequest["source"]): void {
  if (origins === undefined) return;
  const { origin } = headers;
  if (origin === undefined || !origins.includes(origin)) throw originNotAllowed();
}
