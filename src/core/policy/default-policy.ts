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
    { when: { mailbox_seen: { gte: 4 } }, then: "review", reason: "repeated_mailbox" },
    { when: { count_10m: { gte: 20 } }, then: "review", reason: "many" },
    { when: { count_day: { gte: 100 } }, then: "review", reason: "many" },
    { when: { shape_wave: true }, then: "review", reason: "burst" },
    { when: { dns: "unknown" }, then: "accept", reason: "unknown" },
  ],
  else: "accept",
} as const;

const SEND_DOCUMENT = {
  rules: [
    { when: { format: false }, then: "reject", reason: "format" },
    { when: { denied: true }, then: "reject", reason: "denied" },
    { when: { mailbox_complained: { gte: 1 } }, then: "reject", reason: "complained" },
    { when: { mailbox_bounced: { gte: 1 } }, then: "reject", reason: "bounced" },
    { when: { dns: "no" }, then: "reject", reason: "no_mail_server" },
    { when: { sent_10m: { gte: 3 } }, then: "reject", reason: "too_often" },
    { when: { sent_day: { gte: 10 } }, then: "reject", reason: "too_often" },
    { when: { sms_gateway: true }, then: "review", reason: "sms_gateway" },
    { when: { typo: true }, then: "challenge", reason: "typo" },
    { when: { wave: true, sent_known: false }, then: "challenge", reason: "wave" },
  ],
  else: "accept",
} as const;

/** `notify`: what the application sends by itself or for somebody who is signed in; what others asked for does not count. */
const NOTIFY_DOCUMENT = {
  rules: [
    { when: { format: false }, then: "reject", reason: "format" },
    { when: { denied: true }, then: "reject", reason: "denied" },
    { when: { mailbox_complained: { gte: 1 } }, then: "reject", reason: "complained" },
    { when: { mailbox_bounced: { gte: 1 } }, then: "reject", reason: "bounced" },
    { when: { dns: "no" }, then: "reject", reason: "no_mail_server" },
  ],
  else: "accept",
} as const;

const INVITE_DOCUMENT = {
  rules: [
    { when: { format: false }, then: "reject", reason: "format" },
    { when: { denied: true }, then: "reject", reason: "denied" },
    { when: { allowed: true }, then: "accept", reason: "allowed" },
    { when: { typo: true }, then: "challenge", reason: "typo" },
    { when: { disposable: true }, then: "reject", reason: "disposable" },
    { when: { mailbox_complained: { gte: 1 } }, then: "reject", reason: "complained" },
    { when: { mailbox_bounced: { gte: 1 } }, then: "reject", reason: "bounced" },
    { when: { dns: "no" }, then: "reject", reason: "no_mail_server" },
    { when: { sent_10m: { gte: 3 } }, then: "reject", reason: "too_often" },
    { when: { sent_day: { gte: 10 } }, then: "reject", reason: "too_often" },
    { when: { count_10m: { gte: 20 } }, then: "reject", reason: "many" },
    { when: { count_day: { gte: 100 } }, then: "reject", reason: "many" },
    { when: { wave: true }, then: "challenge", reason: "wave" },
  ],
  else: "accept",
} as const;

export const QUESTIONS = ["signup", "send", "invite"] as const;
export type PolicyQuestion = (typeof QUESTIONS)[number];

export const DEFAULT_NAME = "default";
/** Questions that this policy answers are no messages: they are not counted. */
export const NOTIFY_NAME = "notify";

export const policyFor = (question: PolicyQuestion): string =>
  question === "signup" ? DEFAULT_NAME : question;

/** A built-in policy is the first version of its name; those that an account saves follow it. */
export const DEFAULT_VERSION = 1;

export const BUILT_IN_DOCUMENTS: ReadonlyMap<string, object> = new Map<string, object>([
  [DEFAULT_NAME, DEFAULT_DOCUMENT],
  ["send", SEND_DOCUMENT],
  ["invite", INVITE_DOCUMENT],
  [NOTIFY_NAME, NOTIFY_DOCUMENT],
]);

export const BUILT_IN_POLICIES: ReadonlyMap<string, Policy> = new Map(
  [...BUILT_IN_DOCUMENTS].map(([name, document]) => [name, readBuiltIn(document)]),
);

export const builtInFor = (question: PolicyQuestion): Policy =>
  BUILT_IN_POLICIES.get(policyFor(question)) ?? DEFAULT_POLICY;

export const DEFAULT_POLICY: Policy = readBuiltIn(DEFAULT_DOCUMENT);

function readBuiltIn(document: object): Policy {
  const read = parsePolicy(document, { hasDomainAge: false });
  if (!read.ok) throw new Error(read.mistakes.join("; "));
  return read.policy;
}
