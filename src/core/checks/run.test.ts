import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkDeps, checkIn, domainOf } from "../../../test/process/check-run.ts";
import { type Zone, zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { FEATURES, type Feature } from "./registry.ts";
import { selectorsFor } from "./dkim/dkim.ts";
import { NOTHING_ASKED, QUESTIONS_MAX, runChecks } from "./run.ts";

const D = "shop.example";
const KEY = "v=DKIM1; k=rsa; p=MIGfMA0=";

const GOOD: Zone = {
  [D]: {
    mx: ["10 aspmx.l.google.com"],
    txt: ["v=spf1 include:_spf.google.com -all"],
    registered: "2020-01-01T00:00:00Z",
  },
  "aspmx.l.google.com": { a: ["192.0.2.1"] },
  [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=reject; rua=mailto:d@shop.example"] },
  [`google._domainkey.${D}`]: { txt: [KEY] },
};

/** Questions on the wire: an address question is two. */
const questionsIn = (asked: readonly string[]): number =>
  asked.reduce((sum, line) => {
    if (line.startsWith("registration ")) return sum;
    return sum + (line.startsWith("addresses ") ? 2 : 1);
  }, 0);

test("all fields, in the contract's order", async () => {
  const { fields, unavailable, freshDomain } = await checkIn(GOOD, D, FEATURES);
  assert.equal(
    JSON.stringify(fields),
    JSON.stringify({
      email_auth: {
        spf: "hardfail",
        spf_record: "v=spf1 include:_spf.google.com -all",
        dmarc: {
          policy: "reject",
          record: "v=DMARC1; p=reject; rua=mailto:d@shop.example",
          subdomain_policy: "reject",
          pct: 100,
          rua: "mailto:d@shop.example",
        },
        dkim_configured: true,
        dkim_selectors_found: ["google"],
      },
      domain_age: { registered: "2020-01-01", age_days: 2515, fresh: false },
      inbox_provider: "Google Workspace",
      deliverability_score: 100,
    }),
  );
  assert.deepEqual(unavailable, []);
  assert.equal(freshDomain, false);
});

test("what could not finish is named in the order it was asked, and the rest is there", async () => {
  const zone: Zone = {
    ...GOOD,
    [D]: { ...GOOD[D], unknown: ["txt", "registration"] },
    [`_dmarc.${D}`]: { unknown: true },
  };
  const asked: Feature[] = ["domain_age", "dmarc", "dkim", "deliverability", "spf"];
  const { fields, unavailable } = await checkIn(zone, D, asked);
  assert.deepEqual(unavailable, ["domain_age", "dmarc", "spf"]);
  assert.deepEqual(fields, {
    email_auth: { dkim_configured: true, dkim_selectors_found: ["google"] },
    deliverability_score: 100,
  });
});

test("while DNS does not say where mail goes there is no score and no provider", async () => {
  const zone: Zone = { [D]: { unknown: true } };
  const { fields, unavailable } = await checkIn(zone, D, ["inbox_provider", "deliverability"]);
  assert.deepEqual([fields, unavailable], [{}, ["inbox_provider", "deliverability"]]);
});

test("a fresh domain reaches the verdict", async () => {
  const zone: Zone = { [D]: { registered: "2026-11-10T00:00:00Z" } };
  assert.equal((await checkIn(zone, D, ["domain_age"])).freshDomain, true);
  assert.equal((await checkIn(zone, D, ["spf"])).freshDomain, false);
});

test("each question is asked once for all checks together", async () => {
  const zone: Zone = {
    [D]: { mx: ["10 mx1.pphosted.com"], txt: ["v=spf1 include:spf.protection.outlook.com -all"] },
    "mx1.pphosted.com": { a: ["192.0.2.1"] },
  };
  const { fields, asked } = await checkIn(zone, D, FEATURES);
  assert.equal(fields.inbox_provider, "Microsoft 365");
  assert.equal(new Set(asked).size, asked.length);
  assert.equal(asked.filter((line) => line === `txt ${D}`).length, 1);
});

test("a usual domain with nothing set up costs at most 38 questions", async () => {
  const { asked } = await checkIn({ [D]: { mx: [`10 ${D}`], a: ["192.0.2.1"] } }, D, FEATURES);
  // One SPF, one DMARC a label, the wildcard and every selector.
  assert.equal(questionsIn(asked), 1 + 2 + 1 + selectorsFor(undefined).length);
});

/** Ten redirects, a name of twelve labels, and a policy that hangs on whether the name exists. */
function costly(): readonly [Zone, string] {
  const name = `a.b.c.d.e.f.g.h.i.j.${D}`;
  const zone: Record<string, Zone[string]> = {
    "_dmarc.example": { txt: ["v=DMARC1; p=none; np=reject; psd=y"] },
    [name]: { txt: ["v=spf1 redirect=hop1.example"], a: ["10.0.0.1"] },
  };
  for (let hop = 1; hop <= 12; hop += 1) {
    zone[`hop${hop}.example`] = { txt: [`v=spf1 redirect=hop${hop + 1}.example`] };
  }
  return [zone, name];
}

test("the costliest domain stays within the 42 questions, and the probes yield", async () => {
  const [zone, name] = costly();
  for (const features of [FEATURES, [...FEATURES].reverse()]) {
    const { asked, unavailable } = await checkIn(zone, name, features);
    assert.equal(questionsIn(asked), QUESTIONS_MAX);
    assert.deepEqual(unavailable, []);
    const probed = asked.filter((line) => line.includes("._domainkey."));
    assert.ok(probed.length >= 21, `the sure selectors are probed: ${probed.length}`);
  }
});

test("special-use names are never asked in DNS", async () => {
  const { fields, asked } = await checkIn({}, "printer.local", FEATURES);
  assert.deepEqual(asked, []);
  assert.deepEqual(fields, {
    email_auth: {
      spf: "none",
      dmarc: { policy: "none" },
      dkim_configured: false,
      dkim_selectors_found: [],
    },
    deliverability_score: 0,
  });
});

test("nothing asked asks nothing", async () => {
  const lookup = zoneLookup(GOOD);
  const subject = { domain: domainOf(D), mail: { kind: "unknown" } } as const;
  const asked = { features: [], spamTrap: false };
  assert.deepEqual(await runChecks(asked, subject, checkDeps(lookup)), NOTHING_ASKED);
  assert.deepEqual(lookup.asked, []);
});

test("the spam trap comes first and asks no one", async () => {
  const lookup = zoneLookup(GOOD);
  const subject = { domain: domainOf(D), mail: { kind: "unknown" } } as const;
  const deps = checkDeps(lookup);
  const trapOnly = await runChecks({ features: [], spamTrap: true }, subject, deps);
  assert.deepEqual(trapOnly.fields, { spam_trap: { is_trap: false, type: null, reason: null } });
  assert.deepEqual(lookup.asked, []);
  const both = await runChecks({ features: ["spf"], spamTrap: true }, subject, deps);
  assert.deepEqual(Object.keys(both.fields), ["spam_trap", "email_auth"]);
});

test("a fault in a lookup is a fault, not an answer", async () => {
  const lookup = { ...zoneLookup(GOOD), txt: () => Promise.reject(new Error("bug")) };
  const subject = { domain: domainOf(D), mail: { kind: "unknown" } } as const;
  const asked = { features: FEATURES, spamTrap: false };
  await assert.rejects(Promise.resolve(runChecks(asked, subject, checkDeps(lookup))), /bug/);
});

test("a registry that takes its time keeps only the score waiting", async () => {
  const zone = zoneLookup(GOOD);
  let answer = (): void => undefined;
  const registration: typeof zone.registration = () =>
    new Promise((resolve) => {
      answer = () => void Promise.resolve(zone.registration(D)).then(resolve);
    });
  const subject = { domain: domainOf(D), mail: { kind: "none", why: "noMx" } } as const;
  const running = runChecks(
    { features: FEATURES, spamTrap: false },
    subject,
    checkDeps({ ...zone, registration }),
  );
  const probed = (): number => zone.asked.filter((line) => line.includes("._domainkey.")).length;
  for (let turn = 0; turn < 50 && probed() < 35; turn += 1) {
    await new Promise((resolve) => void setImmediate(resolve));
  }
  assert.equal(probed(), 35);
  answer();
  assert.equal((await running).fields.domain_age?.registered, "2020-01-01");
});

test("docs/premium.md has a row for every check, and the number of questions of all", () => {
  const page = readFileSync("docs/premium.md", "utf8");
  const table = page.slice(page.indexOf("## DNS questions of each check")).split("\n\n")[1] ?? "";
  const named = [...table.matchAll(/^\| *`(\w+)`/gm)].map(([, name]) => name);
  assert.deepEqual(named, FEATURES);
  assert.match(page, new RegExp(`at most ${String(QUESTIONS_MAX)} questions`));
});
