import { FEEDBACK_OUTCOMES } from "../core/policy/outcomes.ts";
import { HOOK_OUTCOMES, HOOK_SYSTEMS } from "../core/policy/outcomes.ts";
import { component, type Described, oneOf, orNull, Type } from "../core/json-schema.ts";
import { QUESTIONS } from "../core/policy/default-policy.ts";
import { DECISIONS, VERIFIED } from "../core/policy/policy.ts";

/** What is answered about policies, decisions, hooks and feedback: pages import this, so it imports no store. */

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const time = Type.String({ format: "date-time" });
const day = Type.String({ format: "date" });
const decision = oneOf(DECISIONS, "What the policy says.");
const version = Type.Integer({ minimum: 1 });

/** Keys in the order of the contract. `result` and `token` are written behind the others. */
export const DecisionAnswer = Type.Object(
  {
    decision,
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

const BY_DECISION = { accept: count, challenge: count, review: count, reject: count };

const POLICY = {
  name: text,
  built_in: Type.Boolean({ description: "The live version is the built-in one." }),
  live: version,
  shadow: orNull(version),
  author: orNull(text),
  created_at: orNull(time),
};

export const Policies = Type.Object({ policies: Type.Array(Type.Object(POLICY)) });
export type PolicyJson = Described<typeof Policies>["policies"][number];

export const PolicyPage = Type.Object({
  ...POLICY,
  version,
  document: Type.Unsafe<unknown>({ type: "object" }),
  rule_reasons: Type.Array(text, { description: "What each rule gives as its reason." }),
  mistakes: Type.Optional(
    Type.Array(text, {
      description: "What this version of the service does not take: it is ignored.",
    }),
  ),
  versions: Type.Array(
    Type.Object({
      version,
      state: oneOf(["live", "shadow", "old"], "What it does."),
      author: orNull(text),
      created_at: orNull(time),
    }),
  ),
});
export type PolicyPage = Described<typeof PolicyPage>;

export const SavedPolicy = Type.Object({
  name: text,
  version,
  pruned: Type.Optional(
    Type.Integer({ description: "Old versions that were deleted to make room; absent for none." }),
  ),
});
export type SavedPolicy = Described<typeof SavedPolicy>;

export const RuleCounts = Type.Object({
  counts: Type.Array(
    Type.Object({
      version,
      rule: orNull(count, "Counts from 0; null: no rule fits."),
      count,
    }),
  ),
});
export type RuleCounts = Described<typeof RuleCounts>;

export const FeedbackMark = Type.Object({
  mailbox: text,
  outcome: oneOf(FEEDBACK_OUTCOMES, "What was said of it last."),
});
export type FeedbackMark = Described<typeof FeedbackMark>;

const Pair = Type.Object({ live: decision, shadow: decision, count });
export type Pair = Described<typeof Pair>;

export const ShadowReport = Type.Object({
  live: version,
  shadow: orNull(version),
  days: Type.Array(Type.Object({ day, pairs: Type.Array(Pair) })),
  pairs: Type.Array(Pair),
  total: count,
  changed: count,
  domains: Type.Array(Type.Object({ day, domain: text, live: decision, shadow: decision, count })),
});
export type ShadowReport = Described<typeof ShadowReport>;

/** Far more messages than usual to mailboxes that the account never sent to. */
export const Wave = Type.Object({
  state: oneOf(["began", "ended"], "`began`: it lasts."),
  began_at: time,
  ended_at: orNull(time),
  messages: Type.Integer({ description: "To such mailboxes in the hour before it was noticed." }),
  usual: Type.Integer({ description: "The median hour of 14 days." }),
});
export type Wave = Described<typeof Wave>;

export const OutcomeReport = Type.Object({
  days: Type.Array(Type.Object({ day, ...BY_DECISION })),
  before: Type.Array(Type.Object({ day, ...BY_DECISION }), {
    description: "As many days before them; fewer when counts do not go back that far.",
  }),
  reasons: Type.Array(Type.Object({ decision, reason: text, count })),
  keys: Type.Array(Type.Object({ key_id: orNull(text), name: orNull(text), ...BY_DECISION })),
  forms: Type.Array(Type.Object({ form: orNull(text), ...BY_DECISION })),
  total: count,
});
export type OutcomeReport = Described<typeof OutcomeReport>;

const Call = Type.Object({
  at: time,
  outcome: oneOf(HOOK_OUTCOMES, "How the call ended."),
  why: text,
  duration_ms: count,
});

const HOOK = {
  id: text,
  system: oneOf(HOOK_SYSTEMS, "The identity system."),
  url: text,
  policy: text,
  challenge: oneOf(["accept", "reject"], "What `challenge` and `review` become."),
  created_at: time,
  calls: Type.Object({
    accepted: count,
    refused: count,
    failed_open: count,
    late: count,
    unread: count,
    unauthenticated: count,
  }),
  last_call: orNull(Call),
  last_failure: orNull(Call),
};

export const HooksPage = Type.Object({
  systems: Type.Array(Type.Object({ id: text, name: text, guide: text, deadline_ms: count })),
  hooks: Type.Array(Type.Object(HOOK)),
});
export type HooksPage = Described<typeof HooksPage>;
export type HookJson = HooksPage["hooks"][number];

export const NewHook = Type.Object({ ...HOOK, secret: orNull(text) });
export const HookSecret = Type.Object({ secret: text });
export const HookTest = Type.Object({ status: count, body: text });

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

const Groups = Type.Array(Type.Object({ value: text, count, decided: Type.Object(BY_DECISION) }));

export const DecisionGroups = Type.Object(
  { domains: Groups, mailboxes: Groups, sources: Groups, shapes: Groups },
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

/** What is kept of a person by place, found or deleted; the account that has the address; and what nobody can find. */
export const ForgetReport = Type.Object({
  found: Type.Record(count),
  account_id: orNull(text),
  elsewhere: Type.Array(text),
});
export type ForgetReport = Described<typeof ForgetReport>;
