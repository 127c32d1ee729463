import { type Answer, type Asked, inHeader, type Shape } from "../shape.ts";

async function answer({ entry, check }: Asked, mode: "address" | "domain"): Promise<Answer> {
  const { result, mail, domain } = await check(entry, { mode });
  if (!result.format)
    return { status: 400, body: { status: 400, error: `Invalid ${NAMES[mode]}.` } };
  return { body: { status: 200, temporary: result.disposable, dns: mail, domain } };
}

const NAMES = { address: "email address", domain: "domain" };

/** block-temporary-email.com: its clients read `temporary` and `error`. */
export const blockTemporaryEmail: Shape = {
  service: "block-temporary-email",
  keys: [inHeader("x-api-key")],
  parameters: [],
  endpoints: [
    { paths: ["check/email/*"], answer: (asked) => answer(asked, "address") },
    { paths: ["check/domain/*"], answer: (asked) => answer(asked, "domain") },
  ],
  refused: ({ status, message }) => ({ status, body: { status, error: message } }),
};
