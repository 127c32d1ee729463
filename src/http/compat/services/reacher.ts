import type { Facts, Verdict } from "../facts.ts";
import { byScheme, inHeader, type Shape, single } from "../shape.ts";

const WORDS: Readonly<Record<Verdict, string>> = {
  syntax: "invalid",
  disposable: "risky",
  no_mail: "invalid",
  trap: "risky",
  role: "risky",
  unknown: "unknown",
  good: "safe",
  takes: "unknown",
};

/** No answer of DNS is an error there, not an absence. */
const mxOf = ({ mail, mx }: Facts): object =>
  mail === null
    ? { error: { type: "ResolveError", message: "DNS did not answer." } }
    : { accepts_mail: mail, records: mx.map((host) => `${host}.`) };

function debugOf({ at, tookMs }: Facts): object {
  const [secs, nanos] = [Math.floor(tookMs / 1_000), (tookMs % 1_000) * 1_000_000];
  return {
    backend_name: "gatepost",
    start_time: at,
    end_time: at,
    duration: { secs, nanos },
    smtp: { verif_method: { type: "Smtp" } },
  };
}

/** A Reacher of one's own (check-if-email-exists). No mailbox is probed, so `smtp` says no to everything. */
export const reacher: Shape = {
  service: "reacher",
  keys: [inHeader("x-reacher-secret"), byScheme("bearer"), inHeader("authorization")],
  parameters: ["to_email"],
  endpoints: [
    single(
      { methods: ["POST"], paths: ["v0/check_email", "v1/check_email"], name: "to_email" },
      (facts) => {
        const { verdict, result, entry, user, domain, mailbox, meant } = facts;
        const isGood = verdict === "good";
        return {
          input: entry,
          is_reachable: WORDS[verdict],
          misc: {
            is_disposable: result.disposable,
            is_role_account: result.role,
            is_b2c: result.free,
            gravatar_url: null,
            haveibeenpwned: null,
          },
          mx: mxOf(facts),
          smtp: {
            can_connect_smtp: isGood,
            has_full_inbox: false,
            is_catch_all: false,
            is_deliverable: isGood,
            is_disabled: false,
          },
          syntax: {
            address: result.format ? entry : null,
            domain: result.format ? domain : "",
            is_valid_syntax: result.format,
            username: result.format ? user : "",
            normalized_email: result.format ? mailbox : null,
            suggestion: meant,
          },
          debug: debugOf(facts),
        };
      },
    ),
  ],
  refused: ({ kind, status, message }) =>
    kind === "key"
      ? { status: 400, body: 'Invalid request header "x-reacher-secret"' }
      : { status, body: { error: kind === "missing" ? "to_email field is required." : message } },
};
