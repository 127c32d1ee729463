import { presentedKey } from "../../accounts/admission/identify.ts";
import type { Caller } from "../../accounts/admission/caller.ts";
import { isPublishableKey, type PageTerms } from "../../accounts/keys.ts";
import {
  badParameter,
  decideBodyTooLarge,
  missingParameter,
  noSuchPolicy,
  originNotAllowed,
  policyNotAllowed,
} from "../../base/refusals.ts";
import { Type } from "../../core/json-schema.ts";
import { type CallerFact, DECISIONS } from "../../core/policy/policy.ts";
import type { DecideOne, DecideRequest } from "../../gate/decide-one.ts";
import { apiError, COMMON_ERRORS, jsonResponse, type Paths } from "../openapi.ts";
import type { Params } from "../params.ts";
import { type ApiRequest, JSON_TYPE, type Route } from "../route.ts";
import { component } from "../schemas.ts";

/** POST /api/decide: accept, challenge, review or reject a sign-up, by the deadline; one unit. */
export function decideRoute(decideOne: DecideOne): Route {
  return {
    family: "decide",
    methods: ["POST"],
    body: "params",
    parameters: new Set(Object.keys(Fields.properties)),
    charges: "units",
    forPublishableKeys: true,
    deadlineMs(params, credentials) {
      const presented = presentedKey(credentials);
      const isPage = presented.kind === "key" && isPublishableKey(presented.key);
      return isPage ? pageDeadlineOf(params) : deadlineOf(params);
    },
    documentation,
    isSingle: true,
    async handle({ path, params, entrance, waitedMs, source }) {
      checkOrigin(entrance.caller, source);
      const text = path.join("/") || (params.entry("email", "address") ?? "");
      if (text === "") throw missingParameter("email");
      const request = readDecide(params, { text, waitedMs }, entrance.caller.page);
      const { body, paidBy } = await decideOne(entrance, request);
      return { type: JSON_TYPE, body, paidBy, entry: text };
    },
  };
}

/** Scheme, host and port of the page, exactly. A secret key and no key at all work from everywhere. */
function checkOrigin({ origins }: Caller, { headers }: ApiRequest["source"]): void {
  if (origins === undefined) return;
  const { origin } = headers;
  if (origin === undefined || !origins.includes(origin)) throw originNotAllowed();
}

const DEADLINE_MS = { least: 50, page: 300, standard: 1_500, most: 5_000 };
const FORM_MAX = 64;
const FACTS_MAX = 16;
const FACT_TEXT_MAX = 128;

/** What no table and no log line should hold. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** What a decision is asked with. Throws the `Refusal` of a value out of bounds. */
function readDecide(
  params: Params,
  { text, waitedMs }: Pick<DecideRequest, "text" | "waitedMs">,
  page?: PageTerms,
): DecideRequest {
  const language = languageOf(params.given("language"));
  const policy = params.given("policy");
  if (page === undefined) {
    return {
      text,
      waitedMs,
      language,
      policy: policy ?? "default",
      deadlineMs: deadlineOf(params),
      form: formOf(params),
      facts: factsOf(params),
      wantsToken: isOn(params.value("token")),
    };
  }
  // What a page must not choose is its key's; its facts are not read.
  if ((policy ?? page.policy) !== page.policy) throw policyNotAllowed();
  return {
    text,
    waitedMs,
    language,
    policy: page.policy,
    deadlineMs: pageDeadlineOf(params),
    form: page.form,
    facts: NO_FACTS,
    wantsToken: true,
    answersAlways: true,
  };
}

/** Shorter deadlines would let a page ask before anybody knows whose key it is. */
const pageDeadlineOf = (params: Params): number => Math.max(DEADLINE_MS.page, deadlineOf(params));

const LANGUAGE_MAX = 35;

/** A BCP 47 tag (RFC 5646); anything else is English. */
function languageOf(text?: string): string {
  if (text === undefined) return "en";
  const tag = text.trim().toLowerCase();
  const isTag = tag.length <= LANGUAGE_MAX && /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/.test(tag);
  return isTag ? tag : "en";
}

/** Milliseconds until the answer must be sent. */
function deadlineOf(params: Params): number {
  const value = params.value("deadline_ms") ?? undefined;
  if (value === undefined || value === "") return DEADLINE_MS.standard;
  const { least, most } = DEADLINE_MS;
  const isText = typeof value === "string" && /^\d{1,5}$/.test(value.trim());
  const number = isText ? Number(value) : value;
  const isFine = typeof number === "number" && Number.isInteger(number);
  if (!isFine || number < least || number > most) {
    throw badParameter("deadline_ms", `a whole number from ${String(least)} to ${String(most)}`);
  }
  return number;
}

function formOf(params: Params): string | undefined {
  const form = params.given("form")?.trim();
  if (form === undefined || form === "") return undefined;
  if (form.length > FORM_MAX || CONTROL.test(form)) {
    throw badParameter("form", `one line of at most ${String(FORM_MAX)} characters`);
  }
  return form;
}

const isOn = (value: unknown): boolean =>
  value === true || value === 1 || (typeof value === "string" && /^(?:true|1)$/i.test(value));

const FACT_NAME = /^[a-z_]{1,32}$/;

const FACTS_RULE =
  `an object of at most ${String(FACTS_MAX)} facts: names of 1 to 32 characters a to z and _, ` +
  `values that are text of at most ${String(FACT_TEXT_MAX)} characters, numbers or booleans`;

const NO_FACTS: ReadonlyMap<string, CallerFact> = new Map();

/** An object of JSON, or its JSON as the value of a form. */
function factsOf(params: Params): ReadonlyMap<string, CallerFact> {
  const value = params.value("facts") ?? undefined;
  if (value === undefined || value === "") return NO_FACTS;
  const read = typeof value === "string" ? parsed(value) : value;
  if (typeof read !== "object" || read === null || Array.isArray(read)) throw badFacts();
  const entries: readonly (readonly [string, unknown])[] = Object.entries(read);
  if (entries.length > FACTS_MAX) throw badFacts();
  return new Map(entries.map(([name, fact]) => [name, checkedFact(name, fact)]));
}

function checkedFact(name: string, fact: unknown): CallerFact {
  if (!FACT_NAME.test(name)) throw badFacts();
  if (typeof fact === "boolean" || (typeof fact === "number" && Number.isFinite(fact))) return fact;
  if (typeof fact === "string" && fact.length <= FACT_TEXT_MAX) return fact;
  throw badFacts();
}

const badFacts = (): Error => badParameter("facts", FACTS_RULE);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const Fields = Type.Object({
  email: Type.String({ minLength: 1, description: "As the person typed it." }),
  policy: Type.Optional(Type.String({ default: "default", description: "A policy's name." })),
  deadline_ms: Type.Optional(
    Type.Integer({
      minimum: DEADLINE_MS.least,
      maximum: DEADLINE_MS.most,
      default: DEADLINE_MS.standard,
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

const documentation: Paths = {
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
