import {
  decideBodyTooLarge,
  missingParameter,
  noSuchPolicy,
  originNotAllowed,
} from "../../../base/refusals.ts";
import { Type } from "../../../core/json-schema.ts";
import { DECISIONS } from "../../../core/policy/policy.ts";
import { apiError, COMMON_ERRORS, jsonResponse, type Paths } from "../../openapi.ts";
import { component } from "../../schemas.ts";
import { DEADLINE_MS, FACTS_MAX, FORM_MAX } from "./decide-parameters.ts";

const { least, standard, most } = DEADLINE_MS;

const Fields = Type.Object({
  email: Type.String({ minLength: 1, description: "As the person typed it." }),
  policy: Type.Optional(Type.String({ default: "default", description: "A policy's name." })),
  deadline_ms: Type.Optional(
    Type.Integer({
      minimum: least,
      maximum: most,
      default: standard,
      description: "The answer is sent by then, also when DNS does not answer.",
    }),
  ),
  language: Type.Optional(Type.String({ default: "en", description: "BCP 47 tag: of `message`." })),
  form: Type.Optional(
    Type.String({ maxLength: FORM_MAX, description: "Label for counts and the token." }),
  ),
  facts: Type.Optional(
    Type.Record(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      maxProperties: FACTS_MAX,
      description: "Your own facts: `caller.NAME` in policies. Never stored.",
    }),
  ),
  token: Type.Optional(Type.Boolean({ description: "Send a signed token along." })),
});

const Decided = Type.Object({
  decision: Type.Union(DECISIONS.map((word) => Type.Literal(word))),
  reason: Type.String(),
  message: Type.Optional(
    Type.String({ description: "For the person at the form; absent for `accept`." }),
  ),
  did_you_mean: Type.Optional(Type.String()),
  complete: Type.Boolean({ description: "False: DNS did not answer in time." }),
  policy: Type.Object({ name: Type.String(), version: Type.Integer({ minimum: 1 }) }),
  mailbox: Type.Optional(
    Type.Object({
      id: Type.String({ description: "The same for all spellings of one mailbox." }),
      seen: Type.Optional(Type.Integer({ description: "Spellings of it in 7 days." })),
    }),
  ),
  result: Type.Optional(component("Result")),
  token: Type.Optional(Type.String({ description: "A compact JWS: see docs/tokens.md." })),
});

const EXAMPLE = {
  decision: "challenge",
  reason: "typo",
  message: "Did you mean jo@gmail.com?",
  did_you_mean: "jo@gmail.com",
  complete: true,
  policy: { name: "default", version: 1 },
  mailbox: { id: "m_7Q2KUV4DMDYQMZX4PV3R6TT3WE" },
  result: {
    format: true,
    domain: "gmaik.com",
    disposable: false,
    dns: true,
    confidence: 0,
    whitelist: false,
    signals: ["typo_domain"],
    did_you_mean: "jo@gmail.com",
    domain_info: { tld: "com", is_subdomain: false, parent_domain: null },
    mx_info: ["mail.gmaik.com"],
    role: false,
    free: false,
    alias: false,
  },
};

export const decideDocumentation: Paths = {
  "/api/decide": {
    post: {
      operationId: "decideSignUp",
      summary: "Decide on a sign-up",
      description:
        "Accept, challenge, review or reject, by your policy, in time; one unit. Key, rate, quota and credits are " +
        "those of a single check. A publishable key works from its origins and gets neither `result` nor `mailbox`.",
      tags: ["checks"],
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: Fields, example: { email: "jo@gmaik.com" } },
          "application/x-www-form-urlencoded": { schema: Fields },
        },
      },
      responses: {
        200: jsonResponse("The decision.", Decided, { typo: { value: EXAMPLE } }),
        ...COMMON_ERRORS,
        400: apiError("No entry, or a parameter out of bounds.", missingParameter("email")),
        403: apiError("The account is disabled, or the origin not allowed.", originNotAllowed()),
        404: apiError("No such policy.", noSuchPolicy()),
        413: apiError("The body is over 1,048,576 octets.", decideBodyTooLarge()),
      },
    },
  },
};
