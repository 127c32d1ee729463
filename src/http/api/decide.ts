import type { Admission } from "../../accounts/admission/admission.ts";
import { type Caller, presentedKey } from "../../accounts/admission/caller.ts";
import { isPublishableKey } from "../../accounts/key-text.ts";
import {
  apiKeyRequired,
  badParameter,
  decideBodyTooLarge,
  noSuchPolicy,
  originNotAllowed,
  policyNotAllowed,
  publishableKeyElsewhere,
  type Refusal,
} from "../../base/refusals.ts";
import { MAILBOX_RULES } from "../../core/evidence/alias.ts";
import { jsonIn } from "../../core/json.ts";
import { when } from "../../core/mail/lookup.ts";
import { component, Type } from "../../core/json-schema.ts";
import { policyFor, type PolicyQuestion, QUESTIONS } from "../../core/policy/default-policy.ts";
import { wantedLanguage } from "../../core/policy/messages.ts";
import { isReservedName } from "../../core/reserved-name.ts";
import { NET } from "../../core/policy/policy.ts";
import { IP, type SourceKey, sourceKeys } from "../../gate/traffic-marks.ts";
import type { CallerFact } from "../../core/policy/policy.ts";
import type { DecideOne, DecideRequest } from "../../gate/decide-one.ts";
import {
  exampleAddress,
  type Field,
  json,
  type Operation,
  parametersOf,
  readFields,
} from "../operation.ts";
import { NOTICE } from "../answer.ts";
import { isTooComplex } from "../decode.ts";
import { givenText, Params } from "../params.ts";
import { type ApiRequest, JSON_TYPE, type Route } from "../route.ts";

/** POST /api/decide: accept, challenge, review or reject a sign-up or a message, by the deadline; one unit. */
export function decideRoute(decideOne: DecideOne, admission: Pick<Admission, "uncharged">): Route {
  return {
    family: "decide",
    methods: ["POST"],
    body: "params",
    parameters: PARAMETERS,
    charges: "units",
    forPublishableKeys: true,
    before: {
      maxBytes: BODY_MAX_BYTES,
      unread(refusal) {
        if (isTooComplex(refusal)) return NOTHING_READ;
        return refusal.status === 413 ? decideBodyTooLarge() : refusal;
      },
      terms(params, _, credentials) {
        const presented = presentedKey(credentials);
        const isPage = presented.kind === "key" && isPublishableKey(presented.key);
        const deadlineMs = deadline.read(params.value("deadline_ms") ?? undefined, "deadline_ms");
        return { deadlineMs: isPage ? pageDeadline(deadlineMs) : deadlineMs };
      },
    },
    admits: (admitted) => admission.uncharged(admitted),
    isSingle: () => true,
    handle({ path, params, admitted, waitedMs, source }) {
      checkOrigin(admitted.caller, source);
      checkAsker(admitted.caller, params);
      // Callers let people in on an error: what stands in the field is no reason for one.
      const text = path.join("/") || params.loneEntry("email", "address");
      const proof = readProof(params, admitted.caller);
      const request = readDecide(params, { text, waitedMs, proof }, admitted.caller);
      return when(decideOne(admitted, request), ({ body, paidBy, spent }) => {
        const notices = [...noticesOf(spent), ...request.ignored];
        const headers = notices.length === 0 ? undefined : { [NOTICE]: notices.join(" ") };
        return { type: JSON_TYPE, body: body(), paidBy, entry: text, ...(headers && { headers }) };
      });
    },
  };
}

function noticesOf(spent: Refusal | undefined): readonly string[] {
  if (spent === undefined) return [];
  const { message, notice } = spent;
  return [message, ...(notice === undefined ? [] : [notice]), "Decided without DNS, uncharged."];
}

/** Scheme, host and port of the page, exactly. A secret key and no key at all work from everywhere. */
function checkOrigin({ origins }: Caller, { headers }: ApiRequest["source"]): void {
  if (origins === undefined) return;
  const { origin } = headers;
  if (origin === undefined || !origins.includes(origin)) throw originNotAllowed();
}

/** Only a secret key may ask about messages; who is not known in time is answered by the built-in policy. */
function checkAsker({ isUnidentified, isPublishable, keyId }: Caller, params: Params): void {
  const purpose = question.read(params.value("for") ?? undefined, "for");
  if (purpose === "signup" || isUnidentified === true) return;
  if (isPublishable === true) throw publishableKeyElsewhere();
  if (keyId === undefined) throw apiKeyRequired();
}

/** What a decision is asked with. Throws the `Refusal` of what only a programmer can get wrong. */
function readDecide(
  params: Params,
  { text, waitedMs, proof }: Pick<DecideRequest, "text" | "waitedMs" | "proof">,
  { page, clientAddress }: Pick<Caller, "page" | "clientAddress">,
): DecideRequest & { readonly ignored: readonly string[] } {
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
      facts: new Map(read.facts.found),
      sources: read.count_by.found,
      ignored: [...read.facts.ignored, ...read.count_by.ignored],
      isConfirmed: read.confirmed,
      isKnown: read.known,
      wantsToken: read.token,
    };
  }
  // What a page must not choose is its key's; its facts are not read, nor that the person answered a question.
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
    sources: sourceKeys(IP, clientAddress) ?? [],
    ignored: [],
    wantsToken: true,
    answersAlways: true,
  };
}

/** Of a secret key alone. A browser that knows nothing of proofs leaves the field of the form empty. */
function readProof(params: Params, caller: Caller): DecideRequest["proof"] {
  const { page, keyId, isUnidentified = false } = caller;
  if (page !== undefined || (keyId === undefined && !isUnidentified)) return undefined;
  if ((params.value("evt") ?? "") === "") return undefined;
  const { evt, nonce, origin } = readFields(PROOF, params);
  return typeof evt === "string" && typeof nonce === "string" && typeof origin === "string"
    ? { evt, nonce, origin }
    : "no";
}

const DEADLINE_MS = { least: 50, page: 300, standard: 1_500, most: 5_000 };
const FORM_MAX = 64;
const FACTS_MAX = 16;
const FACT_TEXT_MAX = 128;

const DEADLINE_RULE = `a whole number from ${String(DEADLINE_MS.least)} to ${String(DEADLINE_MS.most)}`;

/** Shorter deadlines would let a page ask before anybody knows whose key it is. */
const pageDeadline = (deadlineMs: number): number => Math.max(DEADLINE_MS.page, deadlineMs);

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
      throw badParameter(name, DEADLINE_RULE);
    }
    return number;
  },
};

const policyName: Field<string | undefined> = {
  schema: Type.Optional(
    Type.String({
      description: "A policy's name; absent: `default`, or that of the question in `for`.",
    }),
  ),
  read: givenText,
};

const question: Field<PolicyQuestion> = {
  schema: Type.Optional(
    Type.Enum(QUESTIONS, {
      default: "signup",
      description:
        "What is asked: may this person sign up, may a message be sent there now, or may a member invite this address.",
    }),
  ),
  read(value, name) {
    if (value === undefined) return "signup";
    const word = givenText(value, name) ?? "signup";
    const known = QUESTIONS.find((one) => one === word);
    if (known === undefined) throw badParameter(name, `one of ${QUESTIONS.join(", ")}`);
    return known;
  },
};

/** A BCP 47 tag (RFC 5646) or a whole Accept-Language; anything else is English. */
const language: Field<string> = {
  schema: Type.Optional(
    Type.String({ default: "en", description: "Of `message`: a BCP 47 tag, or Accept-Language." }),
  ),
  read: (value) => (typeof value === "string" && wantedLanguage(value)) || "en",
};

const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const form: Field<string | undefined> = {
  schema: Type.Optional(
    Type.String({ maxLength: FORM_MAX, description: "Label for counts and the token." }),
  ),
  read(value, name) {
    const label = givenText(value, name)?.trim() ?? "";
    if (label === "") return undefined;
    if (label.length > FORM_MAX || CONTROL.test(label) || isReservedName(label)) {
      const most = String(FORM_MAX);
      throw badParameter(name, `one line of at most ${most} characters, and no reserved name`);
    }
    return label;
  },
};

const flag = (description: string): Field<boolean> => ({
  schema: Type.Optional(Type.Boolean({ description })),
  read: (value) =>
    value === true || value === 1 || (typeof value === "string" && /^(?:true|1|on)$/i.test(value)),
});

/** Undefined: nothing was sent; null: a visitor sent what can be no part of a proof. */
const proofText = (maxLength: number, description: string): Field<string | null | undefined> => ({
  schema: Type.Optional(Type.String({ maxLength, description })),
  read(value) {
    if (value === undefined || value === "") return undefined;
    return typeof value === "string" && value.length <= maxLength ? value : null;
  },
});

const EVT_MAX = 8_192;
const BOUND_MAX = 512;

interface ReadMembers<T> {
  readonly found: readonly T[];
  readonly ignored: readonly string[];
}

const NO_MEMBERS: ReadMembers<never> = { found: [], ignored: [] };

interface MemberTerms<T> {
  readonly description: string;
  readonly most: number;
  readonly isName: (name: string) => boolean;
  /** What the parameter must be. */
  readonly wanted: string;
  /** Undefined for a value that is ignored, and then said by `ignored`. */
  readonly read: (value: unknown, name: string) => readonly T[] | undefined;
  readonly ignored: (name: string) => string;
}

/** An object of JSON, or its JSON as the value of a form. Names are the programmer's, values the visitor's. */
const members = <T>(terms: MemberTerms<T>): Field<ReadMembers<T>> => ({
  schema: Type.Optional(
    Type.Unsafe({
      type: "object",
      additionalProperties: true,
      maxProperties: terms.most,
      description: terms.description,
    }),
  ),
  read(value, parameter) {
    if (value === undefined || value === "") return NO_MEMBERS;
    const entries = entriesOf(value, terms);
    if (entries === undefined) throw badParameter(parameter, terms.wanted);
    const found: T[] = [];
    const ignored: string[] = [];
    for (const [name, member] of entries) {
      const read = terms.read(member, name);
      if (read === undefined) ignored.push(terms.ignored(name));
      else found.push(...read);
    }
    return { found, ignored };
  },
});

const NO_FACTS: DecideRequest["facts"] = new Map();
const FACT_NAME = /^[a-z_]{1,32}$/;

const facts = members<readonly [string, CallerFact]>({
  description:
    "Your own facts, text, numbers and booleans: `caller.NAME` in policies. Never stored.",
  most: FACTS_MAX,
  isName: (name) => FACT_NAME.test(name),
  wanted:
    `an object of at most ${String(FACTS_MAX)} facts: names of 1 to 32 characters a to z and _, ` +
    "values that are text, numbers or booleans",
  read(fact, name) {
    if (typeof fact === "string") return [[name, fact.slice(0, FACT_TEXT_MAX)]];
    const isFact = typeof fact === "boolean" || Number.isFinite(fact);
    return isFact ? [[name, fact as CallerFact]] : undefined;
  },
  ignored: (name) => `Fact ${name} is no text, number or boolean.`,
});

const COUNTS_MAX = 3;
const COUNT_NAME = /^[a-z]{1,16}$/;
const COUNT_TEXT_MAX = 128;

/** What the application knows about who asks. The address is neither the programmer's nor the visitor's to choose. */
const countBy = members<SourceKey>({
  description:
    "What you know about who asks, `ip` or names of your own with texts: mailboxes are counted under each, by keyed hash.",
  most: COUNTS_MAX,
  isName: (name) => COUNT_NAME.test(name) && name !== NET,
  wanted: `an object of at most ${String(COUNTS_MAX)} names of 1 to 16 letters a to z, not ${NET}, with texts`,
  read(given, name) {
    const text = typeof given === "number" ? String(given) : given;
    if (typeof text !== "string" || text === "") return undefined;
    const keys = sourceKeys(name, text.slice(0, COUNT_TEXT_MAX));
    if (keys === undefined) throw badParameter(`count_by.${name}`, "an IPv4 or IPv6 address");
    return keys;
  },
  ignored: (name) => `count_by.${name} is no text.`,
});

/** Of an object of JSON, or of its JSON in a form; undefined for another value, too many or names that are none. */
function entriesOf(
  value: unknown,
  { most, isName }: Pick<MemberTerms<unknown>, "most" | "isName">,
): readonly (readonly [string, unknown])[] | undefined {
  const read = typeof value === "string" ? jsonIn(value) : value;
  if (typeof read !== "object" || read === null || Array.isArray(read)) return undefined;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(read);
  const isFine = entries.every(([name]) => isName(name) && !isReservedName(name));
  return isFine && entries.length <= most ? entries : undefined;
}

const PAGE_FIELDS = { policy: policyName, language, deadline_ms: deadline };
const FIELDS = {
  ...PAGE_FIELDS,
  for: question,
  form,
  facts,
  count_by: countBy,
  confirmed: flag("The person answered your question about the address, or passed your CAPTCHA."),
  known: flag("Of a message: this browser has signed in to the account. From a secret key."),
  token: flag("Send a signed token along."),
};
const PROOF = {
  evt: proofText(
    EVT_MAX,
    "A browser's proof of the mailbox: docs/guides/proof.md. From a secret key.",
  ),
  nonce: proofText(BOUND_MAX, "With `evt`: the nonce of your session."),
  origin: proofText(BOUND_MAX, "With `evt`: the origin of your page."),
};

const EXAMPLE = {
  decision: "challenge",
  reason: "typo",
  message: "Did you mean jo@gmail.com?",
  did_you_mean: "jo@gmail.com",
  complete: true,
  policy: { name: "default", version: 1 },
  mailbox: { id: "m_7Q2KUV4DMDYQMZX4PV3R6TT3WE", rules: MAILBOX_RULES },
  result: exampleAddress("gmaik.com", { signals: ["typo_domain"], did_you_mean: "jo@gmail.com" }),
};

export const DECIDE: Operation = {
  id: "decideSignUp",
  at: "POST /api/decide",
  summary: "Decide on a sign-up, or on a message",
  about:
    "Accept, challenge, review or reject, by your policy, in time; one unit. Key, rate, quota and credits are " +
    "those of a single check. A publishable key works from its origins and gets neither `result` nor `mailbox`. " +
    "With `for`: `send`, from a secret key: may a confirmation, code or link be sent there now; `invite`: may a member invite this address.",
  tag: "gate",
  body: {
    email: { schema: Type.String({ description: "As the person typed it." }) },
    ...FIELDS,
    ...PROOF,
  },
  bodyExample: { email: "jo@gmaik.com" },
  answers: json("The decision.", component("Decision"), EXAMPLE),
  refusals: {
    400: ["A parameter out of bounds.", badParameter("deadline_ms", DEADLINE_RULE)],
    403: ["The account is disabled, or the origin not allowed.", originNotAllowed()],
    404: ["No such policy.", noSuchPolicy()],
    413: ["The body is over 1,048,576 octets.", decideBodyTooLarge()],
  },
};

const PARAMETERS = parametersOf(DECIDE);

/** A body that a visitor blew up: it holds no address. */
const NOTHING_READ = new Params({ kind: "none" }, "", PARAMETERS);

const BODY_MAX_BYTES = 1_048_576;
