import { component, type Described, oneOf, orNull, Type } from "../core/json-schema.ts";
import { QUESTIONS } from "../core/policy/default-policy.ts";
import { type Decision, DECISIONS, VERIFIED } from "../core/policy/policy.ts";

/** What is answered about policies, decisions, hooks and feedback: pages import this, so it imports no store. */

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const time = Type.String({ format: "date-time" });
const version = Type.Integer({ minimum: 1 });

/** Keys in the order of the contract. `result` and `token` are written behind the others. */
export const DecisionAnswer = Type.Object(
  {
    decision: oneOf(DECISIONS, "What the policy says."),
    reason: Type.String({ description: "The rule's." }),
    message: Type.Optional(
      Type.String({ description: "For the person at the form; absent for `accept`." }),
    ),
    retry_after: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "With `too_often` and `many`: seconds until it is no longer.",
      }),
    ),
    did_you_mean: Type.Optional(text),
    complete: Type.Boolean({ description: "False: DNS did not answer in time." }),
    verified: Type.Optional(
      oneOf(VERIFIED, "Where `evt` was sent: whether it proves that the person owns the mailbox."),
    ),
    private_address: Type.Optional(
      Type.Boolean({ description: "The proof says that the address hides another one." }),
    ),
    policy: Type.Object({ name: text, version }),
    mailbox: Type.Optional(
      Type.Object({
        id: Type.String({ description: "The same for all spellings of one mailbox." }),
        rules: Type.Integer({ description: "By which alias rules the id was made." }),
        seen: Type.Optional(Type.Integer({ description: "Spellings of it in 7 days." })),
      }),
    ),
    counts: Type.Optional(
      Type.Record(Type.Object({ "10m": count, day: count, "30d": count }), {
        description: "With `count_by`: mailboxes before this one by name, and `net` of an `ip`.",
      }),
    ),
    result: Type.Optional(component("Result")),
    token: Type.Optional(Type.String({ description: "A compact JWS: see docs/tokens.md." })),
  },
  { description: "What the policy says of one sign-up or message." },
);
export type DecisionAnswer = Described<typeof DecisionAnswer>;

export interface PolicyJson {
  readonly name: string;
  readonly built_in: boolean;
  readonly live: number;
  readonly shadow: number | null;
  readonly author: string | null;
  readonly created_at: string | null;
}

export interface Pair {
  readonly live: Decision;
  readonly shadow: Decision;
  readonly count: number;
}

export const LoggedDecision = Type.Object({
  id: Type.String({ description: "Grows with time; goes into `after`." }),
  time,
  decision: oneOf(DECISIONS, "What the policy said."),
  reason: text,
  rule: orNull(Type.Integer({ minimum: 0 }), "Counts from 0; null: `else` decided."),
  policy: Type.Object({ name: text, version }),
  signals: Type.Array(text),
  registrable_domain: orNull(text, "Null: the entry has none."),
  mailbox: orNull(Type.Object({ id: text }), "Null: the entry is no address."),
  form: orNull(text),
  key: orNull(text, "Id of the API key, or `hook:ID`."),
  hook: orNull(text, "Id of the hook that asked."),
  subject: orNull(text, "The identity system's own id of the user, where the hook named it."),
  complete: Type.Boolean({ description: "False: DNS did not answer in time." }),
  for: oneOf(QUESTIONS, "What was asked."),
  sources: Type.Array(
    Type.Object({
      name: text,
      id: Type.String({ description: "Eight characters: the same for the same value." }),
    }),
    { description: "The keys of `count_by`, and `net` of an `ip`." },
  ),
  shape: orNull(text, "How the name is made, at large and free providers."),
});
export type LoggedDecision = Described<typeof LoggedDecision>;

const BY_DECISION = { accept: count, challenge: count, review: count, reject: count };
const DecisionGroup = Type.Object({
  value: text,
  count,
  mailboxes: Type.Integer({ minimum: 0, description: "How many it has." }),
  decided: Type.Object(BY_DECISION),
  feedback: Type.Object(
    { abuse: count, bounce: count, complaint: count, fine: count },
    { description: "Mailboxes by what was said of them last." },
  ),
  provider: Type.Boolean({ description: "Its mailboxes are at a large or free provider." }),
});
export type DecisionGroup = Described<typeof DecisionGroup>;
const Groups = Type.Array(DecisionGroup);

export const DecisionGroups = Type.Object(
  {
    total: count,
    stand_out: Type.Object(
      { groups: count, decisions: count },
      { description: "Groups of 20 and more that are no provider's or shape's." },
    ),
    domains: Groups,
    mailboxes: Groups,
    sources: Groups,
    shapes: Groups,
  },
  { description: "What decisions of the last 24 hours have in common, largest first." },
);
export type DecisionGroups = Described<typeof DecisionGroups>;

export const DecisionPage = Type.Object({
  decisions: Type.Array(LoggedDecision, { description: "Newest first." }),
  next: orNull(text, "For `after`; null: there are no more."),
  groups: Type.Optional(DecisionGroups),
});
export type DecisionPage = Described<typeof DecisionPage>;

export const FEEDBACK_NOTE_MAX = 1_000;
