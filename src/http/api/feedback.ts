import { FEEDBACK_OUTCOMES } from "../../core/policy/outcomes.ts";
import { badParameter, missingParameter } from "../../base/refusals.ts";
import { QUESTIONS } from "../../core/policy/default-policy.ts";
import { type Decision, DECISIONS } from "../../core/policy/policy.ts";
import { Type } from "../../core/json-schema.ts";
import { trimEntry } from "../../core/address/address.ts";
import { type DecisionLog, LOG_PAGE_MAX, type SoughtDecisions } from "../../gate/decision-log.ts";
import type { Feedback, NewFeedback } from "../../gate/feedback.ts";
import { DecisionPage, FEEDBACK_NOTE_MAX } from "../../gate/gate-shapes.ts";
import { json, optionalText } from "../operation.ts";
import type { Route } from "../route.ts";
import { accountOperation, accountRoute, pageFields, readPage } from "./account-route.ts";

/** POST /api/feedback: what became of a mailbox. */
export const feedbackRoute = (feedback: Pick<Feedback, "record">): Route =>
  accountRoute([FEEDBACK], async ({ params }, accountId) => {
    const given = readFeedback((name) => {
      const text = params.given(name);
      return name === "email" && text !== undefined ? params.entry(name, "address") : text;
    });
    await feedback.record(accountId, given);
    return { recorded: true };
  });

export const FEEDBACK = accountOperation({
  id: "giveFeedback",
  at: "POST /api/feedback",
  summary: "Say what became of a sign-up or message",
  about:
    "Send `email` or `mailbox`. It becomes facts of your policies, such as `mailbox_abused` and `mailbox_bounced`; " +
    "nothing is denied by itself.",
  body: {
    email: optionalText("As the person signed up."),
    mailbox: optionalText("`mailbox.id` of a decision."),
    outcome: { schema: Type.Enum(FEEDBACK_OUTCOMES) },
    note: optionalText("For people.", { maxLength: FEEDBACK_NOTE_MAX }),
  },
  bodyExample: { email: "jo@new.example", outcome: "abuse", note: "spam in the forum" },
  answers: json("Stored.", Type.Object({ recorded: Type.True() }), { recorded: true }),
  refusals: { 400: ["A field is missing or wrong.", missingParameter("outcome")] },
});

const MAILBOX_ID = /^m_[A-Z2-7]{26}$/;

/** By the fields of a request, which give undefined for what is absent. Throws the `Refusal` of a wrong one. */
export function readFeedback(field: (name: string) => string | undefined): NewFeedback {
  const [email, mailbox, note = ""] = [field("email"), field("mailbox"), field("note")];
  const about = trimEntry(email ?? "");
  if (about === "" && mailbox === undefined) throw missingParameter("email");
  if (about !== "" && mailbox !== undefined) {
    throw badParameter("mailbox", "absent when email is there: send one of them");
  }
  if (mailbox !== undefined && !MAILBOX_ID.test(mailbox)) {
    throw badParameter("mailbox", '"m_" and 26 characters, as mailbox.id of a decision');
  }
  const word = field("outcome");
  if (word === undefined) throw missingParameter("outcome");
  const outcome = FEEDBACK_OUTCOMES.find((known) => known === word);
  if (outcome === undefined) {
    throw badParameter("outcome", `one of ${FEEDBACK_OUTCOMES.join(", ")}`);
  }
  if (Array.from(note).length > FEEDBACK_NOTE_MAX) {
    throw badParameter("note", `text of at most ${String(FEEDBACK_NOTE_MAX)} characters`);
  }
  return { about: mailbox === undefined ? { email: about } : { mailbox }, outcome, note };
}

/** GET /api/decisions: the account's decision log, newest first. */
export const decisionsRoute = (log: Pick<DecisionLog, "page" | "groups">): Route =>
  accountRoute([DECISION_LOG], async ({ params }, accountId) => {
    const page = await log.page(
      accountId,
      readSought((name) => params.words(name)),
    );
    return { ...page, groups: params.flag("groups") ? await log.groups(accountId) : undefined };
  });

export const DECISION_LOG = accountOperation({
  id: "listDecisions",
  at: "GET /api/decisions",
  summary: "Read the decision log",
  about:
    "The last 10,000 decisions of 7 days, without addresses, once the log is on: `gatepost account log ACCOUNT on`. " +
    "With `decision=review` it is a review queue.",
  query: {
    decision: optionalText(`One of ${DECISIONS.join(", ")}.`, { example: "review" }),
    reason: optionalText("The rule's reason.", { example: "burst" }),
    domain: optionalText("The registrable domain."),
    mailbox: optionalText("A `mailbox.id`."),
    form: optionalText("The caller's label."),
    key: optionalText("Id of the API key, or `hook:ID`."),
    for: optionalText(`What was asked: ${QUESTIONS.join(", ")}.`),
    source: optionalText("`NAME:ID` of a key of `count_by`, as `sources` has it.", {
      example: "ip:7Q2KUV4D",
    }),
    shape: optionalText("How the name is made, as `shape` has it."),
    groups: optionalText("`1`: what the last day's decisions have in common, too."),
    ...pageFields("Decisions", LOG_PAGE_MAX),
  },
  answers: json("One page.", DecisionPage, { decisions: [], next: null }),
  refusals: { 400: ["A parameter is wrong.", badDecision()] },
});

const SOUGHT_NAMES = [
  "reason",
  "domain",
  "mailbox",
  "form",
  "key",
  "for",
  "source",
  "shape",
] as const;
const SOUGHT_MAX = 255;

function badDecision(): Error & ReturnType<typeof badParameter> {
  return badParameter("decision", `one of ${DECISIONS.join(", ")}`);
}

/** What is sought in the log, by the fields of a query. Throws the `Refusal` of a wrong one. */
export function readSought(field: (name: string) => string | undefined): SoughtDecisions {
  const given = (name: string): string | undefined => {
    const value = field(name);
    if (value !== undefined && (value.length > SOUGHT_MAX || value.includes("\0"))) {
      throw badParameter(name, `text of at most ${String(SOUGHT_MAX)} characters`);
    }
    return value === "" ? undefined : value;
  };
  const word = given("decision");
  const decision = DECISIONS.find((known): known is Decision => known === word);
  if (word !== undefined && decision === undefined) throw badDecision();
  const source = given("source");
  if (source !== undefined && !/^[a-z]{1,16}:[A-Z2-7]{8}$/.test(source)) {
    throw badParameter("source", "NAME:ID, as a decision's sources have them");
  }
  const others = Object.fromEntries(SOUGHT_NAMES.map((name) => [name, given(name)]));
  return { ...others, decision, ...readPage(given, /^\d{14}[0-9a-f]{10}$/, LOG_PAGE_MAX) };
}
