import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsIn } from "../../../../test/process/check-run.ts";
import type { Zone } from "../../../../test/dns/zone-lookup.ts";
import type { Dmarc } from "./dmarc.ts";

const D = "shop.example";

async function dmarcOf(zone: Zone, domain = D): Promise<Dmarc | "unavailable" | undefined> {
  const fields = await fieldsIn(zone, domain, ["dmarc"]);
  return fields === "unavailable" ? fields : fields.email_auth?.dmarc;
}

const RUA = "rua=mailto:d@shop.example";
const ABSENT: Dmarc = { policy: "none" };

/** policy, subdomain_policy, pct, and whether rua is there; or the whole of it. */
type Want = readonly [string, string | undefined, number | undefined, boolean] | Dmarc;

const OWN: readonly [name: string, record: string, want: Want][] = [
  ["4.7: p alone, and the defaults", "v=DMARC1; p=reject", ["reject", "reject", 100, false]],
  [
    "4.7: the name of the version in capitals",
    "V=DMARC1; p=reject",
    ["reject", "reject", 100, false],
  ],
  ["4.7: no p counts as none", "v=DMARC1", ["none", "none", 100, false]],
  ["4.7: no p beside sp", `v=DMARC1; sp=reject; ${RUA}`, ["none", "reject", 100, true]],
  ["4.7: sp of its own", "v=DMARC1; p=none; sp=quarantine", ["none", "quarantine", 100, false]],
  ["4.7: rua is shown", `v=DMARC1; p=quarantine; ${RUA}`, ["quarantine", "quarantine", 100, true]],
  ["4.7: an empty rua counts as none", "v=DMARC1; p=none; rua=", ["none", "none", 100, false]],
  [
    "4.7: blanks around everything",
    "v = DMARC1 ;  p = reject ;sp= none ; ",
    ["reject", "none", 100, false],
  ],
  ["4.7: no blanks at all", "v=DMARC1;p=reject;sp=none", ["reject", "none", 100, false]],
  [
    "4.7: policies are not case-sensitive",
    "v=DMARC1; p=Reject; sp=NONE",
    ["reject", "none", 100, false],
  ],
  ["4.7: the version is case-sensitive", "v=dmarc1; p=reject", ABSENT],
  ["4.7: the version comes first", "p=reject; v=DMARC1", ABSENT],
  ["4.7: another version", "v=DMARC10; p=reject", ABSENT],
  ["4.7: a version parted by a blank instead of ';'", "v=DMARC1 p=reject", ABSENT],
  [
    "4.7: unknown tags are passed over",
    "v=DMARC1; p=reject; foo=bar; ri=3600; rf=afrf",
    ["reject", "reject", 100, false],
  ],
  [
    "4.7: a broken piece is passed over",
    "v=DMARC1; p=reject; nonsense; sp=none",
    ["reject", "none", 100, false],
  ],
  [
    "4.7: of a repeated tag the first counts",
    "v=DMARC1; p=reject; p=none",
    ["reject", "reject", 100, false],
  ],
  [
    "4.7: t=y leaves the policy as published",
    "v=DMARC1; p=reject; t=y",
    ["reject", "reject", 100, false],
  ],
  [
    "4.7: np says nothing of the domain itself",
    "v=DMARC1; p=none; np=reject",
    ["none", "none", 100, false],
  ],
  [
    "4.7: psd=y at the domain itself: its p counts",
    "v=DMARC1; p=reject; psd=y",
    ["reject", "reject", 100, false],
  ],
  ["A.6: pct is still read", "v=DMARC1; p=reject; pct=25", ["reject", "reject", 25, false]],
  ["A.6: pct=0", "v=DMARC1; p=reject; pct=0", ["reject", "reject", 0, false]],
  [
    "A.6: pct beyond 100 counts as 100",
    "v=DMARC1; p=reject; pct=101",
    ["reject", "reject", 100, false],
  ],
  [
    "A.6: pct that is not a number counts as 100",
    "v=DMARC1; p=reject; pct=half",
    ["reject", "reject", 100, false],
  ],
  [
    "4.10.1: a broken p with rua counts as none",
    `v=DMARC1; p=rejct; sp=reject; ${RUA}`,
    ["none", "none", 100, true],
  ],
  [
    "4.10.1: a broken sp with rua makes all of it none",
    `v=DMARC1; p=reject; sp=all; ${RUA}`,
    ["none", "none", 100, true],
  ],
  [
    "4.10.1: a broken np with rua makes all of it none",
    `v=DMARC1; p=reject; np=1; ${RUA}`,
    ["none", "none", 100, true],
  ],
  [
    "4.10.1: a broken p without rua is not DMARC",
    "v=DMARC1; p=rejct",
    { policy: "none", record: "v=DMARC1; p=rejct" },
  ],
  [
    "4.10.1: a broken p with a broken rua is not DMARC",
    "v=DMARC1; p=x; rua=shop",
    { policy: "none", record: "v=DMARC1; p=x; rua=shop" },
  ],
  [
    "4.10.1: a p that HTML broke",
    "v=DMARC1; p=<b>reject</b>",
    { policy: "none", record: "v=DMARC1; p=<b>reject</b>" },
  ],
];

for (const [name, record, want] of OWN) {
  test(`DMARC, RFC 9989 section ${name}`, async () => {
    const got = await dmarcOf({ [`_dmarc.${D}`]: { txt: [record] } });
    if (!Array.isArray(want)) return assert.deepEqual(got, want);
    const { policy, subdomain_policy, pct, rua }: Partial<Dmarc> = Object(got);
    assert.deepEqual([policy, subdomain_policy, pct, rua !== undefined], want);
  });
}

const MX = { mx: ["10 mx.example"] };
const HOST = { "mx.example": { a: ["192.0.2.1"] } };
const REJECT = "v=DMARC1; p=reject";

/** Worlds, the domain asked about, and the policy that applies to it. */
const WORLDS: readonly [name: string, zone: Zone, domain: string, want: string][] = [
  ["4.10: nothing anywhere", {}, D, "none"],
  [
    "4.10: two records count as none",
    { [`_dmarc.${D}`]: { txt: [REJECT, "v=DMARC1; p=none"] } },
    D,
    "none",
  ],
  [
    "4.10: two records send the walk on",
    {
      [`_dmarc.a.${D}`]: { txt: [REJECT, REJECT] },
      [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=quarantine"] },
    },
    `a.${D}`,
    "quarantine",
  ],
  [
    "4.10: other texts beside the record do not count",
    { [`_dmarc.${D}`]: { txt: ["v=spf1 -all", REJECT, "x"] } },
    D,
    "reject",
  ],
  ["4.10: a failed question is unknown", { [`_dmarc.${D}`]: { unknown: true } }, D, "unavailable"],
  [
    "4.10: a failed question on the way up is unknown",
    { [`_dmarc.example`]: { unknown: true } },
    D,
    "unavailable",
  ],
  [
    "4.10.1: the domain's own record ends the walk",
    { [`_dmarc.a.${D}`]: { txt: ["v=DMARC1; p=none"] }, [`_dmarc.${D}`]: { txt: [REJECT] } },
    `a.${D}`,
    "none",
  ],
  [
    "4.10.1: an inherited record's sp counts",
    { [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=none; sp=reject"] } },
    `a.${D}`,
    "reject",
  ],
  ["4.10.1: without sp its p counts", { [`_dmarc.${D}`]: { txt: [REJECT] } }, `a.${D}`, "reject"],
  [
    "4.10.1: np counts for a name that does not exist",
    { [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=none; np=reject"] } },
    `a.${D}`,
    "reject",
  ],
  [
    "4.10.1: np does not count for a name with mail",
    { [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=none; np=reject"] }, [`a.${D}`]: MX, ...HOST },
    `a.${D}`,
    "none",
  ],
  [
    "3.2: an address record alone makes a name exist",
    { [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=none; np=reject"] }, [`a.${D}`]: { a: ["192.0.2.9"] } },
    `a.${D}`,
    "none",
  ],
  [
    "3.2: so does an address that mail cannot reach",
    { [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=none; np=reject"] }, [`a.${D}`]: { a: ["127.0.0.1"] } },
    `a.${D}`,
    "none",
  ],
  [
    "3.2: a null MX alone makes a name exist",
    {
      [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=none; np=reject"] },
      [`a.${D}`]: { mx: ["0 ."] },
    },
    `a.${D}`,
    "none",
  ],
  [
    "3.2: a TXT record alone does not",
    { [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=none; np=reject"] }, [`a.${D}`]: { txt: ["x"] } },
    `a.${D}`,
    "reject",
  ],
  [
    "3.2: DNS did not say whether it exists",
    { [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=none; np=reject"] }, [`a.${D}`]: { unknown: ["mx"] } },
    `a.${D}`,
    "unavailable",
  ],
  [
    "3.2: whether it exists does not matter without np",
    { [`_dmarc.${D}`]: { txt: [REJECT] }, [`a.${D}`]: { unknown: ["mx"] } },
    `a.${D}`,
    "reject",
  ],
  [
    "4.10.2: the highest record is the organization's",
    { "_dmarc.example": { txt: ["v=DMARC1; p=quarantine"] }, [`_dmarc.${D}`]: { txt: [REJECT] } },
    `a.${D}`,
    "quarantine",
  ],
  [
    "4.10.2: psd=n ends the walk",
    {
      "_dmarc.example": { txt: ["v=DMARC1; p=none"] },
      [`_dmarc.${D}`]: { txt: ["v=DMARC1; p=reject; psd=n"] },
    },
    `a.${D}`,
    "reject",
  ],
  [
    "4.10.2: under psd=y the organization's record counts",
    { "_dmarc.example": { txt: ["v=DMARC1; p=none; psd=y"] }, [`_dmarc.${D}`]: { txt: [REJECT] } },
    `a.${D}`,
    "reject",
  ],
  [
    "4.10.2: without one the registry's counts (RFC 9091)",
    { "_dmarc.example": { txt: ["v=DMARC1; p=none; sp=quarantine; psd=y"] } },
    `a.${D}`,
    "quarantine",
  ],
  [
    "4.10.2: a registry's np for a missing name (RFC 9091)",
    { "_dmarc.example": { txt: ["v=DMARC1; p=none; np=reject; psd=y"] } },
    `a.${D}`,
    "reject",
  ],
  [
    "4.10.2: a record between the two does not count",
    {
      "_dmarc.example": { txt: ["v=DMARC1; p=none; psd=y"] },
      [`_dmarc.b.${D}`]: { txt: [REJECT] },
    },
    `a.b.${D}`,
    "none",
  ],
];

for (const [name, zone, domain, want] of WORLDS) {
  test(`DMARC, RFC 9989 section ${name}`, async () => {
    const got = await dmarcOf(zone, domain);
    assert.equal(typeof got === "object" ? got.policy : got, want);
  });
}
