import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { MailHosts } from "../mail/mail-hosts.ts";
import type { Dmarc } from "./dmarc/dmarc.ts";
import type { DomainAge } from "./domain-age.ts";
import type { PremiumFields } from "./registry.ts";
import type { SpfSummary } from "./spf/spf.ts";
import {
  AGE_VALUES,
  DKIM_VALUES,
  DMARC_VALUES,
  scoreOf,
  SPF_VALUES,
  WEIGHTS,
} from "./deliverability.ts";

const HOSTS: MailHosts = { kind: "hosts", hosts: ["mx.example"], implicit: false };
const IMPLICIT: MailHosts = { ...HOSTS, implicit: true };
const NONE: MailHosts = { kind: "none", why: "noMx" };

function dmarc(policy: Dmarc["policy"], more: Partial<Dmarc> = {}, tags = ""): Dmarc {
  const record = `v=DMARC1; p=${policy}${tags}`;
  return { policy, record, subdomain_policy: policy, pct: 100, ...more };
}

function age(days: number): DomainAge {
  return { registered: "2020-01-01", age_days: days, fresh: days < 30 };
}

const BEST: PremiumFields = {
  email_auth: { spf: "hardfail", dkim_configured: true, dmarc: dmarc("reject") },
  domain_age: age(4_000),
};
const RUA = { rua: "mailto:d@shop.example" };

const CASES: readonly [
  name: string,
  mail: MailHosts,
  fields: PremiumFields,
  want: number | undefined,
][] = [
  ["everything at its best is 100", HOSTS, BEST, 100],
  ["no mail host gives 0", NONE, BEST, 0],
  ["null MX is 0", { kind: "none", why: "nullMx" }, BEST, 0],
  [
    "an address record alone counts as a mail host only with the setting",
    { kind: "none", why: "implicitMx" },
    BEST,
    0,
  ],
  ["an implicit mail host counts half", IMPLICIT, BEST, 85],
  ["inconclusive DNS gives no score", { kind: "unknown" }, BEST, undefined],
  ["asked alone it is the mail host's", HOSTS, {}, 100],
  ["asked alone, implicit", IMPLICIT, {}, 50],
  ["one input more is weighed against the mail host", HOSTS, { email_auth: { spf: "none" } }, 60],
  ["+all is worth no more than no record", HOSTS, { email_auth: { spf: "pass" } }, 60],
  ["neutral SPF", HOSTS, { email_auth: { spf: "neutral" } }, 76],
  [
    "no DKIM found keeps a quarter, for selectors may be secret",
    HOSTS,
    { email_auth: { dkim_configured: false } },
    70,
  ],
  ["no DMARC record", HOSTS, { email_auth: { dmarc: { policy: "none" } } }, 60],
  [
    "a DMARC record that receivers pass over",
    HOSTS,
    { email_auth: { dmarc: { policy: "none", record: "v=DMARC1; p=x" } } },
    60,
  ],
  ["DMARC none", HOSTS, { email_auth: { dmarc: dmarc("none") } }, 76],
  ["DMARC none with reports", HOSTS, { email_auth: { dmarc: dmarc("none", RUA) } }, 80],
  [
    "DMARC reject for half of the messages",
    HOSTS,
    { email_auth: { dmarc: dmarc("reject", { pct: 50 }) } },
    96,
  ],
  [
    "DMARC reject in a test, which is quarantine",
    HOSTS,
    { email_auth: { dmarc: dmarc("quarantine", {}, "; t=y") } },
    92,
  ],
  ["six days old", HOSTS, { domain_age: age(6) }, 75],
  ["seven days old", HOSTS, { domain_age: age(7) }, 80],
  ["29 days old", HOSTS, { domain_age: age(29) }, 80],
  ["30 days old", HOSTS, { domain_age: age(30) }, 88],
  ["a year old", HOSTS, { domain_age: age(365) }, 100],
];

for (const [name, mail, fields, want] of CASES) {
  test(`deliverability score: ${name}`, () => {
    assert.equal(scoreOf(mail, fields), want);
  });
}

/** Every input from its worst value to its best; undefined is "not asked". */
const MAILS: readonly MailHosts[] = [NONE, IMPLICIT, HOSTS];
const SPFS: readonly (SpfSummary | undefined)[] = [
  undefined,
  "none",
  "pass",
  "neutral",
  "softfail",
  "hardfail",
];
const DKIMS: readonly (boolean | undefined)[] = [undefined, false, true];
const DMARCS: readonly (Dmarc | undefined)[] = [
  undefined,
  { policy: "none" },
  dmarc("none"),
  dmarc("none", RUA),
  dmarc("quarantine", { ...RUA, pct: 10 }),
  dmarc("quarantine", { ...RUA, pct: 60 }),
  dmarc("quarantine", RUA),
  dmarc("reject", { ...RUA, pct: 50 }),
  dmarc("reject", RUA),
];
const AGES = [undefined, 0, 7, 30, 90, 180, 365].map((days) =>
  days === undefined ? days : age(days),
);

function fieldsOf(spf: number, dkim: number, policy: number, days: number): PremiumFields {
  const auth: Record<string, unknown> = {
    spf: SPFS[spf],
    dkim_configured: DKIMS[dkim],
    dmarc: DMARCS[policy],
  };
  const known = Object.entries(auth).filter(([, value]) => value !== undefined);
  const domainAge = AGES[days];
  return {
    email_auth: Object.fromEntries(known) as NonNullable<PremiumFields["email_auth"]>,
    ...(domainAge === undefined ? {} : { domain_age: domainAge }),
  };
}

/** Every cell of a table with this many values in each column. */
function combinations(sizes: readonly number[]): readonly (readonly number[])[] {
  return sizes.reduce<readonly (readonly number[])[]>(
    (rows, size) =>
      rows.flatMap((row) => Array.from({ length: size }, (_, value) => [...row, value])),
    [[]],
  );
}

const score = ([mail = 0, spf = 0, dkim = 0, policy = 0, days = 0]: readonly number[]): number =>
  scoreOf(MAILS[mail] ?? NONE, fieldsOf(spf, dkim, policy, days)) ?? -1;

test("improving any one input never lowers the score, over every combination", () => {
  const sizes = [MAILS.length, SPFS.length, DKIMS.length, DMARCS.length, AGES.length];
  const all = combinations(sizes);
  assert.equal(all.length, 3 * 6 * 3 * 9 * 7);
  for (const row of all) {
    const base = score(row);
    assert.ok(Number.isInteger(base) && base >= 0 && base <= 100);
    for (const [column, value] of row.entries()) {
      const asked = column === 0 || value > 0; // from "not asked" to "asked" is another question, not a better answer
      if (!asked || value + 1 >= (sizes[column] ?? 0)) continue;
      const better = score(row.with(column, value + 1));
      assert.ok(better >= base, `${JSON.stringify(row)} column ${column}: ${base} then ${better}`);
    }
  }
});

test("a higher pct never lowers the score", () => {
  const scoreWith = (one: Dmarc): number => scoreOf(HOSTS, { email_auth: { dmarc: one } }) ?? -1;
  for (const policy of ["none", "quarantine", "reject"] as const) {
    for (const more of [{}, RUA]) {
      for (let pct = 1; pct <= 100; pct += 1) {
        const less = scoreWith(dmarc(policy, { ...more, pct: pct - 1 }));
        assert.ok(scoreWith(dmarc(policy, { ...more, pct })) >= less);
      }
    }
  }
});

test("docs/premium.md names every weight and value", () => {
  const page = readFileSync("docs/premium.md", "utf8");
  const rowsOf = (title: string): string =>
    page.slice(page.indexOf(`### ${title}`)).split("\n\n")[1] ?? "";
  const value = (rows: string, label: string): number =>
    Number(new RegExp(`^\\| *${label} *\\| *([\\d.]+) *\\|$`, "m").exec(rows)?.[1]);
  const weights = rowsOf("Weights");
  const names = { mx: "Mail host", spf: "SPF", dkim: "DKIM", dmarc: "DMARC", age: "Domain age" };
  for (const [key, label] of Object.entries(names)) {
    assert.equal(value(weights, label), WEIGHTS[key as keyof typeof WEIGHTS], label);
  }
  const spf = rowsOf("SPF");
  for (const [summary, want] of Object.entries(SPF_VALUES))
    assert.equal(value(spf, `\`${summary}\``), want);
  const dkim = rowsOf("DKIM");
  assert.deepEqual(
    [value(dkim, "Found"), value(dkim, "Not found")],
    [DKIM_VALUES.found, DKIM_VALUES.notFound],
  );
  const policies = rowsOf("DMARC");
  const { noneWithReports, noRecord, ...plain } = DMARC_VALUES;
  for (const [policy, want] of Object.entries(plain))
    assert.equal(value(policies, `\`${policy}\``), want);
  assert.equal(value(policies, "`none` with `rua`"), noneWithReports);
  assert.equal(value(policies, "No record"), noRecord);
  const ages = rowsOf("Domain age");
  for (const [days, want] of AGE_VALUES) assert.equal(value(ages, `Under ${days} days`), want);
});
