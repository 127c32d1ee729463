import { type Caller, presentedKey } from "../../accounts/admission/caller.ts";
import { isPublishableKey, type PageTerms } from "../../accounts/keys.ts";
import {
  apiKeyRequired,
  badParameter,
  decideBodyTooLarge,
  missingParameter,
  noSuchPolicy,
  originNotAllowed,
  policyNotAllowed,
  publishableKeyElsewhere,
} from "../../base/refusals.ts";
import { MAILBOX_RULES } from "../../core/evidence/alias.ts";
import { component, Type } from "../../core/json-schema.ts";
import { policyFor, type PolicyQuestion, QUESTIONS } from "../../core/policy/default-policy.ts";
import { isReservedName } from "../../core/reserved-name.ts";
import type { CallerFact } from "../../core/policy/policy.ts";
import type { DecideOne, DecideRequest } from "../../gate/decide-one.ts";
import type { ProofOffer } from "../../gate/proof/proof.ts";
import {
  EXAMPLE_RESULT,
  type Field,
  json,
  type Operation,
  parametersOf,
  readFields,
} from "../operation.ts";
import { isSeveral, type Params } from "../params.ts";
import { type ApiRequest, JSON_TYPE, type Route } from "../route.ts";

/** POST /api/decide: accept, challenge, review or reject a sign-up, by the deadline; one unit. */
export function decideRoute(decideOne: DecideOne): Route {
  return {
    family: "decide",
    methods: ["POST"],
    body: "params",
    parameters: parametersOf(DECIDE),
    charges: "units",
    forPublishableKeys: true,
    deadlineMs(params, credentials) {
      const presented = presentedKey(credentials);
      const isPage = presented.kind === "key" && isPublishableKey(presented.key);
      const deadlineMs = deadline.read(params.value("deadline_ms") ?? undefined, "deadline_ms");
      return isPage ? pageDeadline(deadlineMs) : deadlineMs;
    },
    isSingle: () => true,
    async handle({ path, params, admitted, waitedMs, source }) {
      checkOrigin(admitted.caller, source);
      checkAsker(admitted.caller, params);
      const text = path.join("/") || (params.entry("email", "address") ?? "");
      if (text === "") throw missingParameter("email");
      const isOne = path.length > 0 || params.count("email") === 1;
      if (!isOne || isSeveral(text)) throw badParameter("email", "one address");
      const proof = readProof(params, admitted.caller);
      const request = readDecide(params, { text, waitedMs, proof }, admitted.caller.page);
      const { body, paidBy } = await decideOne(admitted, request);
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

/** Only a secret key may ask about messages; who is not known in time is answered by the built-in policy. */
function checkAsker({ isUnidentified, isPublishable, keyId }: Caller, params: Params): void {
  const asked = question.read(params.value("for") ?? undefined, "for");
  if (asked === "signup" || isUnidentified === true) return;
  if (isPublishable === true) throw publishableKeyElsewhere();
  if (keyId === undefined) throw apiKeyRequired();
}

/** What a decision is asked with. Throws the `Refusal` of a value out of bounds. */
function readDecide(
  params: Params,
  { text, waitedMs, proof }: Pick<DecideRequest, "text" | "waitedMs" | "proof">,
  page?: PageTerms,
): DecideRequest {
  if (page === undefined) {
    const read = readFields(FIELDS, params);
    return {
      text,
      waitedMs,
      proof,
      question: read.for,
      policy: read.policy ?? policyFor(read.for),
      deadlineMs: read.deadline_ms,
      language: read.language,
      form: read.form,
      facts: read.facts,
      wantsToken: read.token,
    };
  }
  // What a page must not choose is its key's; its facts are not read.
  const { policy = page.policy, language, deadline_ms } = readFields(PAGE_FIELDS, params);
  if (policy !== page.policy) throw policyNotAllowed();
  return {
    text,
    waitedMs,
    language,
    policy: page.policy,
    deadlineMs: pageDeadline(deadline_ms),
    form: page.form,
    facts: NO_FACTS,
    wantsToken: true,
    answersAlways: true,
  };
}

/** Of a secret key alone. A browser that knows nothing of proofs leaves the field of the form empty. */
function readProof(params: Params, caller: Caller): ProofOffer | undefined {
  const { page, keyId, isUnidentified = false } = caller;
  if (page !== undefined || (keyId === undefined && !isUnidentified)) return undefined;
  if ((params.value("evt") ?? "") === "") return undefined;
  const { evt = "", nonce, origin } = readFields(PROOF, params);
  if (nonce === undefined) throw missingParameter("nonce");
  if (origin === undefined) throw missingParameter("origin");
  return { evt, nonce, origin };
}

const DEADLINE_MS = { least: 50, page: 300, standard: 1_500, most: 5_000 };
const LANGUAGE_MAX = 35;
const FORM_MAX = 64;
const FACTS_MAX = 16;
const FACT_TEXT_MAX = 128;

/** Shorter deadlines would let a page ask before anybody knows whose key it is. */
const pageDeadline = (deadlineMs: number): number => Math.max(DEADLINE_MS.page, deadlineMs);

/** Text; absent, null and "" are the same, because clients write either. */
function given(value: unknown, name: string): string | undefined {
  if (value !== undefined && typeof value !== "string") throw badParameter(name, "text");
  return value === "" ? undefined : value;
}

/** Milliseconds until the answer must be sent. */
const deadline: Field<number> = {
  schema: Type.Optional(
    Type.Integer({
      minimum: DEADLINE_MS.least,
      maximum: DEADLINE_MS.most,
      default: DEADLINE_MS.standard,
      description: "The answer is sent by then, also when DNS does not answer.",
    }),
  ),
  read(value, name) {
    if (value === undefined || value === "") return DEADLINE_MS.standard;
    const { least, most } = DEADLINE_MS;
    const isText = typeof value === "string" && /^\d{1,5}$/.test(value.trim());
    const number = isText ? Number(value) : value;
    const isFine = typeof number === "number" && Number.isInteger(number);
    if (!isFine || number < least || number > most) {
      throw badParameter(name, `a whole number from ${String(least)} to ${String(most)}`);
    }
    return number;
  },
};

const policyName: Field<string | undefined> = {
  schema: Type.Optional(
    Type.String({
      description: "A policy's name; absent: `default`, or `send` with `for`: `send`.",
    }),
  ),
  read: given,
};

const question: Field<PolicyQuestion> = {
  schema: Type.Optional(
    Type.Enum(QUESTIONS, {
      default: "signup",
      description: "What is asked: may this person sign up, or may a message be sent there now.",
    }),
  ),
  read(value, name) {
    const word = given(value, name) ?? "signup";
    const known = QUESTIONS.find((one) => one === word);
    if (known === undefined) throw badParameter(name, `one of ${QUESTIONS.join(", ")}`);
    return known;
  },
};

/** A BCP 47 tag (RFC 5646); anything else is English. */
const language: Field<string> = {
  schema: Type.Optional(Type.String({ default: "en", description: "BCP 47 tag: of `message`." })),
  read(value, name) {
    const tag = given(value, name)?.trim().toLowerCase() ?? "en";
    const isTag = tag.length <= LANGUAGE_MAX && /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/.test(tag);
    return isTag ? tag : "en";
  },
};

/** What no table and no log line should hold. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const form: Field<string | undefined> = {
  schema: Type.Optional(
    Type.String({ maxLength: FORM_MAX, description: "Label for counts and the token." }),
  ),
  read(value, name) {
    const label = given(value, name)?.trim() ?? "";
    if (label.length > FORM_MAX || CONTROL.test(label) || isReservedName(label)) {
      const most = String(FORM_MAX);
      throw badParameter(name, `one line of at most ${most} characters, and no reserved name`);
    }
    return label === "" ? undefined : label;
  },
};

const token: Field<boolean> = {
  schema: Type.Optional(Type.Boolean({ description: "Send a signed token along." })),
  read: (value) =>
    value === true || value === 1 || (typeof value === "string" && /^(?:true|1)$/i.test(value)),
};

const textUpTo = (maxLength: number, description: string): Field<string | undefined> => ({
  schema: Type.Optional(Type.String({ maxLength, description })),
  read(value, name) {
    const text = given(value, name);
    if (text === undefined || text.length <= maxLength) return text;
    throw badParameter(name, `text of at most ${String(maxLength)} characters`);
  },
});

const EVT_MAX = 8_192;
const BOUND_MAX = 512;

const NO_FACTS: ReadonlyMap<string, CallerFact> = new Map();
const FACT_NAME = /^[a-z_]{1,32}$/;

/** An object of JSON, or its JSON as the value of a form. */
const facts: Field<ReadonlyMap<string, CallerFact>> = {
  schema: Type.Optional(
    Type.Unsafe({
      type: "object",
      additionalProperties: true,
      maxProperties: FACTS_MAX,
      description:
        "Your own facts, text, numbers and booleans: `caller.NAME` in policies. Never stored.",
    }),
  ),
  read(value) {
    if (value === undefined || value === "") return NO_FACTS;
    const read = typeof value === "string" ? parsed(value) : value;
    if (typeof read !== "object" || read === null || Array.isArray(read)) throw badFacts();
    const entries: readonly (readonly [string, unknown])[] = Object.entries(read);
    if (entries.length > FACTS_MAX) throw badFacts();
    return new Map(entries.map(([name, fact]) => [name, checkedFact(name, fact)]));
  },
};

function checkedFact(name: string, fact: unknown): CallerFact {
  if (!FACT_NAME.test(name) || isReservedName(name)) throw badFacts();
  if (typeof fact === "boolean" || (typeof fact === "number" && Number.isFinite(fact))) return fact;
  if (typeof fact === "string" && fact.length <= FACT_TEXT_MAX) return fact;
  throw badFacts();
}

const badFacts = (): Error =>
  badParameter(
    "facts",
    `an object of at most ${String(FACTS_MAX)} facts: names of 1 to 32 characters a to z and _, ` +
      `values that are text of at most ${String(FACT_TEXT_MAX)} characters, numbers or booleans`,
  );

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const PAGE_FIELDS = { policy: policyName, language, deadline_ms: deadline };
const FIELDS = { ...PAGE_FIELDS, for: question, form, facts, token };
const PROOF = {
  evt: textUpTo(
    EVT_MAX,
    "A browser's proof of the mailbox: docs/guides/proof.md. From a secret key.",
  ),
  nonce: textUpTo(BOUND_MAX, "With `evt`: the nonce of your session."),
  origin: textUpTo(BOUND_MAX, "With `evt`: the origin of your page."),
};

const EXAMPLE = {
  decision: "challenge",
  reason: "typo",
  message: "Did you mean jo@gmail.com?",
  did_you_mean: "jo@gmail.com",
  complete: true,
  policy: { name: "default", version: 1 },
  mailbox: { id: "m_7Q2KUV4DMDYQMZX4PV3R6TT3WE", rules: MAILBOX_RULES },
  result: {
    ...EXAMPLE_RESULT,
    domain: "gmaik.com",
    signals: ["typo_domain"],
    did_you_mean: "jo@gmail.com",
    domain_info: { tld: "com", is_subdomain: false, parent_domain: null },
    mx_info: ["mail.gmaik.com"],
    alias: false,
  },
};

export const DECIDE: Operation = {
  id: "decideSignUp",
  at: "POST /api/decide",
  summary: "Decide on a sign-up, or on a message",
  about:
    "Accept, challenge, review or reject, by your policy, in time; one unit. Key, rate, quota and credits are " +
    "those of a single check. A publishable key works from its origins and gets neither `result` nor `mailbox`. " +
    "With `for`: `send`, from a secret key: may a confirmation, code or link be sent there now.",
  tag: "gate",
  body: {
    email: { schema: Type.String({ minLength: 1, description: "As the person typed it." }) },
    ...FIELDS,
    ...PROOF,
  },
  bodyExample: { email: "jo@gmaik.com" },
  answers: json("The decision.", component("Decision"), EXAMPLE),
  refusals: {
    400: ["No entry, or a parameter out of bounds.", missingParameter("email")],
    403: ["The account is disabled, or the origin not allowed.", originNotAllowed()],
    404: ["No such policy.", noSuchPolicy()],
    413: ["The body is over 1,048,576 octets.", decideBodyTooLarge()],
  },
};
