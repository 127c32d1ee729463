import type { Route } from "../../src/http/route.ts";
import { appWith } from "./http-app.ts";
import { admittedAs, openAdmission } from "./open-admission.ts";
import type { Answered } from "./strict-client.ts";
import type { Admission, Admitted, Receipt } from "../../src/accounts/admission/admission.ts";
import { Refusal } from "../../src/base/refusals.ts";
import type { AppDeps } from "../../src/http/app.ts";
import { inject, type InjectOptions } from "./inject.ts";
import type { Credentials } from "../../src/accounts/admission/caller.ts";

export async function ask(
  over: Partial<AppDeps>,
  request: InjectOptions | string,
): Promise<Answered> {
  const app = appWith(over);
  const { statusCode, headers, body } = await inject(app, request);
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { status: statusCode, headers: Object.fromEntries(texts) as Answered["headers"], body };
}

export const CHECK = "/api/email/ada@x.example";

/** A gate that answers with the given admitted and remembers what it was asked. */
export function admissionWith(admitted: Partial<Admitted>, receipt: Partial<Receipt> = {}) {
  const seen: { credentials?: Credentials; address?: string; charged: number[] } = { charged: [] };
  const admission: Admission = {
    ...openAdmission(),
    enter(credentials, address) {
      Object.assign(seen, { credentials, address });
      return { ...admittedAs("anonymous", address), ...admitted };
    },
    charge(_, units) {
      seen.charged.push(units);
      return { paidBy: "credits", units, refund: () => undefined, ...receipt };
    },
  };
  return { admission, seen };
}

export const rateOf = ({ headers }: Answered) => [
  headers["x-ratelimit-limit"],
  headers["x-ratelimit-remaining"],
];

export const RATE = { limit: 30, remaining: 7 };
export const PLAIN_REFUSAL = new Refusal(
  "rate",
  429,
  "Rate limit exceeded. Try again in 17 seconds.",
  {
    detail: { retry_after: 17 },
    retryAfterSeconds: 17,
  },
);

/** A route that charges nothing itself. */
export const quiet = (handle: Route["handle"]): Route => ({
  family: "quiet",
  methods: ["GET"],
  body: "params",
  parameters: new Set(),
  charges: "nothing",
  handle,
});
