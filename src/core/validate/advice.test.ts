import assert from "node:assert/strict";
import { test } from "node:test";
import { checkIn } from "../../../test/process/check-run.ts";
import type { Zone } from "../../../test/dns/zone-lookup.ts";
import { type Advice, advise } from "./explain.ts";
import { type Feature, FEATURES } from "../checks/registry.ts";

const D = "shop.example";
const MAIL = { mx: ["10 mx.shop.example"] };
const BASE: Zone = { [D]: MAIL, "mx.shop.example": { a: ["192.0.2.1"] } };

/** Advice on one check of one world, as `gatepost check --features` would give it. */
async function adviceOn(check: Feature, zone: Zone, dns = true): Promise<Advice> {
  const features = check === "spf" ? (["spf", "inbox_provider"] as const) : [check];
  const { fields, unavailable } = await checkIn(zone, D, features);
  const [first] = advise({ domain: D, dns, ...fields }, { features, unavailable });
  assert.ok(first !== undefined);
  return first;
}

const own = (record: string): Zone => ({ ...BASE, [D]: { ...MAIL, txt: [record] } });
const dmarc = (record: string): Zone => ({ ...BASE, [`_dmarc.${D}`]: { txt: [record] } });

const CASES: readonly [
  name: string,
  check: Feature,
  zone: Zone,
  state: Advice["state"],
  words: RegExp,
][] = [
  ["SPF that refuses", "spf", own("v=spf1 mx -all"), "good", /refused/],
  ["SPF that suspects", "spf", own("v=spf1 mx ~all"), "good", /-all instead of ~all/],
  [
    "SPF that says nothing of others",
    "spf",
    own("v=spf1 mx"),
    "warn",
    /End the SPF record in ~all/,
  ],
  ["SPF open to all", "spf", own("v=spf1 +all"), "bad", /everybody/],
  ["no SPF", "spf", BASE, "bad", /Publish one TXT record at shop\.example: v=spf1 include:/],
  [
    "no SPF at a known provider",
    "spf",
    { [D]: { mx: ["1 aspmx.l.google.com"] }, "aspmx.l.google.com": { a: ["192.0.2.1"] } },
    "bad",
    /include:_spf\.google\.com ~all/,
  ],
  [
    "SPF with a mistake names it",
    "spf",
    own("v=spf1 mx ipv4:192.0.2.1 -all"),
    "bad",
    /"ipv4:192\.0\.2\.1"/,
  ],
  [
    "SPF twice",
    "spf",
    { ...BASE, [D]: { ...MAIL, txt: ["v=spf1 -all", "v=spf1 ~all"] } },
    "bad",
    /more than one list/,
  ],
  ["SPF that redirects to nothing", "spf", own("v=spf1 redirect=gone.example"), "bad", /redirect=/],
  [
    "SPF with eleven lookups",
    "spf",
    own(`v=spf1 ${"a:x.example ".repeat(11)}-all`),
    "bad",
    /11 lookups/,
  ],
  [
    "SPF that cannot be looked up",
    "spf",
    { ...BASE, [D]: { ...MAIL, unknown: ["txt"] } },
    "unknown",
    /Try again/,
  ],
  ["no DMARC", "dmarc", BASE, "bad", /_dmarc\.shop\.example to: v=DMARC1; p=none; rua=/],
  ["DMARC with a mistake", "dmarc", dmarc("v=DMARC1; p=rejct"), "bad", /mistake/],
  ["DMARC none without reports", "dmarc", dmarc("v=DMARC1; p=none"), "warn", /Add rua=/],
  [
    "DMARC none with reports",
    "dmarc",
    dmarc("v=DMARC1; p=none; rua=mailto:a@b.example"),
    "warn",
    /p=quarantine/,
  ],
  ["DMARC for a part of the mail", "dmarc", dmarc("v=DMARC1; p=reject; pct=20"), "warn", /pct=/],
  ["DMARC in a test", "dmarc", dmarc("v=DMARC1; p=reject; t=y"), "warn", /t=y/],
  ["DMARC quarantine", "dmarc", dmarc("v=DMARC1; p=quarantine"), "good", /spam folder/],
  ["DMARC reject", "dmarc", dmarc("v=DMARC1; p=reject"), "good", /refused/],
  [
    "DKIM found",
    "dkim",
    { ...BASE, [`google._domainkey.${D}`]: { txt: ["p=abc"] } },
    "good",
    /found google/,
  ],
  ["DKIM not found", "dkim", BASE, "warn", /_domainkey\.shop\.example/],
  [
    "a young domain",
    "domain_age",
    { ...BASE, [D]: { ...MAIL, registered: "2026-11-19T00:00:00Z" } },
    "warn",
    /a day ago.*raise the volume/,
  ],
  [
    "an old domain",
    "domain_age",
    { ...BASE, [D]: { ...MAIL, registered: "2016-11-19T00:00:00Z" } },
    "good",
    /2016-11-19/,
  ],
  ["a registry that does not say", "domain_age", BASE, "unknown", /does not say/],
  ["an unknown provider", "inbox_provider", BASE, "unknown", /not kept by a provider/],
  ["a high score", "deliverability", BASE, "good", /100 of 100/],
];

for (const [name, check, zone, state, words] of CASES) {
  test(`advice: ${name}`, async () => {
    const advice = await adviceOn(check, zone);
    assert.equal(advice.check, check);
    assert.equal(advice.state, state);
    assert.match(`${advice.says} ${advice.fix ?? ""}`, words);
  });
}

test("a domain without mail gets the record that forbids all senders", async () => {
  const advice = await adviceOn("spf", {}, false);
  assert.match(advice.fix ?? "", /shop\.example: v=spf1 -all/);
  assert.match((await adviceOn("deliverability", {}, false)).fix ?? "", /MX records/);
});

test("a middling and a low score name the way up", () => {
  for (const [score, state] of [
    [79, "warn"],
    [50, "warn"],
    [49, "bad"],
  ] as const) {
    const result: Parameters<typeof advise>[0] = {
      domain: D,
      dns: true,
      deliverability_score: score,
    };
    const [advice] = advise(result, { features: ["deliverability"], unavailable: [] });
    assert.equal(advice?.state, state);
    assert.ok(advice.fix !== undefined);
  }
});

test("the spam trap stands last, with its reason", () => {
  const reason = "The domain looks like a misspelling of gmail.com.";
  const trapped: Parameters<typeof advise>[0] = {
    domain: D,
    dns: true,
    spam_trap: { is_trap: true, type: "typo", reason },
  };
  const [advice] = advise(trapped, { features: [], unavailable: [] });
  assert.deepEqual([advice?.check, advice?.state], ["spam_trap", "bad"]);
  assert.match(advice?.says ?? "", /misspelling of gmail\.com/);
});

test("every asked check gets its advice in the order asked, with and without fields", () => {
  const result: Parameters<typeof advise>[0] = { domain: D, dns: true };
  for (const unavailable of [[], FEATURES]) {
    const pieces = advise(result, { features: FEATURES, unavailable });
    assert.deepEqual(
      pieces.map(({ check }) => check),
      FEATURES,
    );
  }
});

test("nothing that DNS dictates reaches a terminal unprinted", async () => {
  const hostile = "v=spf1 \u001b[31mred\u0007\u202e -all";
  const { says } = await adviceOn("spf", own(hostile));
  assert.match(says, /^[ -~]+$/);
});
