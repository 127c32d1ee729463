import { trimEntry } from "../../core/address/address.ts";
import {
  byMessage,
  type CheckTerms,
  type Endpoint,
  entryOf,
  refusing,
  type Shape,
  type ShapeFacts,
  type ShapeVerdict,
  single,
} from "./shape.ts";

/** Endpoints for an address and for a domain, which answer a malformed one with 400. */
const endpointsOf = (
  shown: (facts: ShapeFacts, mode: "address" | "domain") => object,
  features: NonNullable<CheckTerms["features"]> = [],
): readonly Endpoint[] =>
  (["address", "domain"] as const).map((mode) => ({
    paths: [mode === "address" ? "email/*" : "domain/*"],
    async answer({ entry, check }) {
      const facts = await check(entry, { mode, features });
      if (facts.result.format) return { body: { status: 200, ...shown(facts, mode) } };
      return { status: 400, body: { status: 400, error: INVALID[mode] } };
    },
  }));

const INVALID = { address: "The email address is invalid.", domain: "The domain is invalid." };

/** A shape without a word for malformed entries says of them what keeps them out: "jo@listed.example;x@x" passes as an address elsewhere. */
const isKeptOut = ({ format, disposable }: ShapeFacts["result"]): boolean => disposable || !format;

/** open.kickbox.com: is the domain disposable? The path may hold a whole address. */
export const kickboxOpen: Shape = {
  service: "kickbox-open",
  keys: [],
  parameters: [],
  cors: true,
  endpoints: [
    single({ paths: ["v1/disposable/*"] }, ({ result }) => ({ disposable: isKeptOut(result) }), {
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
        return { body: { disposable: String(isKeptOut(result)) } };
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
  endpoints: endpointsOf((facts, mode) => ({
    ...(mode === "address" && { email: facts.entry }),
    domain: facts.domain,
    mx: facts.mail,
    disposable: facts.result.disposable,
    public_domain: facts.result.free,
    ...(mode === "address" && { alias: facts.alias }),
    did_you_mean: facts.meantDomain,
  })),
  refused: refusing(({ status, message: error }) => ({ status, error }), {
    rate: [429, "Rate limit exceeded."],
  }),
};

/** Misskey shows the words "disposable" and "blacklist" of a list to the person. Everything else may sign up. */
const ERRORS: Partial<Record<ShapeVerdict, Readonly<Record<string, string>>>> = {
  syntax: { regex: "malformed address" },
  disposable: { list_match: "disposable" },
  no_mail: { mx: "no mail server" },
  trap: { list_match: "blacklist" },
};

/**
 * A server of Truemail, as Misskey and its family ask it. They refuse a sign-up for every status but 200, so a limit that is
 * reached and a fault of ours are a success.
 */
export const truemail: Shape = {
  service: "truemail",
  keys: [{ scheme: "bearer" }, { header: "authorization" }],
  parameters: ["email"],
  endpoints: [
    single({ methods: ["GET", "POST"], paths: [""], name: "email" }, ({ verdict, entry }) => {
      const errors = ERRORS[verdict] ?? null;
      return { email: entry, success: errors === null, errors };
    }),
  ],
  refused({ kind, status, message }, params) {
    if (kind === "rate" || kind === "quota" || kind === "fault") {
      const email = params?.entry("email", "address") ?? "";
      return { body: { email, success: true, errors: null } };
    }
    return { status: kind === "missing" ? 422 : status, body: { error: message } };
  },
};
