import assert from "node:assert/strict";
import { test } from "node:test";
import { type LiteralKnowledge, literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { type Signal, SIGNALS } from "../evidence/signals.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";
import { DEFAULT_POLICY } from "../policy/default-policy.ts";
import { policyFacts } from "../policy/conditions.ts";
import { decide } from "../policy/policy.ts";
import { validationOf, type Validation } from "./validate.ts";

const KNOWN: LiteralKnowledge = {
  curated: ["thrown.example", "gmial.com"],
  first: ["first.example", "junk-first.example", "outlok.com", "cock.li"],
  second: ["first.example"],
  weak: ["weak.example", "both.example"],
  doubtful: ["doubtful.example", "both.example", "junk-doubtful.example"],
  families: ["family.example"],
  knownGood: ["good.example"],
  mailServers: { "in.dedicated.example": "dedicated", "in.shared.example": "shared" },
  domains: { "denied.example": "deny", "allowed.example": "allow" },
  addresses: { "known@shop.example": "account" },
};

/** One name and one address at least for each signal that speaks against an entry. */
const ENTRIES = [
  "jo@shop.example",
  "jo@thrown.example",
  "jo@a.thrown.example",
  "jo@new.family.example",
  "jo@first.example",
  "jo@junk-first.example",
  "jo@weak.example",
  "jo@doubtful.example",
  "jo@junk-doubtful.example",
  "jo@both.example",
  "jo@cock.li",
  "jo@a.first.example",
  "jo@tempmail.example",
  "jo@junk-shop.example",
  "jo@notgmail.example",
  "jo@shop.dpdns.org",
  "jo@shop.my.id",
  "jo@gmial.com",
  "jo@outlok.com",
  "jo@gmaill.com",
  "jo@good.example",
  "jo@denied.example",
  "jo@allowed.example",
  "known@shop.example",
  "a.b.c.d.e@gmail.com",
  "jo+tag@shop.example",
  "jo@duck.com",
];

const hosts = (names: readonly string[], implicit = false): MailHosts => ({
  kind: "hosts",
  hosts: names,
  implicit,
  addresses: ["203.0.113.5"],
});

/** Everything that DNS may say of mail. */
const ANSWERS: readonly MailHosts[] = [
  hosts(["mx.nobody.example"]),
  hosts(["smtp.google.com"]),
  hosts(["shop-example.mail.protection.outlook.com"]),
  hosts(["mx.thrown.example"]),
  hosts(["in.dedicated.example"]),
  hosts(["in.shared.example"]),
  hosts(["mx1.simplelogin.co"]),
  hosts(["route1.mx.cloudflare.net"]),
  hosts(["mx1.mail.icloud.com", "mx.thrown.example"]),
  hosts(["shop.example"], true),
  { kind: "none", why: "noMx" },
  { kind: "none", why: "nullMx" },
  { kind: "none", why: "implicitMx" },
  { kind: "none", why: "unresolvable" },
];

const WEIGHTY = (Object.keys(SIGNALS) as Signal[]).filter((name) => SIGNALS[name].weight > 0);

const datasets = literalDatasets(KNOWN);

const checked = (text: string, mail: MailHosts): Validation =>
  validationOf(
    {
      text,
      mode: "address",
      asked: { features: [], spamTrap: false },
      nowMs: 0,
      implicitMx: false,
    },
    mail,
    datasets,
  );

const SEVERITY = ["accept", "challenge", "review", "reject"];

const severityOf = (validation: Validation): number =>
  SEVERITY.indexOf(
    decide(DEFAULT_POLICY, { checked: policyFacts(validation, datasets), caller: new Map() })
      .decision,
  );

const seen = new Set<Signal>();

for (const text of ENTRIES) {
  test(`silence of DNS never makes it worse: ${text}`, () => {
    const silent = checked(text, { kind: "unknown" });
    for (const mail of ANSWERS) {
      const answered = checked(text, mail);
      for (const { signal } of answered.evidence) seen.add(signal);
      const case_ = `${JSON.stringify(mail)}: ${silent.result.signals.join(" ")}`;
      assert.ok(silent.result.confidence <= answered.result.confidence, case_);
      assert.ok(!silent.result.disposable || answered.result.disposable, case_);
      assert.ok(severityOf(silent) <= severityOf(answered), case_);
    }
  });
}

test("the entries and answers above show every signal of lists, rules and DNS that has a weight", () => {
  const elsewhere: readonly string[] = ["fresh_domain"];
  const missing = WEIGHTY.filter((name) => !seen.has(name) && !elsewhere.includes(name));
  assert.deepEqual(missing, []);
});
