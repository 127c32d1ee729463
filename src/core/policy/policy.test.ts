import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_DOCUMENT, DEFAULT_POLICY } from "./default-policy.ts";
import { rowsOf } from "../tables/rows.ts";
import * as TEXTS from "../tables/texts.ts";
import { FAULT_WORDS } from "../name/domain.ts";
import { SLIP_WORDS } from "../validate/malformed.ts";
import { languageOf, LANGUAGES, messageFor } from "./messages.ts";
import { parsePolicy, working } from "./parse-policy.ts";
import {
  type CheckFacts,
  decide,
  decideEarly,
  type Facts,
  type FeedbackFacts,
  type Outcome,
  type Policy,
  type TrafficFacts,
} from "./policy.ts";

/** All facts side by side, as a policy names them. */
type Named = CheckFacts & TrafficFacts & FeedbackFacts & Omit<Facts, "checked">;

const factsOf = ({ caller, verified, ...all }: Named): Facts => ({
  checked: all,
  caller,
  verified,
  traffic: all,
  feedback: all,
});

const GOOD: Named = {
  format: true,
  disposable: false,
  role: false,
  free: false,
  alias: false,
  relay: false,
  typo: false,
  sms_gateway: false,
  whitelist: false,
  allowed: false,
  denied: false,
  dns: "yes",
  confidence: 0,
  signals: [],
  domain: "shop.example.co.uk",
  registrable_domain: "example.co.uk",
  tld: "co.uk",
  mx: ["mx1.google.com", "google.com"],
  caller: new Map(),
};

function policyOf(document: unknown): Policy {
  const read = parsePolicy(document, { hasDomainAge: true });
  assert.ok(read.ok, read.ok ? "" : read.mistakes.join("\n"));
  return read.policy;
}

const said = ({ decision, reason, rule }: Outcome): string =>
  `${decision} ${reason} ${String(rule ?? "else")}`;

const BUILT_IN: readonly [name: string, facts: Partial<Named>, want: string][] = [
  ["a good entry", {}, "accept ok else"],
  ["bad format", { format: false, dns: "no" }, "reject format 0"],
  ["an allowed disposable name", { allowed: true, disposable: true }, "accept allowed 1"],
  ["a typo that is listed too", { typo: true, disposable: true }, "reject typo 2"],
  ["a typo", { typo: true }, "challenge typo 3"],
  ["a disposable name without DNS", { disposable: true, dns: "unknown" }, "reject disposable 4"],
  ["no mail server", { dns: "no" }, "reject no_mail_server 5"],
  ["a burst", { domain_mailboxes: 5, domain_known_days: 13 }, "review burst 6"],
  ["a burst of names", { sub_names: 5, domain_known_days: 0 }, "review burst 7"],
  ["a burst without DNS", { dns: "unknown", sub_names: 5, domain_known_days: 0 }, "review burst 7"],
  ["no burst yet", { domain_mailboxes: 4, sub_names: 4, domain_known_days: 0 }, "accept ok else"],
  ["a domain known for 14 days", { domain_mailboxes: 40, domain_known_days: 14 }, "accept ok else"],
  ["many mailboxes of a domain nobody counts", { domain_mailboxes: 40 }, "accept ok else"],
  ["silent DNS", { dns: "unknown" }, "accept unknown 12"],
];

for (const [name, facts, want] of BUILT_IN) {
  test(`the built-in policy: ${name}`, () => {
    assert.equal(said(decide(DEFAULT_POLICY, factsOf({ ...GOOD, ...facts }))), want);
  });
}

/** What is said while DNS and the account's counts are missing; "" while they can still change it. */
const EARLY: readonly [name: string, document: unknown, facts: Partial<Named>, want: string][] = [
  ["a listed name", DEFAULT_DOCUMENT, { disposable: true }, "reject disposable 4"],
  ["a listed typo", DEFAULT_DOCUMENT, { disposable: true, typo: true }, "reject typo 2"],
  ["a typo that DNS may show to be disposable", DEFAULT_DOCUMENT, { typo: true }, ""],
  ["bad format", DEFAULT_DOCUMENT, { format: false }, "reject format 0"],
  ["an allowed name", DEFAULT_DOCUMENT, { allowed: true }, "accept allowed 1"],
  ["a name that lists do not hold", DEFAULT_DOCUMENT, {}, ""],
  ["a special-use name, whose DNS is known", DEFAULT_DOCUMENT, { dns: "no" }, ""],
  [
    "another condition of the rule has failed",
    { rules: [{ when: { mx: "google.com", role: true }, then: "review" }], else: "reject" },
    {},
    "reject denied else",
  ],
  [
    "a flag that DNS may still set",
    { rules: [{ when: { relay: false }, then: "accept" }], else: "reject" },
    {},
    "",
  ],
  [
    "a flag that is set",
    { rules: [{ when: { relay: false }, then: "accept" }], else: "reject" },
    { relay: true },
    "reject denied else",
  ],
  [
    "a confidence that only grows",
    { rules: [{ when: { confidence: { gte: 80 } }, then: "reject" }] },
    { confidence: 80 },
    "reject disposable 0",
  ],
  [
    "a confidence that may grow",
    { rules: [{ when: { confidence: { gte: 80 } }, then: "reject" }] },
    { confidence: 79 },
    "",
  ],
  [
    "a confidence within bounds",
    { rules: [{ when: { confidence: { gte: 50, lt: 80 } }, then: "reject" }] },
    { confidence: 60 },
    "",
  ],
  [
    "a confidence beyond bounds",
    { rules: [{ when: { confidence: { lt: 80 } }, then: "accept" }], else: "reject" },
    { confidence: 90 },
    "reject denied else",
  ],
  [
    "a signal of the lists",
    { rules: [{ when: { signals: ["blacklist_exact", "blacklist_mx"] }, then: "reject" }] },
    { signals: ["blacklist_exact", "dns_indeterminate"] },
    "reject denied 0",
  ],
  [
    "the signal that DNS is missing",
    { rules: [{ when: { signals: "dns_indeterminate" }, then: "reject" }] },
    { signals: ["dns_indeterminate"] },
    "",
  ],
  [
    "a count of the account",
    { rules: [{ when: { mailbox_seen: { gte: 3 } }, then: "review" }] },
    {},
    "",
  ],
  [
    "the caller's own fact",
    {
      rules: [
        { when: { "caller.plan": "trial" }, then: "review" },
        { when: { dns: "no" }, then: "reject" },
      ],
    },
    { caller: new Map([["plan", "trial"]]) },
    "review caller 0",
  ],
  ["else alone", { rules: [], else: "reject" }, {}, "reject denied else"],
];

for (const [name, document, facts, want] of EARLY) {
  test(`before DNS: ${name} is ${want === "" ? "not decided" : want}`, () => {
    const known = factsOf({ ...GOOD, dns: "unknown", mx: [], ...facts });
    const early = decideEarly(policyOf(document), known, new Set(["dns", "account"]));
    assert.equal(early === undefined ? "" : said(early), want);
  });
}

test("what is decided before DNS is what every answer of DNS and every count leads to", () => {
  const flags = [true, false];
  let decided = 0;
  for (const [, document, facts] of EARLY) {
    const policy = policyOf(document);
    const known: Named = { ...GOOD, dns: "unknown", mx: [], ...facts };
    const early = decideEarly(policy, factsOf(known), new Set(["dns", "account"]));
    if (early === undefined) continue;
    decided += 1;
    for (const isSet of flags) {
      for (const dns of known.dns === "unknown"
        ? (["yes", "no", "unknown"] as const)
        : [known.dns]) {
        for (const count of [0, 100]) {
          const later: Named = {
            ...known,
            dns,
            disposable: known.disposable || isSet,
            relay: known.relay || isSet,
            denied: known.denied || isSet,
            alias: isSet,
            confidence: isSet ? 100 : known.confidence,
            signals: [
              ...known.signals.filter((signal) => signal !== "dns_indeterminate"),
              ...(isSet ? ["blacklist_mx"] : []),
            ],
            mx: isSet ? ["google.com"] : [],
            mailbox_seen: count,
            domain_mailboxes: count,
            sub_names: count,
            domain_known_days: count,
          };
          assert.equal(said(decide(policy, factsOf(later))), said(early));
        }
      }
    }
  }
  assert.ok(decided > 8);
});

const caller = (facts: Record<string, string | number | boolean>): Partial<Named> => ({
  caller: new Map(Object.entries(facts)),
});

const CONDITIONS: readonly [name: string, when: object, facts: Partial<Named>, holds: boolean][] = [
  ["a boolean that is so", { role: true }, { role: true }, true],
  ["a boolean that is not", { role: true }, {}, false],
  ["all conditions are needed", { role: true, free: true }, { role: true }, false],
  ["all conditions hold", { role: true, free: true }, { role: true, free: true }, true],
  ["an array means any", { dns: ["no", "unknown"] }, { dns: "unknown" }, true],
  ["from a bound", { confidence: { gte: 80 } }, { confidence: 80 }, true],
  ["below a bound", { confidence: { lt: 80 } }, { confidence: 80 }, false],
  ["between bounds", { confidence: { gte: 50, lt: 80 } }, { confidence: 79 }, true],
  ["an unknown number is neither below", { age_days: { lt: 30 } }, {}, false],
  ["nor above", { age_days: { gte: 0 } }, {}, false],
  ["an unknown flag is not false", { fresh: false }, {}, false],
  ["a known age", { age_days: { lt: 30 } }, { age_days: 3 }, true],
  ["spellings", { mailbox_seen: { gte: 3 } }, { mailbox_seen: 3 }, true],
  ["mailboxes", { domain_mailboxes: { gte: 5 } }, { domain_mailboxes: 5 }, true],
  ["names", { sub_names: { lt: 5 } }, { sub_names: 5 }, false],
  ["an unknown count is not 0", { sub_names: { lt: 5 } }, {}, false],
  ["new domains", { mx_new_domains: { gte: 10 } }, { mx_new_domains: 11 }, true],
  ["a domain of today", { domain_known_days: { lt: 1 } }, { domain_known_days: 0 }, true],
  ["abuse", { mailbox_abused: { gte: 1 } }, { mailbox_abused: 1 }, true],
  ["abuse of another mailbox", { domain_abused: { gte: 1 } }, { mailbox_abused: 1 }, false],
  ["a kind of mail", { mail_kind: ["relay", "forwarder"] }, { mail_kind: "forwarder" }, true],
  ["another kind of mail", { mail_kind: "forwarder" }, { mail_kind: "unknown" }, false],
  ["an unknown kind of mail is none", { mail_kind: "unknown" }, {}, false],
  ["a signal", { signals: ["plus_alias"] }, { signals: ["typo_domain", "plus_alias"] }, true],
  ["the exact domain", { domain: "shop.example.co.uk" }, {}, true],
  ["a domain in capitals", { domain: "SHOP.Example.co.uk" }, {}, true],
  ["a parent is not the domain", { domain: "example.co.uk" }, {}, false],
  ["a suffix", { domain: "*.example.co.uk" }, {}, true],
  ["a suffix is not itself", { registrable_domain: "*.example.co.uk" }, {}, false],
  ["a suffix stops at a dot", { domain: "*.ample.co.uk" }, {}, false],
  [
    "a Unicode domain is its A-label",
    { domain: "bücher.example" },
    { domain: "xn--bcher-kva.example" },
    true,
  ],
  ["a public suffix", { tld: ["com", "co.uk"] }, {}, true],
  ["a last label", { tld: "*.uk" }, {}, true],
  ["a mail host", { mx: "mx1.google.com" }, {}, true],
  ["the domain of a mail host", { mx: ["outlook.com", "google.com"] }, {}, true],
  ["a mail host under a suffix", { mx: "*.google.com" }, {}, true],
  [
    "a mail host of a large proxy",
    { mx: "_DC-mx.0a1b.d.test" },
    { mx: ["_dc-mx.0a1b.d.test"] },
    true,
  ],
  ["mail hosts of a large proxy", { mx: "*._mx.d.test" }, { mx: ["a_b._mx.d.test"] }, true],
  ["no mail host", { mx: "google.com" }, { mx: [] }, false],
  ["the caller's text", { "caller.plan": "trial" }, caller({ plan: "trial" }), true],
  ["the caller's other text", { "caller.plan": "trial" }, caller({ plan: "paid" }), false],
  ["the caller's number", { "caller.tries": { gte: 3 } }, caller({ tries: 4 }), true],
  ["a number is not text", { "caller.tries": "4" }, caller({ tries: 4 }), false],
  ["what the caller did not send", { "caller.vpn": false }, {}, false],
];

for (const [name, when, facts, holds] of CONDITIONS) {
  test(`a condition: ${name}`, () => {
    const policy = policyOf({ rules: [{ when, then: "reject", reason: "hit" }], else: "accept" });
    assert.equal(decide(policy, factsOf({ ...GOOD, ...facts })).reason, holds ? "hit" : "ok");
  });
}

const REASONS: readonly [when: object, then: string, reason: string][] = [
  [{ disposable: true }, "reject", "disposable"],
  [{ dns: "no" }, "reject", "no_mail_server"],
  [{ dns: "unknown" }, "review", "unknown"],
  [{ age_days: { lt: 9 } }, "review", "fresh_domain"],
  [{ mailbox_seen: { gte: 3 } }, "challenge", "repeated_mailbox"],
  [{ "caller.plan": "x" }, "reject", "caller"],
  [{ domain_mailboxes: { gte: 9 } }, "review", "burst"],
  [{ mail_kind: "forwarder", mx_new_domains: { gte: 9 } }, "review", "burst"],
  [{ domain_abused: { gte: 1 } }, "reject", "abuse"],
  [{ domain: "a.example" }, "reject", "denied"],
  [{ domain: "a.example" }, "accept", "allowed"],
  [{ tld: "com", role: true }, "reject", "role"],
];

for (const [when, then, reason] of REASONS) {
  test(`a rule about ${JSON.stringify(when)} that says ${then} has the reason ${reason}`, () => {
    assert.equal(policyOf({ rules: [{ when, then }] }).rules[0]?.reason, reason);
  });
}

test("the first match wins", () => {
  const rules = ["accept", "reject"].map((then) => ({ when: { format: true }, then }));
  assert.equal(decide(policyOf({ rules }), factsOf(GOOD)).decision, "accept");
});

const TAGS = [
  ["de", "de"],
  ["DE-at", "de"],
  ["pt_PT", "pt"],
  ["pt_BR", "pt-BR"],
  ["pt-Latn-br", "pt-BR"],
  ["zh-Hant", "en"],
  ["", "en"],
  ["english", "en"],
  ["__proto__", "en"],
] as const;
for (const [tag, want] of TAGS) {
  test(`the language tag "${tag}" is spoken to in ${want}`, () =>
    assert.equal(languageOf(tag), want));
}

test("every reason has one line in every language, and none names a list", () => {
  const reasons = [
    "format",
    "disposable",
    "no_mail_server",
    "typo",
    "role",
    "relay",
    "alias",
    "free",
    "unknown",
    "own_reason",
  ];
  for (const language of LANGUAGES) {
    const seen = new Set<string>();
    for (const reason of reasons) {
      for (const decision of ["challenge", "review", "reject"] as const) {
        const text = messageFor({ decision, reason }, { language, meant: "jo@gmail.com" }) ?? "";
        assert.match(text, /^\S.{8,}[.?]$/u, `${language} ${reason}`);
        assert.doesNotMatch(text, /\blist|blacklist|disposable|Wegwerf|jetable/i);
        seen.add(text);
      }
    }
    assert.ok(seen.size >= 10, language);
  }
});

test("every sentence is there in every language, for a code that there is", () => {
  const codes = new Set<string>([...Object.keys(FAULT_WORDS), ...Object.keys(SLIP_WORDS)]);
  const languages: string[] = [];
  for (const [name = "", sentence] of rowsOf(TEXTS.messages)) {
    if (sentence !== undefined) {
      if (name === "pt-BR") assert.equal(languages.at(-1), "pt", sentence);
      else languages.push(name);
      continue;
    }
    for (const use of name.split(" ")) {
      const [kind = "", code = ""] = use.split(".");
      assert.match(kind, /^(?:decision|reason|review|meant|format)$/);
      assert.ok(kind !== "format" || codes.has(code), use);
    }
  }
  assert.deepEqual(languages.slice(0, LANGUAGES.length), LANGUAGES);
  assert.equal(languages.join(), Array(39).fill(LANGUAGES.join()).join());
});

test("a typo asks with the address, whatever characters it holds", () => {
  const ask = { language: "fr", meant: "a$&b@gmail.com" };
  const text = messageFor({ decision: "challenge", reason: "typo" }, ask);
  assert.equal(text, "Vouliez-vous dire a$&b@gmail.com\u00a0?");
});

test("what a region says otherwise is said so, and the rest as in its language", () => {
  const say = (reason: string, language: string): string | undefined =>
    messageFor({ decision: "reject", reason }, { language, meant: undefined });
  assert.match(say("unknown", "pt-BR") ?? "", /em alguns minutos/);
  assert.match(say("unknown", "pt") ?? "", /dentro de alguns minutos/);
  assert.equal(say("no_mail_server", "pt-BR"), say("no_mail_server", "pt"));
});

test("no language says colon for two dots, and French keeps its signs together", () => {
  for (const language of LANGUAGES) {
    const problem = { code: "domain_dots", span: undefined } as never;
    const text = messageFor(
      { decision: "reject", reason: "format" },
      { language, meant: undefined, problem },
    );
    assert.ok(text?.includes(".."), language);
  }
  for (const [name = "", text] of rowsOf(TEXTS.messages)) {
    if (name === "fr") assert.doesNotMatch(text ?? "", / [?!»]|« /);
  }
});

test("a policy's own words: the language asked for, then English, then the first", () => {
  const message = { en: "No.", "de-AT": "Na.", de: "Nein." };
  const policy = policyOf({ rules: [{ when: { role: true }, then: "reject", message }] });
  const outcome = decide(policy, factsOf({ ...GOOD, role: true }));
  const say = (language: string): string | undefined =>
    messageFor(outcome, { language, meant: undefined });
  assert.deepEqual(["de-at", "de-CH", "pl", "en-GB"].map(say), ["Na.", "Nein.", "No.", "No."]);
});

test("an accepted entry has no message", () => {
  assert.equal(
    messageFor({ decision: "accept", reason: "ok" }, { language: "en", meant: undefined }),
    undefined,
  );
});

/** Of stored policies with one rule on `role`: what an older version took. */
const STORED: readonly [what: string, document: object, rule: object, reason: string][] = [
  ["a reserved reason is the usual one", {}, { reason: "constructor" }, "role"],
  ["a message that is none is left out", {}, { message: { en: "" } }, "role"],
  ["an unknown member is passed over", { more: 1 }, { note: "x" }, "role"],
  ["a rule on an unknown fact never matches", {}, { when: { role: true, karma: 1 } }, "ok"],
  ["a rule that decides something unknown never matches", {}, { then: "tarpit" }, "ok"],
  ["an unknown end accepts", { else: "tarpit" }, { when: { role: false } }, "ok"],
];

for (const [what, document, more, reason] of STORED) {
  test(`of a stored policy ${what}`, () => {
    const rules = [{ when: { role: true }, then: "reject", ...more }];
    const read = parsePolicy({ rules, ...document }, { hasDomainAge: true });
    const policy = working(read);
    assert.ok(!read.ok && policy !== undefined);
    const decided = decide(policy, factsOf({ ...GOOD, role: true }));
    assert.deepEqual([decided.reason, decided.messages], [reason, undefined]);
  });
}
