import type { ShapeVerdict } from "./facts.ts";
import { entryOf, type Shape } from "./shape.ts";

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
    {
      methods: ["GET", "POST"],
      paths: [""],
      async answer({ params, check }) {
        const facts = await check(entryOf(params, "email", "address"));
        const errors = ERRORS[facts.verdict] ?? null;
        return { body: { email: facts.entry, success: errors === null, errors } };
      },
    },
  ],
  refused({ kind, status, message }, params) {
    if (kind === "rate" || kind === "quota" || kind === "fault") {
      const email = params?.entry("email", "address") ?? "";
      return { body: { email, success: true, errors: null } };
    }
    return { status: kind === "missing" ? 422 : status, body: { error: message } };
  },
};
