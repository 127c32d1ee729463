import type { Verdict } from "../facts.ts";
import { basicPassword, type Shape, single } from "../shape.ts";

/** result, risk, reason */
const WORDS: Readonly<Record<Verdict, readonly [string, string, readonly string[]]>> = {
  syntax: ["undeliverable", "high", ["malformed address; missing @ sign"]],
  disposable: ["do_not_send", "high", ["mailbox_is_disposable_address"]],
  no_mail: ["undeliverable", "high", ["no_mx"]],
  trap: ["do_not_send", "high", ["high_risk_domain"]],
  role: ["unknown", "medium", ["mailbox_is_role_address"]],
  unknown: ["unknown", "unknown", []],
  good: ["deliverable", "low", []],
  takes: ["unknown", "unknown", []],
};

const MALFORMED = ["malformed address"];

/** api.mailgun.net: the key is the password of the user "api". */
export const mailgun: Shape = {
  service: "mailgun",
  keys: [basicPassword],
  parameters: ["address"],
  endpoints: [
    single(
      { methods: ["GET", "POST"], paths: ["v4/address/validate"], name: "address" },
      ({ verdict, result, entry, meant, alias, mailbox }) => {
        const [word, risk, reasons] = WORDS[verdict];
        const isFresh = result.signals.includes("fresh_domain") && risk === "unknown";
        const reason = verdict === "syntax" && entry.includes("@") ? MALFORMED : reasons;
        return {
          address: entry,
          did_you_mean: meant,
          is_disposable_address: result.disposable,
          is_role_address: result.role,
          reason: isFresh ? [...reason, "immature_domain"] : reason,
          result: word,
          risk: isFresh ? "medium" : risk,
          ...(alias && { root_address: mailbox }),
        };
      },
      { features: ["domain_age"] },
    ),
  ],
  refused: ({ kind, status, message }) =>
    kind === "key"
      ? { status: 401, body: "Forbidden" }
      : {
          status,
          body: { message: kind === "missing" ? "'address' parameter is required" : message },
        },
};
