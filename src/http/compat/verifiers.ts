import {
  balance,
  type ByVerdict,
  entryOf,
  refusing,
  type Shape,
  type ShapeFacts,
  single,
} from "./shape.ts";

const KICKBOX_WORDS: ByVerdict<readonly [string, string, number]> = {
  syntax: ["undeliverable", "invalid_email", 0],
  disposable: ["risky", "low_quality", 0.1],
  no_mail: ["undeliverable", "invalid_domain", 0],
  trap: ["risky", "low_quality", 0.1],
  role: ["risky", "low_quality", 0.4],
  unknown: ["unknown", "timeout", 0.5],
  good: ["deliverable", "accepted_email", 0.9],
  takes: ["unknown", "unavailable_smtp", 0.5],
};

export const kickbox: Shape = {
  service: "kickbox",
  keys: [{ param: "apikey" }, { scheme: "bearer" }, { scheme: "token" }],
  parameters: ["email", "apikey"],
  endpoints: [
    {
      paths: ["v2/verify"],
      async answer({ params, check, unitsLeft }) {
        const facts = await check(entryOf(params, "email", "address"));
        const [result, reason, sendex] = KICKBOX_WORDS[facts.verdict];
        const body = {
          result,
          reason,
          role: facts.result.role,
          free: facts.result.free,
          disposable: facts.result.disposable,
          accept_all: false,
          did_you_mean: facts.meant,
          sendex,
          email: facts.entry.toLowerCase(),
          user: facts.user.toLowerCase(),
          domain: facts.domain.toLowerCase(),
          success: true,
          message: null,
        };
        const headers = {
          "x-kickbox-balance": String(await unitsLeft()),
          "x-kickbox-response-time": String(facts.tookMs),
        };
        return { body, headers };
      },
    },
    balance("v2/balance", (left) => ({ balance: left, success: true, message: null })),
  ],
  refused: refusing(({ message }) => ({ success: false, message }), {
    key: [403, "Invalid API key"],
  }),
};

const REACHER_WORDS: ByVerdict<string> = {
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
const reacherMx = ({ mail, mx }: ShapeFacts): object =>
  mail === null
    ? { error: { type: "ResolveError", message: "DNS did not answer." } }
    : { accepts_mail: mail, records: mx.map((host) => `${host}.`) };

const reacherDebug = ({ at, tookMs }: ShapeFacts): object => ({
  backend_name: "gatepost",
  start_time: at,
  end_time: at,
  duration: { secs: Math.floor(tookMs / 1_000), nanos: (tookMs % 1_000) * 1_000_000 },
  smtp: { verif_method: { type: "Smtp" } },
});

/** A Reacher of one's own (check-if-email-exists). No mailbox is probed, so `smtp` says no to everything. */
export const reacher: Shape = {
  service: "reacher",
  keys: [{ header: "x-reacher-secret" }, { scheme: "bearer" }, { header: "authorization" }],
  parameters: ["to_email"],
  endpoints: [
    single(
      { methods: ["POST"], paths: ["v0/check_email", "v1/check_email"], name: "to_email" },
      (facts) => {
        const { verdict, result, entry } = facts;
        return {
          input: entry,
          is_reachable: REACHER_WORDS[verdict],
          misc: {
            is_disposable: result.disposable,
            is_role_account: result.role,
            is_b2c: result.free,
            gravatar_url: null,
            haveibeenpwned: null,
          },
          mx: reacherMx(facts),
          smtp: {
            can_connect_smtp: verdict === "good",
            has_full_inbox: false,
            is_catch_all: false,
            is_deliverable: verdict === "good",
            is_disabled: false,
          },
          syntax: {
            address: result.format ? entry : null,
            domain: result.format ? facts.domain : "",
            is_valid_syntax: result.format,
            username: result.format ? facts.user : "",
            normalized_email: result.format ? facts.mailbox : null,
            suggestion: facts.meant,
          },
          debug: reacherDebug(facts),
        };
      },
    ),
  ],
  refused: ({ kind, status, message }) =>
    kind === "key"
      ? { status: 400, body: 'Invalid request header "x-reacher-secret"' }
      : { status, body: { error: kind === "missing" ? "to_email field is required." : message } },
};
