import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_DOCUMENT } from "./default-policy.ts";
import { mistakeInWords, parsePolicy, parsePolicyText } from "./parse-policy.ts";

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
  ["a misspelt member", { rules: [], esle: "accept" }, "esle: unknown member. Did you mean else?"],
  [
    "a misspelt rule member",
    rule({ role: true }, { resaon: "x" }),
    "rules[0].resaon: unknown member. Did you mean reason?",
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

/** Conditions, and what is said of them below "rules[0].when.". */
const WRONG_CONDITIONS: readonly [when: object, mistake: string][] = [
  [{ disposible: true }, "disposible: unknown condition. Did you mean disposable?"],
  [{ weather: true }, "weather: unknown condition"],
  [{ constructor: true }, "constructor: unknown condition"],
  [{ role: "true" }, 'role: "true" is not one of true, false'],
  [{ tld: [] }, "tld: the array is empty"],
  [{ dns: ["no", "perhaps"] }, 'dns[1]: "perhaps" is not one of yes, no, unknown'],
  [{ confidence: 80 }, 'confidence: 80 is not {"gte": n}, {"lt": n} or both'],
  [{ confidence: { gte: 80, lt: 80 } }, 'confidence: {"gte":80,"lt":80} holds for no number'],
  [{ "caller.age": { gte: 5, lt: 2 } }, 'caller.age: {"gte":5,"lt":2} holds for no number'],
  [{ mx: "*.a.*" }, 'mx: "*.a.*" is not a domain or *.suffix'],
  [{ confidence: { gt: 80 } }, 'confidence: {"gt":80} is not {"gte": n}, {"lt": n} or both'],
  [{ signals: "bad_karma" }, 'signals: "bad_karma" is not a signal'],
  [{ domain: "not a domain" }, 'domain: "not a domain" is not a domain or *.suffix'],
  [{ "caller.Plan": "x" }, "caller.Plan: unknown condition"],
  [{ "caller.plan": "tri*" }, 'caller.plan: "tri*": * has no meaning here'],
  [{ "caller.plan": ["a", "*.b"] }, 'caller.plan[1]: "*.b": * has no meaning here'],
  [{ "caller.plan": null }, 'caller.plan: null is not text, a number, a boolean or {"gte": n}'],
];

for (const [when, mistake] of WRONG_CONDITIONS) {
  test(`a condition is refused with the path: ${mistake}`, () => {
    assert.deepEqual(mistakesOf(rule(when)), [`rules[0].when.${mistake}`]);
  });
}

for (const [name, document, mistake] of WRONG) {
  test(`a policy with ${name} is refused with the path`, () => {
    assert.ok(mistakesOf(document).includes(mistake), mistakesOf(document).join("\n"));
  });
}

test("a mistake is told with the number and the words of its rule, if it is in one", () => {
  const document = {
    rules: [
      { when: { role: true }, then: "accept" },
      { when: {}, then: "no" },
    ],
  };
  const [first = ""] = mistakesOf(document);
  assert.equal(
    mistakeInWords(first, document),
    'rules[1].then: "no" is not one of accept, challenge, review, reject (rule 2: {"when":{},"then":"no"})',
  );
  assert.equal(
    mistakeInWords("token: 1 is not true or false", {}),
    "token: 1 is not true or false",
  );
});

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
