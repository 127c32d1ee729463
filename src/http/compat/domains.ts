import { trimEntry } from "../../core/address/address.ts";
import type { ShapeFacts } from "./facts.ts";
import { byMessage, type CheckTerms, type Endpoint, entryOf, type Shape, single } from "./shape.ts";

type Mode = "address" | "domain";

/** Endpoints for an address and for a domain, which answer a malformed one with 400. */
const endpointsOf = (
  base: string,
  invalid: Readonly<Record<Mode, string>>,
  shown: (facts: ShapeFacts, mode: Mode) => object,
  features: NonNullable<CheckTerms["features"]> = [],
): readonly Endpoint[] =>
  (["address", "domain"] as const).map((mode) => ({
    paths: [`${base}${mode === "address" ? "email" : "domain"}/*`],
    async answer({ entry, check }) {
      const facts = await check(entry, { mode, features });
      if (facts.result.format) return { body: { status: 200, ...shown(facts, mode) } };
      return { status: 400, body: { status: 400, error: invalid[mode] } };
    },
  }));

const INVALID = { address: "The email address is invalid.", domain: "The domain is invalid." };

/** open.kickbox.com: is the domain disposable? The path may hold a whole address. */
export const kickboxOpen: Shape = {
  service: "kickbox-open",
  keys: [],
  parameters: [],
  cors: true,
  endpoints: [
    single({ paths: ["v1/disposable/*"] }, ({ result }) => ({ disposable: result.disposable }), {
      mode: "either",
    }),
  ],
  refused: byMessage(),
};

/** Many callers do not encode "+", which something between us may have turned into a blank. */
function withPlus(text: string): string {
  const entry = trimEntry(text);
  const at = Math.max(0, entry.lastIndexOf("@"));
  return entry.slice(0, at).replaceAll(" ", "+") + entry.slice(at);
}

/** disposable.debounce.io: the boolean is text. */
export const debounceFree: Shape = {
  service: "debounce-free",
  keys: [],
  parameters: ["email"],
  cors: true,
  endpoints: [
    {
      paths: [""],
      async answer({ params, check }) {
        const text = withPlus(entryOf(params, "email", "either"));
        const { result } = await check(text, { mode: "either" });
        return { body: { disposable: String(result.disposable) } };
      },
    },
  ],
  refused: byMessage(),
};

/** api.usercheck.com: it speaks of domains alone, so every field is true. */
export const usercheck: Shape = {
  service: "usercheck",
  keys: [{ scheme: "bearer" }, { param: "key" }],
  parameters: ["key"],
  endpoints: endpointsOf(
    "",
    INVALID,
    (facts, mode) => {
      const { result, domain, provider } = facts;
      const isAddress = mode === "address";
      return {
        ...(isAddress && { email: facts.entry, normalized_email: facts.mailbox }),
        domain,
        ...(!isAddress && { domain_authority: null }),
        domain_age_in_days: facts.ageDays,
        mx: facts.mail,
        // `priority` is the rank of the host, as single checks name hosts in their order.
        mx_records: facts.mx.map((hostname, at) => ({ hostname, priority: at + 1 })),
        mx_providers: provider === null ? [] : [{ slug: provider, type: "mailbox" }],
        disposable: result.disposable,
        public_domain: result.free,
        relay_domain: facts.relay,
        ...(isAddress && { alias: facts.alias, role_account: result.role }),
        spam: false,
        did_you_mean: facts.meantDomain,
        blocklisted: false,
      };
    },
    ["domain_age", "inbox_provider"],
  ),
  refused({ kind, status, message }) {
    const isSpent = kind === "rate" || kind === "quota";
    const error = isSpent ? "Too many requests" : kind === "key" ? "Unauthorized" : message;
    return { status, body: { status, error } };
  },
};

/** api.mailcheck.ai, which became UserCheck. */
export const mailcheckAi: Shape = {
  service: "mailcheck-ai",
  keys: [{ scheme: "bearer" }, { param: "key" }],
  parameters: ["key"],
  endpoints: endpointsOf("", INVALID, (facts, mode) => ({
    ...(mode === "address" && { email: facts.entry }),
    domain: facts.domain,
    mx: facts.mail,
    disposable: facts.result.disposable,
    public_domain: facts.result.free,
    ...(mode === "address" && { alias: facts.alias }),
    did_you_mean: facts.meantDomain,
  })),
  refused: ({ kind, status, message }) => ({
    status,
    body: { status, error: kind === "rate" ? "Rate limit exceeded." : message },
  }),
};

/** block-temporary-email.com: its clients read `temporary` and `error`. */
export const blockTemporaryEmail: Shape = {
  service: "block-temporary-email",
  keys: [{ header: "x-api-key" }],
  parameters: [],
  endpoints: endpointsOf(
    "check/",
    { address: "Invalid email address.", domain: "Invalid domain." },
    ({ result, mail, domain }) => ({ temporary: result.disposable, dns: mail, domain }),
  ),
  refused: ({ status, message }) => ({ status, body: { status, error: message } }),
};
