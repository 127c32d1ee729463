import type { Facts } from "../facts.ts";
import { byScheme, type CheckTerms, inParam, type Shape } from "../shape.ts";

const FEATURES: CheckTerms["features"] = ["domain_age", "inbox_provider"];

const INVALID = { status: 400, body: { status: 400, error: "The email address is invalid." } };

/** Fields of both endpoints. `priority` is the rank of the host, as single checks name hosts in their order. */
function domainFields({ domain, ageDays, mail, mx, provider }: Facts): object {
  return {
    domain,
    domain_age_in_days: ageDays,
    mx: mail,
    mx_records: mx.map((hostname, at) => ({ hostname, priority: at + 1 })),
    mx_providers: provider === null ? [] : [{ slug: provider, type: "mailbox" }],
  };
}

/** api.usercheck.com: it speaks of domains alone, so every field is true. */
export const usercheck: Shape = {
  service: "usercheck",
  keys: [byScheme("bearer"), inParam("key")],
  parameters: ["key"],
  endpoints: [
    {
      paths: ["email/*"],
      async answer({ entry, check }) {
        const facts = await check(entry, { features: FEATURES });
        const { result, mailbox, relay, alias, meantDomain } = facts;
        if (!result.format) return INVALID;
        const body = {
          status: 200,
          email: facts.entry,
          normalized_email: mailbox,
          ...domainFields(facts),
          disposable: result.disposable,
          public_domain: result.free,
          relay_domain: relay,
          alias,
          role_account: result.role,
          spam: false,
          did_you_mean: meantDomain,
          blocklisted: false,
        };
        return { body };
      },
    },
    {
      paths: ["domain/*"],
      async answer({ entry, check }) {
        const facts = await check(entry, { mode: "domain", features: FEATURES });
        const { result, relay, meantDomain } = facts;
        if (!result.format)
          return { ...INVALID, body: { status: 400, error: "The domain is invalid." } };
        const { domain, ...fields } = domainFields(facts) as { domain: string };
        const body = {
          status: 200,
          domain,
          domain_authority: null,
          ...fields,
          disposable: result.disposable,
          public_domain: result.free,
          relay_domain: relay,
          spam: false,
          did_you_mean: meantDomain,
          blocklisted: false,
        };
        return { body };
      },
    },
  ],
  refused: ({ kind, status, message }) => {
    const error = { key: "Unauthorized", rate: "Too many requests", quota: "Too many requests" };
    return { status, body: { status, error: error[kind as keyof typeof error] ?? message } };
  },
};
