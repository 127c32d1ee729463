import { Readable } from "node:stream";
import { apiKeyRequired, badParameter } from "../../base/refusals.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import { KEY_NEEDED, type Operation, optionalText, parametersOf } from "../operation.ts";
import { type ApiRequest, jsonReply, type Method, type Route } from "../route.ts";

/** The account of a secret key; nobody else may ask. */
function accountOf({ admitted: { caller } }: ApiRequest): string {
  if (caller.owner.kind !== "account" || caller.keyId === undefined) throw apiKeyRequired();
  return caller.owner.accountId;
}

/** What an account asks with a secret key, documented so. */
export const accountOperation = (operation: Omit<Operation, "tag" | "key">): Operation => ({
  ...operation,
  about:
    `Needs a secret key; counts against the rate and costs no unit. ${operation.about ?? ""}`.trim(),
  tag: "gate",
  key: "needed",
  refusals: { ...KEY_NEEDED, ...operation.refusals },
});

/** The family of paths of these operations: one of the rate, no unit. An answer that streams is CSV, any other JSON. */
export const accountRoute = (
  operations: readonly Operation[],
  handle: (request: ApiRequest, accountId: string) => Awaitable<object>,
): Route => ({
  family: operations[0]?.at.split("/")[2] ?? "",
  methods: [...new Set(operations.map(({ at }) => at.split(" ")[0] as Method))],
  body: "params",
  parameters: parametersOf(...operations),
  charges: "nothing",
  async handle(request) {
    const answer = await handle(request, accountOf(request));
    return answer instanceof Readable
      ? { type: "text/csv; charset=utf-8", body: answer }
      : jsonReply(answer);
  },
});

export const AFTER = optionalText("`next` of the page before.");

export const pageFields = (what: string, most: number): NonNullable<Operation["query"]> => ({
  after: AFTER,
  limit: optionalText(`${what} of a page, 1 to ${String(most)}.`, { example: String(most) }),
});

/** The place and size of a page, by the fields of a query. Throws the `Refusal` of a wrong one. */
export function readPage(
  field: (name: string) => string | undefined,
  place: RegExp,
  most: number,
): { readonly after: string | undefined; readonly limit: number } {
  const [after, text = String(most)] = [field("after"), field("limit")];
  if (after !== undefined && !place.test(after)) {
    throw badParameter("after", "the next of a page before");
  }
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= most) return { after, limit };
  throw badParameter("limit", `a whole number from 1 to ${String(most)}`);
}
