import type { Verdict } from "../facts.ts";
import { byScheme, entryOf, inParam, type Shape } from "../shape.ts";

/** result, reason, sendex */
const WORDS: Readonly<Record<Verdict, readonly [string, string, number]>> = {
  syntax: ["undeliverable", "invalid_email", 0],
  disposable: ["risky", "low_quality", 0.1],
  no_mail: ["undeliverable", "invalid_domain", 0],
  trap: ["risky", "low_quality", 0.1],
  role: ["risky", "low_quality", 0.4],
  unknown: ["unknown", "timeout", 0.5],
  good: ["deliverable", "accepted_email", 0.9],
  takes: ["unknown", "unavailable_smtp", 0.5],
};

/** api.kickbox.com */
export const kickbox: Shape = {
  service: "kickbox",
  keys: [inParam("apikey"), byScheme("bearer"), byScheme("token")],
  parameters: ["email", "apikey"],
  endpoints: [
    {
      paths: ["v2/verify"],
      async answer({ params, check, unitsLeft }) {
        const facts = await check(entryOf(params, "email", "address"));
        const { verdict, result, entry, user, domain, meant, tookMs } = facts;
        const [word, reason, sendex] = WORDS[verdict];
        const body = {
          result: word,
          reason,
          role: result.role,
          free: result.free,
          disposable: result.disposable,
          accept_all: false,
          did_you_mean: meant,
          sendex,
          email: entry.toLowerCase(),
          user: user.toLowerCase(),
          domain: domain.toLowerCase(),
          success: true,
          message: null,
        };
        const headers = {
          "x-kickbox-balance": String(await unitsLeft()),
          "x-kickbox-response-time": String(tookMs),
        };
        return { body, headers };
      },
    },
    {
      paths: ["v2/balance"],
      answer: async ({ unitsLeft }) => ({
        body: { balance: await unitsLeft(), success: true, message: null },
      }),
    },
  ],
  refused: ({ kind, status, message }) => ({
    status: kind === "key" ? 403 : status,
    body: { success: false, message: kind === "key" ? "Invalid API key" : message },
  }),
};
