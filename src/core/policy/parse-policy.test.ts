import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_DOCUMENT } from "./default-policy.ts";
import { parsePolicy, parsePolicyText } from "./parse-policy.ts";

const rule = (when: unknown, more: object = {}): object => ({
  rules: [{ when, then: "reject", ...more }],
  else: "accept",
});

function mistakesOf(document: unknown, hasDomainAge = true): readonly string[] {
  const read = parsePolicy(document, { hasDomainAge });
  return read.ok ? [] : read.mistakes;
}

const WRONG: readonly [name: string, document: unknown, mistake: string][] = [
  [
    "a word that DNS has not",
    {
      ...DEFAULT_DOCUMENT,
      rules: [...DEFAULT_DOCUMENT.rules.slice(0, 2), { when: { dns: "maybe" }, then: "reject" }],
    },
    'rules[2].when.dns: "maybe" is not one of yes, no, unknown',
  ],
  ["no object", [], "policy: must be a JSON object with the members rules and else"],
  ["rules that are no array", { rules: {} }, "rules: {} is not an array"],
  [
    "a rule that is no object",
    { rules: [7] },
    "rules[0]: 7 is not an object with the members when and then",
  ],
  [
    "an unknown decision",
    { else: "block" },
    'else: "block" is not one of accept, challenge, review, reject',
  ],
  [
    "a rule without a decision",
    { rules: [{ when: { role: true } }] },
    "rules[0].then: undefined is not one of accept, challenge, review, reject",
  ],
  ["no condition", rule({}), "rules[0].when: {} is not an object with at least one condition"],
  [
    "a misspelt condition",
    rule({ disposible: true }),
    "rules[0].when.disposible: unknown condition. Did you mean disposable?",
  ],
  ["an unknown condition", rule({ weather: true }), "rules[0].when.weather: unknown condition"],
  [
    "a prototype's member",
    rule({ constructor: true }),
    "rules[0].when.constructor: unknown condition",
  ],
  ["a misspelt member", { rules: [], esle: "accept" }, "esle: unknown member. Did you mean else?"],
  [
    "a misspelt rule member",
    rule({ role: true }, { resaon: "x" }),
    "rules[0].resaon: unknown member. Did you mean reason?",
  ],
  [
    "a boolean as text",
    rule({ role: "true" }),
    'rules[0].when.role: "true" is not one of true, false',
  ],
  ["an empty array", rule({ tld: [] }), "rules[0].when.tld: the array is empty"],
  [
    "the place in an array",
    rule({ dns: ["no", "perhaps"] }),
    'rules[0].when.dns[1]: "perhaps" is not one of yes, no, unknown',
  ],
  [
    "a bare number",
    rule({ confidence: 80 }),
    'rules[0].when.confidence: 80 is not {"gte": n}, {"lt": n} or both',
  ],
  [
    "an unknown bound",
    rule({ confidence: { gt: 80 } }),
    'rules[0].when.confidence: {"gt":80} is not {"gte": n}, {"lt": n} or both',
  ],
  [
    "an unknown signal",
    rule({ signals: "bad_karma" }),
    'rules[0].when.signals: "bad_karma" is not a signal',
  ],
  [
    "a domain that is none",
    rule({ domain: "not a domain" }),
    'rules[0].when.domain: "not a domain" is not a domain or *.suffix',
  ],
  [
    "a caller fact with a capital",
    rule({ "caller.Plan": "x" }),
    "rules[0].when.caller.Plan: unknown condition",
  ],
  [
    "a caller fact that is null",
    rule({ "caller.plan": null }),
    'rules[0].when.caller.plan: null is not text, a number, a boolean or {"gte": n}',
  ],
  [
    "a reason with capitals",
    rule({ role: true }, { reason: "Bad" }),
    'rules[0].reason: "Bad" is not 1 to 32 characters of a to z and _',
  ],
  [
    "an empty message",
    rule({ role: true }, { message: " " }),
    'rules[0].message: " " is not one line of 1 to 500 characters',
  ],
  [
    "a message over two lines",
    rule({ role: true }, { message: { en: "a\nb" } }),
    'rules[0].message.en: "a\\nb" is not one line of 1 to 500 characters',
  ],
  ["a token that is no boolean", { token: "yes" }, 'token: "yes" is not true or false'],
];

for (const [name, document, mistake] of WRONG) {
  test(`a policy with ${name} is refused with the path`, () => {
    assert.ok(mistakesOf(document).includes(mistake), mistakesOf(document).join("\n"));
  });
}

test("the built-in policy is a right policy", () => {
  assert.deepEqual(mistakesOf(DEFAULT_DOCUMENT, false), []);
});

test("the age of a domain is refused on plans without it, in words", () => {
  const [mistake] = mistakesOf(rule({ age_days: { lt: 14 } }), false);
  assert.equal(
    mistake,
    "rules[0].when.age_days: the plan of this account does not include domain age",
  );
  assert.deepEqual(mistakesOf(rule({ age_days: { lt: 14 } })), []);
});

test("50 rules of 200 items are read, one more of either is refused", () => {
  const items = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => `d${String(at)}.example`);
  const rules = (count: number): object => ({
    rules: Array.from({ length: count }, () => ({ when: { domain: items(200) }, then: "reject" })),
  });
  assert.deepEqual(mistakesOf(rules(50)), []);
  assert.deepEqual(mistakesOf(rules(51)), ["rules: 51 rules are more than 50"]);
  assert.deepEqual(mistakesOf(rule({ domain: items(201) })), [
    "rules[0].when.domain: 201 items are more than 200",
  ]);
});

test("all mistakes are told at once, up to 20", () => {
  const rules = Array.from({ length: 30 }, () => ({ when: { x: 1 }, then: "no" }));
  assert.equal(mistakesOf({ rules }).length, 20);
});

test("text that is no JSON is a mistake, and nothing throws", () => {
  for (const text of ["", "{", "null", "[]", '"x"', "1e999", '{"rules":[null]}']) {
    assert.equal(parsePolicyText(text, { hasDomainAge: true }).ok, false, text);
  }
});
