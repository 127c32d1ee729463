import { badParameter, apiKeyRequired, missingParameter, nulInText } from "../../base/refusals.ts";
import { type Decision, DECISIONS } from "../../core/policy/policy.ts";
import { Type } from "../../core/json-schema.ts";
import { trimEntry } from "../../core/address/address.ts";
import { type DecisionLog, LOG_PAGE_MAX, type SoughtDecisions } from "../../gate/decision-log.ts";
import type { Feedback, NewFeedback } from "../../gate/feedback.ts";
import { DecisionPage, FEEDBACK_NOTE_MAX, FEEDBACK_OUTCOMES } from "../../gate/gate-shapes.ts";
import { apiError, COMMON_ERRORS, KEY_NEEDED, jsonResponse, queryParameter } from "../openapi.ts";
import { type ApiRequest, JSON_TYPE, type Route } from "../route.ts";

/** The account of a secret key; nobody else may ask. */
function accountOf({ entrance: { caller } }: ApiRequest): string {
  if (caller.owner.kind !== "account" || caller.keyId === undefined) throw apiKeyRequired();
  return caller.owner.accountId;
}

const NO_KEY = apiError("No key, or one that is invalid or revoked.", apiKeyRequired());

/** POST /api/feedback: what became of a mailbox; one of the rate, no unit. */
export const feedbackRoute = (feedback: Pick<Feedback, "record">): Route => ({
  family: "feedback",
  methods: ["POST"],
  body: "params",
  parameters: new Set(["email", "mailbox", "outcome", "note"]),
  charges: "nothing",
  documentation: {
    "/api/feedback": {
      post: {
        operationId: "giveFeedback",
        summary: "Say what became of a sign-up",
        description:
          "Needs a secret key; counts against the rate and costs no unit. Send `email` or `mailbox`. It becomes the " +
          "facts `mailbox_abused` and `domain_abused` of your policies; nothing is denied by itself.",
        tags: ["checks"],
        security: KEY_NEEDED,
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: FeedbackFields, example: FEEDBACK_EXAMPLE },
            "application/x-www-form-urlencoded": { schema: FeedbackFields },
          },
        },
        responses: {
          200: jsonResponse("Stored.", Type.Object({ recorded: Type.Literal(true) }), {
            recorded: { value: { recorded: true } },
          }),
          ...COMMON_ERRORS,
          400: apiError("A field is missing or wrong.", missingParameter("outcome")),
          401: NO_KEY,
        },
      },
    },
  },
  async handle(request) {
    const accountId = accountOf(request);
    const { params } = request;
    const given = readFeedback((name) => {
      const text = params.given(name);
      return name === "email" && text !== undefined ? params.entry(name, "address") : text;
    });
    await feedback.record(accountId, given);
    return { type: JSON_TYPE, body: '{"recorded":true}' };
  },
});

const FeedbackFields = Type.Object({
  email: Type.Optional(Type.String({ description: "As the person signed up." })),
  mailbox: Type.Optional(Type.String({ description: "`mailbox.id` of a decision." })),
  outcome: Type.Enum(FEEDBACK_OUTCOMES),
  note: Type.Optional(Type.String({ maxLength: FEEDBACK_NOTE_MAX })),
});
const FEEDBACK_EXAMPLE = { email: "jo@new.example", outcome: "abuse", note: "spam in the forum" };

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
  if (note.includes("\0")) throw nulInText();
  return { about: mailbox === undefined ? { email: about } : { mailbox }, outcome, note };
}

/** GET /api/decisions: the account's decision log, newest first; one of the rate, no unit. */
export const decisionsRoute = (log: Pick<DecisionLog, "page">): Route => ({
  family: "decisions",
  methods: ["GET"],
  body: "params",
  parameters: new Set([...SOUGHT_NAMES, "decision", "after", "limit"]),
  charges: "nothing",
  documentation: {
    "/api/decisions": {
      get: {
        operationId: "listDecisions",
        summary: "Read the decision log",
        description:
          "Needs a secret key; counts against the rate and costs no unit. The last 10,000 decisions of 7 days, without " +
          "addresses, once the log is on: `gatepost account log ACCOUNT on`. With `decision=review` it is a review queue.",
        tags: ["checks"],
        security: KEY_NEEDED,
        parameters: [
          queryParameter("decision", `One of ${DECISIONS.join(", ")}.`, "review"),
          queryParameter("reason", "The rule's reason.", "burst"),
          queryParameter("domain", "The registrable domain."),
          queryParameter("mailbox", "A `mailbox.id`."),
          queryParameter("form", "The caller's label."),
          queryParameter("key", "Id of the API key, or `hook:ID`."),
          queryParameter("after", "`next` of the page before."),
          queryParameter("limit", "Decisions of a page, 1 to 100.", "100"),
        ],
        responses: {
          200: jsonResponse("One page.", DecisionPage, {
            empty: { value: { decisions: [], next: null } },
          }),
          ...COMMON_ERRORS,
          400: apiError("A parameter is wrong.", badDecision()),
          401: NO_KEY,
        },
      },
    },
  },
  async handle(request) {
    const accountId = accountOf(request);
    const sought = readSought((name) => request.params.words(name));
    return { type: JSON_TYPE, body: JSON.stringify(await log.page(accountId, sought)) };
  },
});

const SOUGHT_NAMES = ["reason", "domain", "mailbox", "form", "key"] as const;
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
  const [word, after, limit = String(LOG_PAGE_MAX)] = [
    given("decision"),
    given("after"),
    given("limit"),
  ];
  const decision = DECISIONS.find((known): known is Decision => known === word);
  if (word !== undefined && decision === undefined) throw badDecision();
  if (after !== undefined && !/^\d{14}[0-9a-f]{10}$/.test(after)) {
    throw badParameter("after", "the next of a page before");
  }
  const most = Number(limit);
  if (!/^\d{1,3}$/.test(limit) || most < 1 || most > LOG_PAGE_MAX) {
    throw badParameter("limit", `a whole number from 1 to ${String(LOG_PAGE_MAX)}`);
  }
  const others = Object.fromEntries(SOUGHT_NAMES.map((name) => [name, given(name)]));
  return { ...others, decision, after, limit: most };
}
