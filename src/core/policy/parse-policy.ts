import { jsonIn } from "../json.ts";
import { isOneEdit } from "../name/one-edit.ts";
import { isReservedName } from "../reserved-name.ts";
import {
  type Condition,
  FACT_NAMES,
  isUndecided,
  readCondition,
  reasonOfCondition,
  quoted,
  subjectsOf,
} from "./conditions.ts";
import {
  AGE_FACTS,
  DECISIONS,
  type Decision,
  type Messages,
  type Policy,
  type PolicyRule,
} from "./policy.ts";

const RULES_MAX = 50;

export const POLICY_MAX_BYTES = 65_536;

export const isPolicyName = (name: string): boolean => /^[a-z0-9_-]{1,32}$/.test(name);

/** Characters of one text for the person at the form: Neon Auth cuts no later. */
const MESSAGE_MAX = 500;

const MISTAKES_MAX = 20;

export type PolicyRead =
  | { readonly ok: true; readonly policy: Policy }
  /** Each starts with the path to what is wrong: `rules[2].when.dns: "maybe" is not one of yes, no, unknown`. */
  | { readonly ok: false; readonly mistakes: readonly string[]; readonly rest?: Policy };

/** What works of a stored policy, which an older version may have taken. A rule with a mistake in `when` or `then` never matches. */
export const working = (read: PolicyRead): Policy | undefined =>
  read.ok ? read.policy : read.rest;

export interface PolicyScope {
  readonly hasDomainAge: boolean;
}

export function parsePolicy(document: unknown, scope: PolicyScope): PolicyRead {
  const reader = new PolicyReader(scope);
  const policy = reader.policy(document);
  const { mistakes } = reader;
  if (mistakes.length === 0) return { ok: true, policy };
  return { ok: false, mistakes, ...(isMembers(document) && { rest: policy }) };
}

export function parsePolicyText(text: string, scope: PolicyScope): PolicyRead {
  const document = jsonIn(text);
  return document === undefined
    ? { ok: false, mistakes: ["the policy is not valid JSON"] }
    : parsePolicy(document, scope);
}

const nameOf = (rule: unknown, at: number): string => `rule ${String(at + 1)}: ${quoted(rule)}`;

/** A mistake with the rule it is in as people count and read it, for its path counts from 0. */
export function mistakeInWords(mistake: string, document: unknown): string {
  const [, at] = /^rules\[(\d+)\]/.exec(mistake) ?? [];
  if (at === undefined || !isMembers(document) || !Array.isArray(document["rules"])) return mistake;
  return `${mistake} (${nameOf(document["rules"][Number(at)], Number(at))})`;
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const NOTHING: Policy = {
  rules: [],
  otherwise: { decision: "accept", reason: "ok" },
  token: false,
};

const POLICY_MEMBERS = ["rules", "else", "else_reason", "else_message", "token"];
const RULE_MEMBERS = ["when", "then", "reason", "message"];

const REASON = /^[a-z_]{1,32}$/;
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i;

/** What no eye sees or what breaks a line: the text is shown in forms, headers and terminals. */
const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

class PolicyReader {
  readonly mistakes: string[] = [];
  #wrongs = 0;
  readonly #scope: PolicyScope;

  constructor(scope: PolicyScope) {
    this.#scope = scope;
  }

  policy(document: unknown): Policy {
    if (!isMembers(document)) {
      this.#wrong("policy", "must be a JSON object with the members rules and else");
      return NOTHING;
    }
    this.#membersOf(document, POLICY_MEMBERS, "");
    const { rules = [], token = false } = document;
    if (typeof token !== "boolean") this.#wrong("token", `${quoted(token)} is not true or false`);
    const decision = this.#decision(document["else"] ?? "accept", "else");
    const reason = this.#reason(document["else_reason"], "else_reason");
    const messages = this.#messages(document["else_message"], "else_message");
    return {
      rules: this.#rules(rules),
      otherwise: {
        decision,
        reason: reason ?? (decision === "accept" ? "ok" : "denied"),
        ...(messages !== undefined && { messages }),
      },
      token: token === true,
    };
  }

  #rules(rules: unknown): readonly PolicyRule[] {
    if (!Array.isArray(rules)) {
      this.#wrong("rules", `${quoted(rules)} is not an array`);
      return [];
    }
    if (rules.length > RULES_MAX) {
      const most = String(RULES_MAX);
      this.#wrong("rules", `${String(rules.length)} rules are more than ${most}`);
    }
    return rules.slice(0, RULES_MAX).map((rule: unknown, at) => {
      return { ...this.#rule(rule, `rules[${String(at)}]`), name: nameOf(rule, at) };
    });
  }

  #rule(rule: unknown, path: string): Omit<PolicyRule, "name"> {
    const missing: Omit<PolicyRule, "name"> = {
      matches: () => false,
      isOpen: () => false,
      facts: [],
      decision: "accept",
      reason: "ok",
    };
    if (!isMembers(rule)) {
      this.#wrong(path, `${quoted(rule)} is not an object with the members when and then`);
      return missing;
    }
    this.#membersOf(rule, RULE_MEMBERS, `${path}.`);
    const before = this.#wrongs;
    const decision = this.#decision(rule["then"], `${path}.then`);
    const { when } = rule;
    if (!isMembers(when) || Object.keys(when).length === 0) {
      this.#wrong(`${path}.when`, `${quoted(when)} is not an object with at least one condition`);
      return missing;
    }
    const conditions = this.#conditions(when, `${path}.when`);
    const works = this.#wrongs === before;
    const reason = this.#reason(rule["reason"], `${path}.reason`);
    const messages = this.#messages(rule["message"], `${path}.message`);
    if (!works) return missing;
    return {
      matches: (facts) => conditions.every(({ holds }) => holds(facts)),
      isOpen: (facts, missing) => isUndecided(conditions, facts, missing),
      facts: Object.entries(when).flatMap(([name, value]) => subjectsOf(name, value)),
      decision,
      reason: reason ?? usualReason(when, decision),
      ...(messages !== undefined && { messages }),
    };
  }

  #conditions(when: Members, path: string): readonly Condition[] {
    return Object.entries(when).flatMap(([name, value]): readonly Condition[] => {
      const read = readCondition(name, value);
      if (read === undefined) {
        this.#wrong(`${path}.${name}`, `unknown condition${didYouMean(name, FACT_NAMES)}`);
        return [];
      }
      if ("wrong" in read) {
        this.#wrong(`${path}.${name}${read.at}`, read.wrong);
        return [];
      }
      if (AGE_FACTS.has(name) && !this.#scope.hasDomainAge) {
        this.#wrong(`${path}.${name}`, "the plan of this account does not include domain age");
      }
      return [read];
    });
  }

  #decision(value: unknown, path: string): Decision {
    const decision = DECISIONS.find((word) => word === value);
    if (decision === undefined) {
      this.#wrong(path, `${quoted(value)} is not one of ${DECISIONS.join(", ")}`);
    }
    return decision ?? "accept";
  }

  #reason(value: unknown, path: string): string | undefined {
    if (value === undefined) return undefined;
    if (typeof value === "string" && REASON.test(value)) {
      if (!isReservedName(value)) return value;
      this.#wrong(path, `${quoted(value)} is a reserved name`);
      return undefined;
    }
    this.#wrong(path, `${quoted(value)} is not 1 to 32 characters of a to z and _`);
    return undefined;
  }

  #messages(value: unknown, path: string): Messages | undefined {
    if (value === undefined) return undefined;
    const before = this.#wrongs;
    const texts = this.#texts(value, path);
    return this.#wrongs === before ? texts : undefined;
  }

  #texts(value: unknown, path: string): Messages | undefined {
    if (typeof value === "string") return new Map([["en", this.#message(value, path)]]);
    if (!isMembers(value) || Object.keys(value).length === 0) {
      this.#wrong(path, `${quoted(value)} is not text or an object {"en": "...", "de": "..."}`);
      return undefined;
    }
    const texts = Object.entries(value).map(([tag, text]): readonly [string, string] => {
      if (!LANGUAGE.test(tag)) this.#wrong(path, `${quoted(tag)} is not a language tag`);
      return [tag.toLowerCase(), this.#message(text, `${path}.${tag}`)];
    });
    return new Map(texts);
  }

  #message(value: unknown, path: string): string {
    const text = typeof value === "string" ? value.trim() : "";
    if (text === "" || text.length > MESSAGE_MAX || UNFIT.test(text)) {
      const most = String(MESSAGE_MAX);
      this.#wrong(path, `${quoted(value)} is not one line of 1 to ${most} characters`);
    }
    return text;
  }

  #membersOf(members: Members, names: readonly string[], path: string): void {
    for (const name of Object.keys(members)) {
      if (names.includes(name)) continue;
      this.#wrong(`${path}${name}`, `unknown member${didYouMean(name, names)}`);
    }
  }

  #wrong(path: string, text: string): void {
    this.#wrongs += 1;
    if (this.mistakes.length < MISTAKES_MAX) this.mistakes.push(`${path}: ${text}`);
  }
}

function usualReason(when: Members, decision: Decision): string {
  const named = Object.entries(when).map(([name, value]) => reasonOfCondition(name, value));
  return (
    named.find((reason) => reason !== undefined) ?? (decision === "accept" ? "allowed" : "denied")
  );
}

function didYouMean(name: string, names: readonly string[]): string {
  const near = names.find(
    (one) => one === name.toLowerCase() || isOneEdit(name.toLowerCase(), one),
  );
  return near === undefined ? "" : `. Did you mean ${near}?`;
}
