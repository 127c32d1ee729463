import { type Described, oneOf, orNull, Type } from "../core/json-schema.ts";
import { DECISIONS } from "../core/policy/policy.ts";

/** What is answered about logged decisions and feedback: pages import this, so it imports no store. */

const text = Type.String();

export const LoggedDecision = Type.Object({
  id: Type.String({ description: "Grows with time; goes into `after`." }),
  time: Type.String({ format: "date-time" }),
  decision: oneOf(DECISIONS, "What the policy said."),
  reason: text,
  rule: orNull(Type.Integer({ minimum: 0 }), "Counts from 0; null: `else` decided."),
  policy: Type.Object({ name: text, version: Type.Integer({ minimum: 1 }) }),
  signals: Type.Array(text),
  registrable_domain: orNull(text, "Null: the entry has none."),
  mailbox: orNull(Type.Object({ id: text }), "Null: the entry is no address."),
  form: orNull(text),
  key: orNull(text, "Id of the API key, or `hook:ID`."),
  complete: Type.Boolean({ description: "False: DNS did not answer in time." }),
});
export type LoggedDecision = Described<typeof LoggedDecision>;

export const DecisionPage = Type.Object({
  decisions: Type.Array(LoggedDecision, { description: "Newest first." }),
  next: orNull(text, "For `after`; null: there are no more."),
});
export type DecisionPage = Described<typeof DecisionPage>;

export const FEEDBACK_OUTCOMES = ["abuse", "bounce", "fine"] as const;
export type FeedbackOutcome = (typeof FEEDBACK_OUTCOMES)[number];

export const FEEDBACK_NOTE_MAX = 1_000;

/** A domain that feedback speaks of, and what is proposed to do with it. */
export const Proposal = Type.Object({
  domain: text,
  proposes: oneOf(["deny", "allow"], "`deny`: reported as abuse; `allow`: refused, but fine."),
  reports: Type.Integer({ minimum: 1, description: "Feedback that led to it." }),
  mailboxes: Type.Integer({ minimum: 1 }),
  accounts: Type.Integer({ minimum: 1, description: "That gave the feedback." }),
  last_day: Type.String({ format: "date" }),
});
export type Proposal = Described<typeof Proposal>;

export const Proposals = Type.Object({ proposals: Type.Array(Proposal) });

export const PROPOSAL_ANSWERS = ["allow", "deny", "dismiss"] as const;
export type ProposalAnswer = (typeof PROPOSAL_ANSWERS)[number];
