import { parsePolicy } from "./parse-policy.ts";
import type { Policy } from "./policy.ts";

/** Every account has it under the name `default` until it saves one of its own. */
export const DEFAULT_DOCUMENT = {
  rules: [
    { when: { format: false }, then: "reject", reason: "format" },
    { when: { allowed: true }, then: "accept", reason: "allowed" },
    { when: { typo: true, disposable: true }, then: "reject", reason: "typo" },
    { when: { typo: true }, then: "challenge", reason: "typo" },
    { when: { disposable: true }, then: "reject", reason: "disposable" },
    { when: { dns: "no" }, then: "reject", reason: "no_mail_server" },
    {
      when: { domain_mailboxes: { gte: 5 }, domain_known_days: { lt: 14 } },
      then: "review",
      reason: "burst",
    },
    {
      when: { sub_names: { gte: 5 }, domain_known_days: { lt: 14 } },
      then: "review",
      reason: "burst",
    },
    { when: { dns: "unknown" }, then: "accept", reason: "unknown" },
  ],
  else: "accept",
} as const;

export const DEFAULT_NAME = "default";

/** The built-in policy is the first version of `default`; those that an account saves follow it. */
export const DEFAULT_VERSION = 1;

export const DEFAULT_POLICY: Policy = readDefault();

function readDefault(): Policy {
  const read = parsePolicy(DEFAULT_DOCUMENT, { hasDomainAge: false });
  if (!read.ok) throw new Error(read.mistakes.join("; "));
  return read.policy;
}
