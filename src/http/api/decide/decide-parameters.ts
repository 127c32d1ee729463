import type { CallerFact } from "../../../core/policy/policy.ts";
import type { DecideRequest } from "../../../gate/decide-one.ts";
import type { PageTerms } from "../../../accounts/keys.ts";
import { badParameter, policyNotAllowed } from "../../../base/refusals.ts";
import type { Params } from "../../params.ts";

export const DECIDE_PARAMETERS: ReadonlySet<string> = new Set([
  "email",
  "policy",
  "deadline_ms",
  "language",
  "form",
  "facts",
  "token",
]);

export const DEADLINE_MS = { least: 50, page: 300, standard: 1_500, most: 5_000 };
export const FORM_MAX = 64;
export const FACTS_MAX = 16;
const FACT_TEXT_MAX = 128;

/** What no table and no log line should hold. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** What a decision is asked with. Throws the `Refusal` of a value out of bounds. */
export function readDecide(
  params: Params,
  { text, waitedMs }: Pick<DecideRequest, "text" | "waitedMs">,
  page?: PageTerms,
): DecideRequest {
  const language = languageOf(textOf(params, "language"));
  const policy = textOf(params, "policy");
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
    whenSpent: "decide_without_dns",
  };
}

/** Shorter deadlines would let a page ask before anybody knows whose key it is. */
export const pageDeadlineOf = (params: Params): number =>
  Math.max(DEADLINE_MS.page, deadlineOf(params));

/** Absent and null are the same: clients write either. */
function textOf(params: Params, name: string): string | undefined {
  const value = params.value(name) ?? undefined;
  if (value !== undefined && typeof value !== "string") throw badParameter(name, "text");
  return value === "" ? undefined : value;
}

const LANGUAGE_MAX = 35;

/** A BCP 47 tag (RFC 5646); anything else is English. */
export function languageOf(text?: string): string {
  if (text === undefined) return "en";
  const tag = text.trim().toLowerCase();
  const isTag = tag.length <= LANGUAGE_MAX && /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/.test(tag);
  return isTag ? tag : "en";
}

/** Milliseconds until the answer must be sent. */
export function deadlineOf(params: Params): number {
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
  const form = textOf(params, "form")?.trim();
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
