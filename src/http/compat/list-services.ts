import { badParameter, missingParameter, Refusal } from "../../base/refusals.ts";
import {
  balance,
  BATCH_MAX,
  byMessage,
  type ByVerdict,
  type Endpoint,
  flagOf,
  inPortions,
  type Shape,
  type ShapeFacts,
  type ShapeRequest,
  type ShapeVerdict,
  single,
  paramText,
  type Why,
} from "./shape.ts";

const NEVERBOUNCE_WORDS: Readonly<Partial<Record<ShapeVerdict, string>>> = {
  syntax: "invalid",
  disposable: "disposable",
  no_mail: "invalid",
  good: "valid",
};

const FLAGS: readonly (readonly [string, (facts: ShapeFacts) => boolean])[] = [
  ["has_dns", ({ mail }) => mail === true],
  ["has_dns_mx", ({ mx }) => mx.length > 0],
  ["bad_syntax", ({ verdict }) => verdict === "syntax"],
  ["free_email_host", ({ result }) => result.free],
  ["role_account", ({ result }) => result.role],
  ["disposable_email", ({ result }) => result.disposable],
  ["spelling_mistake", ({ meant }) => meant !== null],
  ["bad_dns", ({ result, mail }) => result.format && mail === false],
  ["temporary_dns_error", ({ mail }) => mail === null],
  ["contains_alias", ({ alias }) => alias],
  ["contains_subdomain", ({ result }) => result.domain_info?.is_subdomain === true],
];

function addressInfo({ entry, mailbox, user, domain, tag, result }: ShapeFacts): object {
  const registrable = result.domain_info?.parent_domain ?? domain;
  const tld = result.domain_info?.tld ?? "";
  return {
    original_email: entry,
    normalized_email: mailbox,
    addr: tag === null ? user : user.slice(0, -tag.length - 1),
    alias: tag ?? "",
    host: domain,
    fqdn: registrable,
    domain: registrable.slice(0, Math.max(0, registrable.length - tld.length - 1)),
    subdomain: domain.slice(0, Math.max(0, domain.length - registrable.length - 1)),
    tld,
  };
}

const creditsInfo = async ({ unitsLeft }: ShapeRequest, used: number): Promise<object> => ({
  paid_credits_used: 0,
  free_credits_used: used,
  paid_credits_remaining: 0,
  free_credits_remaining: await unitsLeft(),
});

const VERSIONS = ["v4", "v4.1", "v4.2"];
const NEVERBOUNCE_STATUSES: Partial<Record<Why["kind"], string>> = {
  key: "auth_failure",
  rate: "throttle_triggered",
  fault: "temp_unavail",
};

/** api.neverbounce.com: every answer has the HTTP status 200, because its clients drop the body of any other. */
export const neverbounce: Shape = {
  service: "neverbounce",
  keys: [{ param: "key" }],
  parameters: ["key", "email", "address_info", "credits_info"],
  endpoints: [
    single(
      {
        methods: ["GET", "POST"],
        paths: VERSIONS.map((version) => `${version}/single/check`),
        name: "email",
      },
      async (facts, request) => ({
        status: "success",
        result: NEVERBOUNCE_WORDS[facts.verdict] ?? "unknown",
        flags: FLAGS.filter(([, holds]) => holds(facts)).map(([name]) => name),
        suggested_correction: facts.meant ?? "",
        retry_token: "",
        ...(flagOf(request.params, "address_info") && { address_info: addressInfo(facts) }),
        ...(flagOf(request.params, "credits_info") && {
          credits_info: await creditsInfo(request, 1),
        }),
        execution_time: facts.tookMs,
      }),
    ),
    {
      methods: ["GET", "POST"],
      paths: VERSIONS.map((version) => `${version}/account/info`),
      answer: async (request) => ({
        body: {
          status: "success",
          credits_info: await creditsInfo(request, 0),
          job_counts: { completed: 0, under_review: 0, queued: 0, processing: 0 },
          execution_time: 0,
        },
      }),
    },
  ],
  refused: ({ kind, message }) => ({
    body: {
      status: NEVERBOUNCE_STATUSES[kind] ?? "general_failure",
      message: kind === "missing" ? "Missing required parameter 'email'" : message,
      execution_time: 0,
    },
  }),
};

const STATUSES = "valid invalid catch_all do_not_mail spamtrap unknown".split(" ");

type ZeroBounceStatus = readonly [status: string, subStatus: string];

const ZEROBOUNCE_WORDS: ByVerdict<ZeroBounceStatus> = {
  syntax: ["invalid", "failed_syntax_check"],
  disposable: ["do_not_mail", "disposable"],
  no_mail: ["invalid", "no_dns_entries"],
  trap: ["spamtrap", ""],
  role: ["do_not_mail", "role_based"],
  unknown: ["unknown", "mail_server_temporary_error"],
  good: ["valid", ""],
  takes: ["unknown", ""],
};

function wordsOf({ verdict, meant, result }: ShapeFacts): ZeroBounceStatus {
  if (verdict !== "no_mail" && verdict !== "disposable") return ZEROBOUNCE_WORDS[verdict];
  if (meant !== null) return ["invalid", "possible_typo"];
  if (verdict === "disposable") return ZEROBOUNCE_WORDS.disposable;
  return result.signals.includes("null_mx")
    ? ["invalid", "does_not_accept_mail"]
    : ZEROBOUNCE_WORDS.no_mail;
}

/** `mx_found` and `domain_age_days` are text, `free_email` is a boolean. */
function zeroBounceRow(facts: ShapeFacts): object {
  const [status, subStatus] = wordsOf(facts);
  return {
    address: facts.entry,
    status,
    sub_status: subStatus,
    free_email: facts.result.free,
    did_you_mean: facts.meant,
    account: facts.user,
    domain: facts.domain,
    domain_age_days: facts.ageDays === null ? null : String(facts.ageDays),
    smtp_provider: facts.provider ?? "",
    mx_found: String(facts.mail === true),
    mx_record: facts.mx[0] ?? null,
    ...NOBODY,
    processed_at: facts.at.replace("T", " ").replace("Z", ""),
  };
}

const FIELDS = "firstname lastname gender country region city zipcode".split(" ");
const NOBODY = Object.fromEntries(FIELDS.map((name) => [name, null]));

const NO_KEY = "Invalid API Key or your account ran out of credits";

const TERMS = { features: ["domain_age", "inbox_provider"] } as const;

const batchError = (error: string) => ({
  email_batch: [],
  errors: [{ error, email_address: "all" }],
});

/** Up to 200 addresses, one unit each and one request of the rate for each 20; `errors` holds what cannot be paid. */
const validateBatch: Endpoint = {
  methods: ["POST"],
  paths: ["v2/validatebatch"],
  async answer(request) {
    const rows = request.params.value("email_batch");
    if (!Array.isArray(rows)) {
      return { status: 400, body: batchError("Missing parameter: email_batch.") };
    }
    if (rows.length > BATCH_MAX) {
      const error = `At most ${String(BATCH_MAX)} addresses in a batch.`;
      return { status: 400, body: batchError(error) };
    }
    const found = await inPortions(
      rows as readonly ({ email_address?: unknown } | null)[],
      request,
      (row) => oneOf(row?.email_address, request),
    );
    const isError = (row: object): boolean => "error" in row;
    return {
      body: {
        email_batch: found.filter((row) => !isError(row)),
        errors: found.filter(isError),
      },
    };
  },
  refused: ({ kind, status, message }) =>
    kind === "key" || kind === "quota"
      ? { body: batchError(NO_KEY) }
      : { status, body: batchError(message) },
};

async function oneOf(text: unknown, { check }: ShapeRequest): Promise<object> {
  if (typeof text !== "string" || text === "") {
    return { error: "Missing email_address.", email_address: "" };
  }
  try {
    return zeroBounceRow(await check(text, TERMS));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const isSpent = error.code === "quota_exceeded";
    return { error: isSpent ? NO_KEY : error.message, email_address: text };
  }
}

/** api.zerobounce.net: a wrong key is an answer with the status 200. */
export const zerobounce: Shape = {
  service: "zerobounce",
  keys: [{ param: "api_key" }],
  parameters: ["api_key", "email", "email_batch", "start_date", "end_date"],
  endpoints: [
    single({ paths: ["v2/validate"], name: "email" }, zeroBounceRow, TERMS),
    validateBatch,
    {
      paths: ["v2/getapiusage"],
      // The service counts units by account, not by status: its own figures are in the dashboard.
      answer: ({ params }) =>
        Promise.resolve({
          body: {
            total: 0,
            ...Object.fromEntries(STATUSES.map((status) => [`status_${status}`, 0])),
            start_date: paramText(params, "start_date") ?? "",
            end_date: paramText(params, "end_date") ?? "",
          },
        }),
    },
    {
      ...balance("v2/getcredits", (left) => ({ Credits: String(left) })),
      refused: ({ kind, status, message }) =>
        kind === "key" ? { body: { Credits: "-1" } } : { status, body: { error: message } },
    },
  ],
  refused: ({ kind, status, message }) =>
    kind === "key" || kind === "quota"
      ? { body: { error: NO_KEY } }
      : { status, body: { error: message } },
};

const VERIFALIA_WORDS: ByVerdict<readonly [string, string]> = {
  syntax: ["Undeliverable", "InvalidCharacterInSequence"],
  disposable: ["Risky", "DomainIsWellKnownDea"],
  no_mail: ["Undeliverable", "DomainIsMisconfigured"],
  trap: ["Risky", "MailExchangerIsHoneypot"],
  role: ["Risky", "LocalPartIsWellKnownRoleAccount"],
  unknown: ["Unknown", "DnsQueryTimeout"],
  good: ["Deliverable", "Success"],
  takes: ["Unknown", "MailboxConnectionFailure"],
};

function verifaliaRow(facts: ShapeFacts): object {
  const { result, domain, meant } = facts;
  const [classification, status] = VERIFALIA_WORDS[facts.verdict];
  return {
    completedOn: facts.at,
    ...(result.format && {
      emailAddress: facts.entry,
      emailAddressLocalPart: facts.user,
      emailAddressDomainPart: domain,
      asciiEmailAddressDomainPart: domain,
    }),
    isDisposableEmailAddress: result.disposable,
    isFreeEmailAddress: result.free,
    isRoleAccount: result.role,
    status,
    classification,
    suggestions: meant === null ? [] : [meant],
  };
}

const UNPAID = { classification: "Unknown", status: "UnhandledException" };

/** Nothing is kept: the job is over when its answer is sent. */
const JOB = "00000000-0000-0000-0000-000000000000";
const jobs = Array.from({ length: 10 }, (_, minor) => `v2.${String(minor)}/email-validations`);

const textAt = (row: unknown): string => {
  const text = (row as { inputData?: unknown } | null)?.inputData;
  if (typeof text !== "string" || text === "") throw missingParameter("inputData");
  return text;
};

/** api-1.verifalia.com, as far as a client submits addresses, reads its balance and cleans up. */
export const verifalia: Shape = {
  service: "verifalia",
  keys: [{ scheme: "basic" }, { scheme: "bearer" }],
  parameters: ["entries"],
  endpoints: [
    {
      methods: ["POST"],
      paths: jobs,
      async answer(request) {
        const rows = request.params.value("entries");
        if (!Array.isArray(rows) || rows.length === 0 || rows.length > BATCH_MAX) {
          throw badParameter("entries", `an array of 1 to ${String(BATCH_MAX)} addresses`);
        }
        const texts = rows.map(textAt);
        const refusals: Refusal[] = [];
        const found = await inPortions(texts, request, async (text) => {
          try {
            return verifaliaRow(await request.check(text));
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            refusals.push(error);
            return UNPAID;
          }
        });
        const [refusal] = refusals;
        if (refusal !== undefined && refusals.length === texts.length) throw refusal;
        const data = found.map((each, index) => ({ index, inputData: texts[index], ...each }));
        const overview = { id: JOB, status: "Completed", noOfEntries: data.length };
        return { body: { overview, entries: { data, meta: { isTruncated: false } } } };
      },
    },
    {
      methods: ["GET", "DELETE"],
      paths: jobs.map((path) => `${path}/*`),
      answer: () => Promise.resolve({ status: 410, body: {} }),
    },
    {
      paths: jobs.map((path) => path.replace("email-validations", "credits/balance")),
      answer: async ({ unitsLeft }) => ({ body: { creditPacks: await unitsLeft() } }),
    },
  ],
  refused: byMessage({ quota: [402] }),
};
