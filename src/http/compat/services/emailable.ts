import type { Verdict } from "../facts.ts";
import { byMessage, byScheme, inParam, type Shape, single } from "../shape.ts";

/** state, reason, score */
const WORDS: Readonly<Record<Verdict, readonly [string, string, number]>> = {
  syntax: ["undeliverable", "invalid_email", 0],
  disposable: ["risky", "low_quality", 10],
  no_mail: ["undeliverable", "invalid_domain", 0],
  trap: ["risky", "low_quality", 10],
  role: ["risky", "low_quality", 40],
  unknown: ["unknown", "timeout", 50],
  good: ["deliverable", "accepted_email", 95],
  takes: ["unknown", "unavailable_smtp", 50],
};

/** api.emailable.com */
export const emailable: Shape = {
  service: "emailable",
  keys: [inParam("api_key"), byScheme("bearer")],
  parameters: ["api_key", "email"],
  endpoints: [
    single(
      { methods: ["GET", "POST"], paths: ["v1/verify"], name: "email" },
      (facts) => {
        const { verdict, result, entry, user, domain, tag, meant, mx, provider, tookMs } = facts;
        const [state, reason, score] = WORDS[verdict];
        return {
          accept_all: null,
          did_you_mean: meant,
          disposable: result.disposable,
          domain,
          duration: tookMs / 1_000,
          email: entry,
          first_name: null,
          free: result.free,
          full_name: null,
          gender: null,
          last_name: null,
          mailbox_full: false,
          mx_record: mx[0] ?? null,
          no_reply: /^(?:no|do-?not)[-_.]?reply$/i.test(user),
          reason,
          role: result.role,
          score,
          smtp_provider: provider,
          state,
          tag,
          user,
        };
      },
      { features: ["inbox_provider"] },
    ),
    {
      paths: ["v1/account"],
      answer: async ({ unitsLeft }) => ({
        body: { owner_email: null, available_credits: await unitsLeft() },
      }),
    },
  ],
  refused: byMessage({ key: 403, quota: 402 }),
};
