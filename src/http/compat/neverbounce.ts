import type { ShapeFacts, ShapeVerdict } from "./facts.ts";
import { type ShapeRequest, flagOf, type Shape, single, type Why } from "./shape.ts";

/** Every other word is "unknown". */
const RESULTS: Readonly<Partial<Record<ShapeVerdict, string>>> = {
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
const NO_JOBS = { completed: 0, under_review: 0, queued: 0, processing: 0 };
const STATUSES: Partial<Record<Why["kind"], string>> = {
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
      async (facts, asked) => ({
        status: "success",
        result: RESULTS[facts.verdict] ?? "unknown",
        flags: FLAGS.filter(([, holds]) => holds(facts)).map(([name]) => name),
        suggested_correction: facts.meant ?? "",
        retry_token: "",
        ...(flagOf(asked.params, "address_info") && { address_info: addressInfo(facts) }),
        ...(flagOf(asked.params, "credits_info") && { credits_info: await creditsInfo(asked, 1) }),
        execution_time: facts.tookMs,
      }),
    ),
    {
      methods: ["GET", "POST"],
      paths: VERSIONS.map((version) => `${version}/account/info`),
      answer: async (asked) => ({
        body: {
          status: "success",
          credits_info: await creditsInfo(asked, 0),
          job_counts: NO_JOBS,
          execution_time: 0,
        },
      }),
    },
  ],
  refused: ({ kind, message }) => ({
    body: {
      status: STATUSES[kind] ?? "general_failure",
      message: kind === "missing" ? "Missing required parameter 'email'" : message,
      execution_time: 0,
    },
  }),
};
