import {
  type Answer,
  type Asked,
  byScheme,
  type CheckTerms,
  inParam,
  type Shape,
} from "../shape.ts";

const INVALID = {
  address: "The email address is invalid.",
  domain: "The domain is invalid.",
};

async function answer({ entry, check }: Asked, mode: "address" | "domain"): Promise<Answer> {
  const terms: CheckTerms = { mode };
  const { result, alias, domain, mail, meantDomain, ...facts } = await check(entry, terms);
  if (!result.format) return { status: 400, body: { status: 400, error: INVALID[mode] } };
  const body = {
    status: 200,
    ...(mode === "address" && { email: facts.entry }),
    domain,
    mx: mail,
    disposable: result.disposable,
    public_domain: result.free,
    ...(mode === "address" && { alias }),
    did_you_mean: meantDomain,
  };
  return { body };
}

/** api.mailcheck.ai, which became UserCheck. */
export const mailcheckAi: Shape = {
  service: "mailcheck-ai",
  keys: [byScheme("bearer"), inParam("key")],
  parameters: ["key"],
  endpoints: [
    { paths: ["email/*"], answer: (asked) => answer(asked, "address") },
    { paths: ["domain/*"], answer: (asked) => answer(asked, "domain") },
  ],
  refused: ({ kind, status, message }) => ({
    status,
    body: { status, error: kind === "rate" ? "Rate limit exceeded." : message },
  }),
};
