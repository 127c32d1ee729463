import {
  balance,
  byMessage,
  type ByVerdict,
  entryOf,
  refusing,
  type Shape,
  type ShapeFacts,
  single,
  textOf,
  type Why,
} from "./shape.ts";

/** Result and reason of Kickbox and Emailable; Kickbox's sendex, Emailable's score. */
const SCORED: ByVerdict<readonly [string, string, number, number]> = {
  syntax: ["undeliverable", "invalid_email", 0, 0],
  disposable: ["risky", "low_quality", 0.1, 10],
  no_mail: ["undeliverable", "invalid_domain", 0, 0],
  trap: ["risky", "low_quality", 0.1, 10],
  role: ["risky", "low_quality", 0.4, 40],
  unknown: ["unknown", "timeout", 0.5, 50],
  good: ["deliverable", "accepted_email", 0.9, 95],
  takes: ["unknown", "unavailable_smtp", 0.5, 50],
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
        const [result, reason, sendex] = SCORED[facts.verdict];
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

export const emailable: Shape = {
  service: "emailable",
  keys: [{ param: "api_key" }, { scheme: "bearer" }],
  parameters: ["api_key", "email"],
  endpoints: [
    single(
      { methods: ["GET", "POST"], paths: ["v1/verify"], name: "email" },
      (facts) => {
        const { result, user } = facts;
        const [state, reason, , score] = SCORED[facts.verdict];
        return {
          accept_all: null,
          did_you_mean: facts.meant,
          disposable: result.disposable,
          domain: facts.domain,
          duration: facts.tookMs / 1_000,
          email: facts.entry,
          first_name: null,
          free: result.free,
          full_name: null,
          gender: null,
          last_name: null,
          mailbox_full: false,
          mx_record: facts.mx[0] ?? null,
          no_reply: /^(?:no|do-?not)[-_.]?reply$/i.test(user),
          reason,
          role: result.role,
          score,
          smtp_provider: facts.provider,
          state,
          tag: facts.tag,
          user,
        };
      },
      { features: ["inbox_provider"] },
    ),
    balance("v1/account", (left) => ({ owner_email: null, available_credits: left })),
  ],
  refused: byMessage({ key: [403], quota: [402] }),
};

/** code, result, reason, send_transactional */
const DEBOUNCE_WORDS: ByVerdict<readonly [string, string, string, string]> = {
  syntax: ["1", "Invalid", "Syntax", "0"],
  disposable: ["3", "Invalid", "Disposable", "0"],
  no_mail: ["6", "Invalid", "Bounce", "0"],
  trap: ["2", "Invalid", "Spam-trap", "0"],
  role: ["8", "Risky", "Role", "1"],
  unknown: ["7", "Unknown", "Unknown", "1"],
  good: ["5", "Safe to Send", "Deliverable", "1"],
  takes: ["7", "Unknown", "Unknown", "1"],
};

/** api.debounce.io: every value is text. */
export const debounce: Shape = {
  service: "debounce",
  keys: [{ param: "api" }],
  parameters: ["email", "api"],
  cors: true,
  endpoints: [
    single({ paths: ["v1"], name: "email" }, async (facts, { unitsLeft }) => {
      const [code, result, reason, transactional] = DEBOUNCE_WORDS[facts.verdict];
      return {
        debounce: {
          email: facts.entry,
          code,
          role: String(facts.result.role),
          free_email: String(facts.result.free),
          result,
          reason,
          send_transactional: transactional,
          did_you_mean: facts.meant ?? "",
        },
        success: "1",
        balance: String(await unitsLeft()),
      };
    }),
  ],
  refused: refusing(({ message: error }) => ({ debounce: { error, code: "0" }, success: "0" }), {
    key: [401, "Wrong API"],
    quota: [402, "Credits Low"],
    rate: [429, "Maximum concurrent calls reached"],
    missing: [400],
  }),
};

/** deliverability, quality_score */
const ABSTRACT_WORDS: ByVerdict<readonly [string, string]> = {
  syntax: ["UNDELIVERABLE", "0.01"],
  disposable: ["UNKNOWN", "0.10"],
  no_mail: ["UNDELIVERABLE", "0.01"],
  trap: ["UNKNOWN", "0.10"],
  role: ["UNKNOWN", "0.40"],
  unknown: ["UNKNOWN", "0.50"],
  good: ["DELIVERABLE", "0.90"],
  takes: ["UNKNOWN", "0.50"],
};

const abstractValue = (value: boolean | null): object => ({
  value,
  text: value === null ? "UNKNOWN" : String(value).toUpperCase(),
});

const ABSTRACT_CODES: Partial<Record<Why["kind"], readonly [status: number, code: string]>> = {
  key: [401, "unauthorized"],
  quota: [422, "quota_reached"],
  rate: [429, "too_many_requests"],
  missing: [400, "validation_error"],
};

/** emailvalidation.abstractapi.com; what no probe was made for is UNKNOWN. */
export const abstract: Shape = {
  service: "abstract",
  keys: [{ param: "api_key" }],
  parameters: ["api_key", "email", "auto_correct"],
  endpoints: [
    single({ paths: ["v1"], name: "email" }, (facts, { params }) => {
      const { result } = facts;
      const [deliverability, score] = ABSTRACT_WORDS[facts.verdict];
      // Of a malformed address the other checks are false.
      const untested = result.format ? null : false;
      return {
        email: facts.entry,
        autocorrect: textOf(params, "auto_correct") === "false" ? "" : (facts.meant ?? ""),
        deliverability,
        quality_score: score,
        is_valid_format: abstractValue(result.format),
        is_free_email: abstractValue(result.free),
        is_disposable_email: abstractValue(result.disposable),
        is_role_email: abstractValue(result.role),
        is_catchall_email: abstractValue(untested),
        is_mx_found: abstractValue(facts.mail),
        is_smtp_valid: abstractValue(untested),
      };
    }),
  ],
  refused(why) {
    const other = why.kind === "fault" ? "internal" : "bad_request";
    const [status, code] = ABSTRACT_CODES[why.kind] ?? [why.status, other];
    const message = why.kind === "key" ? "Invalid API key provided." : why.message;
    return { status, body: { error: { message, code, details: null } } };
  },
};

/** result, risk, reason */
const MAILGUN_WORDS: ByVerdict<readonly [string, string, readonly string[]]> = {
  syntax: ["undeliverable", "high", ["malformed address; missing @ sign"]],
  disposable: ["do_not_send", "high", ["mailbox_is_disposable_address"]],
  no_mail: ["undeliverable", "high", ["no_mx"]],
  trap: ["do_not_send", "high", ["high_risk_domain"]],
  role: ["unknown", "medium", ["mailbox_is_role_address"]],
  unknown: ["unknown", "unknown", []],
  good: ["deliverable", "low", []],
  takes: ["unknown", "unknown", []],
};

/** api.mailgun.net: the key is the password of the user "api". */
export const mailgun: Shape = {
  service: "mailgun",
  keys: [{ scheme: "basic" }],
  parameters: ["address"],
  endpoints: [
    single(
      { methods: ["GET", "POST"], paths: ["v4/address/validate"], name: "address" },
      ({ verdict, result, entry, meant, alias, mailbox }) => {
        const [word, risk, reasons] = MAILGUN_WORDS[verdict];
        const isFresh = result.signals.includes("fresh_domain") && risk === "unknown";
        const isBroken = verdict === "syntax" && entry.includes("@");
        const reason = isBroken ? ["malformed address"] : reasons;
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
  refused({ kind, status, message }) {
    if (kind === "key") return { status: 401, body: "Forbidden" };
    const text = kind === "missing" ? "'address' parameter is required" : message;
    return { status, body: { message: text } };
  },
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

const AFTERSHIP_PROBED = {
  host_exists: true,
  full_inbox: false,
  catch_all: false,
  deliverable: true,
  disabled: false,
};

/** The API server of AfterShip's email-verifier: a malformed address is 200 with a sentence. */
export const aftership: Shape = {
  service: "aftership",
  keys: [],
  parameters: [],
  endpoints: [
    single({ paths: ["v1/*/verification"] }, (facts) => {
      const { verdict, result } = facts;
      if (verdict === "syntax") return "email address syntax is invalid";
      const reachable = { no_mail: "no", good: "yes" }[verdict as string] ?? "unknown";
      return {
        email: facts.entry,
        reachable,
        syntax: { username: facts.user, domain: facts.domain, valid: true },
        smtp: verdict === "good" ? AFTERSHIP_PROBED : null,
        gravatar: null,
        suggestion: facts.meantDomain ?? "",
        disposable: result.disposable,
        role_account: result.role,
        free: result.free,
        // The original looks no further once it knows that a domain is disposable.
        has_mx_records: !result.disposable && facts.mx.length > 0,
      };
    }),
  ],
  refused: refusing(({ message }) => message),
};
