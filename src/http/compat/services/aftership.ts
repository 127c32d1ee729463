import type { Verdict } from "../facts.ts";
import type { Shape } from "../shape.ts";

const REACHABLE: Readonly<Record<Verdict, string>> = {
  syntax: "no",
  disposable: "unknown",
  no_mail: "no",
  trap: "unknown",
  role: "unknown",
  unknown: "unknown",
  good: "yes",
  takes: "unknown",
};

const PROBED = {
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
    {
      paths: ["v1/*/verification"],
      async answer({ entry, check }) {
        const facts = await check(entry);
        const { verdict, result, user, domain, meantDomain, mx } = facts;
        if (verdict === "syntax") return { body: "email address syntax is invalid" };
        const body = {
          email: facts.entry,
          reachable: REACHABLE[verdict],
          syntax: { username: user, domain, valid: true },
          smtp: verdict === "good" ? PROBED : null,
          gravatar: null,
          suggestion: meantDomain ?? "",
          disposable: result.disposable,
          role_account: result.role,
          free: result.free,
          // The original looks no further once it knows that a domain is disposable.
          has_mx_records: !result.disposable && mx.length > 0,
        };
        return { body };
      },
    },
  ],
  refused: ({ status, message }) => ({ status, body: message }),
};
