import type { Awaitable } from "../../core/mail/lookup.ts";
import { when } from "../../core/when.ts";
import type { CheckAnswer, CheckOne, CheckRequest } from "../../check/check-one.ts";
import { missingParameter } from "../../base/refusals.ts";
import { askedFeatures, readCheckPath } from "../request/check-path.ts";
import type { Params } from "../request/params.ts";
import type { PathItem } from "../answer/operation.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE, type Route } from "../answer/route.ts";

/** A list as a client sent it under `/api/email` or `/api/domain`. */
export interface BulkInput {
  /** Where it was sent to. */
  readonly family: "email" | "domain";
  /** Decoded, "+" read by the bulk rule; entries separated by commas or white space. Not empty. */
  readonly text: string;
  /** The parameter `json`. */
  readonly wantsResults: boolean;
}

/** Answers a bulk request; `request.entrance` says who asks. */
export type BulkHandler = (request: ApiRequest, input: BulkInput) => Awaitable<ApiReply>;

export interface CheckRouteDeps {
  readonly checkOne: CheckOne;
  /** Absent: `mass`, `bulk` and the parameter `bulk` mean nothing. */
  readonly bulk?: BulkHandler;
  readonly documentation: Readonly<Record<string, PathItem>>;
}

const PARAMETERS: ReadonlySet<string> = new Set(["email", "domain", "features", "bulk", "json"]);

/**
 * `/api/email[/{email}[/{suffix}...]]` and the same for domains. The entry of the path wins over the
 * parameter; the parameter of the body wins over the one of the query.
 */
export function checkRoute(family: "email" | "domain", deps: CheckRouteDeps): Route {
  const mode: CheckRequest["mode"] = family === "email" ? "address" : "domain";
  return {
    family,
    methods: ["GET", "POST"],
    body: "params",
    parameters: PARAMETERS,
    charges: "units",
    documentation: deps.documentation,
    read(segments) {
      const path = readCheckPath(segments, mode);
      const isBulk = (params: Params): boolean =>
        deps.bulk !== undefined && (path.bulk || params.flag("bulk"));
      return {
        isBulk,
        isSingle: !path.bulk,
        handle(request) {
          const { params, entrance } = request;
          if (deps.bulk !== undefined && isBulk(params)) {
            const text = path.entry || listOf(request);
            if (text === "") throw missingParameter(family);
            return deps.bulk(request, { family, text, wantsResults: params.flag("json") });
          }
          const text = path.entry || (params.entry(family, mode) ?? "");
          if (text === "") throw missingParameter(family);
          const features = askedFeatures(path.features, params.names("features"));
          const answer = deps.checkOne(entrance, { text, mode, features });
          return when(answer, (known) => replyWith(known, text));
        },
      };
    },
  };
}

function replyWith({ body, paidBy }: CheckAnswer, entry: string): ApiReply {
  return { type: JSON_TYPE, body, paidBy, entry };
}

/** Both list parameters together, `email` first. */
function listOf({ params }: ApiRequest): string {
  const lists = [params.bulkText("email"), params.bulkText("domain")];
  return lists.filter((list) => list !== undefined && list !== "").join("\n");
}
