import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { sentenceOf, signalTitle } from "../../src/core/evidence/signals.ts";
import type { ResultJson } from "../../src/http/account/shapes.ts";
import { mayRefuseMore, type PolicyDocument, inRules } from "../../src/dashboard/words/policy.ts";
import { curlOf } from "../../src/dashboard/words/samples.ts";
import { factsOf, sharesOf, titleOf, verdictOf } from "../../src/dashboard/words/verdict.ts";

const FINE: ResultJson = {
  format: true,
  domain: "x.example",
  disposable: false,
  dns: true,
  confidence: 0,
  whitelist: false,
  signals: [],
  role: false,
  free: false,
  alias: false,
};

const verdicts = [
  ["a good address looks good", {}, "yes", "Looks good"],
  [
    "a disposable one is shown with its confidence",
    { disposable: true, confidence: 97 },
    "no",
    "Disposable",
  ],
  [
    "an unknown mail server is never shown as a no",
    { dns: false, signals: ["dns_indeterminate"] },
    "quiet",
    "Could not tell",
  ],
  [
    "a missing mail server is a no",
    { dns: false, signals: ["no_mx_records"] },
    "no",
    "No mail server",
  ],
  [
    "a domain with an address record alone may bounce, and is no certain no",
    { dns: false, signals: ["implicit_mx"] },
    "unsure",
    "No mail server",
  ],
  ["bad format comes before everything", { format: false, disposable: true }, "no", "Bad format"],
  ["a misspelling comes before the rest", { signals: ["typo_domain"] }, "unsure", "Misspelt"],
  [
    "a misspelling comes before disposable",
    { signals: ["blacklist_single", "typo_domain"], disposable: true },
    "unsure",
    "Misspelt",
  ],
  [
    "disposable wins over an unknown mail server",
    { disposable: true, dns: false, signals: ["dns_indeterminate"] },
    "no",
    "Disposable",
  ],
] as const;

for (const [name, more, mark, stamp] of verdicts) {
  test(`a verdict as text: ${name}`, () => {
    const verdict = verdictOf({ result: { ...FINE, ...more }, evidence: [] });
    assert.deepEqual([verdict.mark, verdict.stamp], [mark, stamp]);
    assert.match(verdict.sentence, /[.]$/);
  });
}

const lost = [
  ["written out", { format: false, dns: false }, "anna(at)web.de", "Perhaps the @ is missing."],
  [
    "a dot in its place",
    { dns: false, signals: ["no_mx_records"] },
    "luis.garcia.web.de",
    "The domain names no mail server. Perhaps the @ is missing.",
  ],
] as const;

for (const [name, more, entry, reason] of lost) {
  test(`a verdict tells of a lost at sign: ${name}`, () => {
    const result = { ...FINE, ...more };
    const evidence = result.signals.map((signal) => ({
      signal,
      title: signalTitle(signal),
      says: sentenceOf(signal),
      weight: 0,
      lists: [],
    }));
    const verdict = verdictOf({ result, evidence, meant: "anna@web.de" }, entry);
    assert.equal(verdict.reason, reason);
  });
}

const WORDS = { title: "", says: "" } as const;

const denied = [
  ["blacklist_exact", "bad.example", "bad.example is denied by the operator of this service."],
  [
    "blacklist_mx",
    "mx.example",
    "Its mail server, mx.example, is denied by the operator of this service.",
  ],
  ["disposable_account", undefined, "It is denied by the operator of this service."],
] as const;

for (const [signal, subject, reason] of denied) {
  test(`what the operator denies is not said to be on lists: ${signal}`, () => {
    const piece = {
      signal,
      ...WORDS,
      weight: 100,
      by: "operator",
      lists: [],
      ...(subject && { subject }),
    } as const;
    const verdict = verdictOf({ result: { ...FINE, disposable: true }, evidence: [piece] });
    assert.deepEqual(
      [verdict.stamp, verdict.small, verdict.reason],
      ["Denied", "by the operator", reason],
    );
    assert.equal(titleOf(piece), "Denied by the operator");
  });
}

test("a silent name server of the service's own is not the domain's fault", () => {
  const result = { ...FINE, dns: false, signals: ["dns_indeterminate" as const] };
  const verdict = verdictOf({
    result,
    evidence: [],
    dns_down: "DNS server 192.0.2.53:53 does not answer.",
  });
  assert.deepEqual([verdict.mark, verdict.stamp], ["quiet", "Could not tell"]);
  assert.match(verdict.reason, /^DNS server 192\.0\.2\.53:53 does not .*nothing about the domain/);
});

test("an inconclusive mail server is grey among the facts, neither red nor amber", () => {
  const facts = factsOf({ ...FINE, dns: false, signals: ["dns_indeterminate"] });
  assert.deepEqual(facts[1], ["quiet", "Mail server unknown"]);
});

const hostile = ["it's", "$(id)", "`id`", "a;b", '"', "\\", "!x", "a\nb", "''", "-x", "é"];

test("the curl sample passes any entry unchanged", () => {
  for (const text of hostile) {
    const command = curlOf("http://x.example", text).replace(/^curl/, "printf '%s\n'");
    const { stdout } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
    assert.ok(stdout.endsWith(`domain=${text}\n`), text);
  }
});

const reject = { when: { disposable: true }, then: "reject" } as const;
const allow = { when: { domain: ["a.example"] }, then: "accept" } as const;
const review = { when: { free: true }, then: "review" } as const;
const policy = (...rules: PolicyDocument["rules"]): PolicyDocument => ({ rules, else: "accept" });

const drafts = [
  ["the same rules", policy(allow, reject), policy(allow, reject), false],
  ["one more refusal", policy(allow), policy(allow, reject), true],
  ["one refusal less", policy(allow, reject), policy(allow), false],
  ["a milder rule is gone", policy(allow, reject), policy(reject), true],
  ["a milder rule stands below", policy(allow, reject), policy(reject, allow), true],
  ["a rule that asks is added", policy(reject), policy(reject, review), false],
  ["another reason", policy(reject), policy({ ...reject, reason: "mine" }), false],
  ["all others are refused", policy(reject), { ...policy(reject), else: "reject" as const }, true],
] as const;

for (const [name, live, draft, want] of drafts) {
  test(`a draft that may refuse more people is told apart: ${name}`, () => {
    assert.equal(mayRefuseMore(live, draft), want);
  });
}

test("a mistake in a draft names the rule as the page numbers it", () => {
  assert.equal(
    inRules('rules[2].when.domain[0]: "a b" is no domain; else: "no" is not one of accept'),
    'Rule 3: "a b" is no domain; Otherwise: "no" is not one of accept',
  );
});

const evidenceOf = (...weights: readonly number[]) =>
  weights.map((weight) => ({
    signal: "keyword_weak" as const,
    ...WORDS,
    weight,
    by: "rules" as const,
    lists: [],
  }));

const sums = [
  ["one signal is the whole score", [80], 80, [80]],
  ["each counts on what is left, and rounds to the sum", [80, 45, 30, 35], 95, [80, 9, 4, 2]],
  ["a certain signal leaves nothing to others", [100, 95, 90], 100, [100, 0, 0]],
  ["notes have no share", [0, 10], 10, [10]],
] as const;

for (const [name, weights, score, want] of sums) {
  test(`evidence adds up: ${name}`, () => {
    const points = sharesOf(evidenceOf(...weights), score).map((share) => share.points);
    assert.equal(
      points.reduce((sum, part) => sum + part, 0),
      score,
    );
    assert.deepEqual(points, want);
  });
}
