import { Refusal } from "../../base/refusals.ts";
import type { ShapeFacts, ShapeVerdict } from "./facts.ts";
import {
  type ShapeRequest,
  BATCH_MAX,
  type Endpoint,
  inPortions,
  type Shape,
  single,
  textOf,
} from "./shape.ts";

const STATUSES = "valid invalid catch_all do_not_mail spamtrap unknown".split(" ");

type ZeroBounceStatus = readonly [status: string, subStatus: string];

const WORDS: Readonly<Record<ShapeVerdict, ZeroBounceStatus>> = {
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
  if (verdict !== "no_mail" && verdict !== "disposable") return WORDS[verdict];
  if (meant !== null) return ["invalid", "possible_typo"];
  if (verdict === "disposable") return WORDS.disposable;
  return result.signals.includes("null_mx") ? ["invalid", "does_not_accept_mail"] : WORDS.no_mail;
}

/** `mx_found` and `domain_age_days` are text, `free_email` is a boolean. */
function shown(facts: ShapeFacts): object {
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
  async answer(asked) {
    const rows = asked.params.value("email_batch");
    if (!Array.isArray(rows)) {
      return { status: 400, body: batchError("Missing parameter: email_batch.") };
    }
    if (rows.length > BATCH_MAX) {
      const error = `At most ${String(BATCH_MAX)} addresses in a batch.`;
      return { status: 400, body: batchError(error) };
    }
    const found = await inPortions(
      rows as readonly ({ email_address?: unknown } | null)[],
      asked,
      (row) => oneOf(row?.email_address, asked),
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
    return shown(await check(text, TERMS));
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
    single({ paths: ["v2/validate"], name: "email" }, shown, TERMS),
    validateBatch,
    {
      paths: ["v2/getapiusage"],
      // The service counts units by account, not by status: its own figures are in the dashboard.
      answer: ({ params }) =>
        Promise.resolve({
          body: {
            total: 0,
            ...Object.fromEntries(STATUSES.map((status) => [`status_${status}`, 0])),
            start_date: textOf(params, "start_date") ?? "",
            end_date: textOf(params, "end_date") ?? "",
          },
        }),
    },
    {
      paths: ["v2/getcredits"],
      answer: async ({ unitsLeft }) => ({ body: { Credits: String(await unitsLeft()) } }),
      refused: ({ kind, status, message }) =>
        kind === "key" ? { body: { Credits: "-1" } } : { status, body: { error: message } },
    },
  ],
  refused: ({ kind, status, message }) =>
    kind === "key" || kind === "quota"
      ? { body: { error: NO_KEY } }
      : { status, body: { error: message } },
};
