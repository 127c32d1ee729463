import assert from "node:assert/strict";
import { test } from "node:test";
import { BITS } from "../../../test/lists/literal-datasets.ts";
import type { Signal } from "./signals.ts";
import { excuse } from "./verdict.ts";
import { THROWN, evidenceOf, table } from "../../../test/lists/evidence-table.ts";

table("lists", [
  {
    name: "a list that is off gives no evidence, to names below it neither",
    domain: "mail.thrown.example",
    known: { ...THROWN, first: ["thrown.example"], feedsOff: ["curated"] },
    want: ["blacklist_single 0.8 thrown.example"],
  },
  {
    name: "a family of a list that is off is none",
    domain: "x.house.example",
    known: { families: ["house.example"], feedsOff: ["curated"] },
    want: [],
  },
  {
    name: "a curated list is enough",
    domain: "thrown.example",
    known: THROWN,
    want: ["blacklist_exact 1 thrown.example"],
  },
  {
    name: "two uncurated lists copy each other and count as one",
    domain: "a.example",
    known: { first: ["a.example"], second: ["a.example"] },
    want: ["blacklist_single 0.8 a.example"],
  },
  {
    name: "weak lists alone never decide",
    domain: "a.example",
    known: { weak: ["a.example"] },
    want: ["blacklist_single 0.4 a.example"],
  },
  {
    name: "a doubtful list alone never decides",
    domain: "a.example",
    mx: ["mx.a.example"],
    known: { doubtful: ["a.example"] },
    want: ["blacklist_single 0.4 a.example"],
  },
  {
    name: "a doubtful list and a weak one decide together",
    domain: "a.example",
    known: { doubtful: ["a.example"], weak: ["a.example"] },
    want: ["blacklist_single 0.8 a.example"],
  },
  {
    name: "a doubtful list whose second is off is alone",
    domain: "a.example",
    known: { doubtful: ["a.example"], weak: ["a.example"], feedsOff: ["weak"] },
    want: ["blacklist_single 0.4 a.example"],
  },
  {
    name: "uncurated lists are in doubt while the mail hosts are unknown",
    domain: "a.example",
    mx: "unknown",
    known: { first: ["a.example"], second: ["a.example"] },
    want: ["blacklist_single 0.4 a.example"],
  },
  {
    name: "a curated list is enough while the mail hosts are unknown",
    domain: "thrown.example",
    mx: "unknown",
    known: THROWN,
    want: ["blacklist_exact 1 thrown.example"],
  },
  {
    name: "a weak list beside an uncurated one takes nothing from it",
    domain: "a.example",
    known: { first: ["a.example"], weak: ["a.example"] },
    want: ["blacklist_single 0.8 a.example"],
  },
  {
    name: "a weak hit on the name itself gives way to an uncurated one on its parent",
    domain: "x.a.example",
    known: { first: ["a.example"], weak: ["x.a.example"] },
    want: ["blacklist_single 0.8 a.example"],
  },
  {
    name: "a name beside three listed ones belongs to their family",
    domain: "new.service.example",
    known: { families: ["service.example"] },
    want: ["blacklist_parent 0.95 service.example"],
  },
  {
    name: "the registrable domain of a family is not accused by it",
    domain: "service.example",
    known: { families: ["service.example"] },
    want: [],
  },
  {
    name: "a known-good registrable domain makes no family",
    domain: "new.service.example",
    known: { families: ["service.example"], knownGood: ["service.example"] },
    want: [],
  },
  {
    name: "the operator allows a family's registrable domain",
    domain: "new.service.example",
    known: { families: ["service.example"], domains: { "service.example": "allow" } },
    want: [],
  },
  {
    name: "a name in other letters that looks like a listed one",
    domain: "xn--ypmail-wqf.com",
    known: { curated: ["yopmail.com"] },
    want: ["blacklist_exact 1 yopmail.com"],
  },
  {
    name: "a host of lasting anonymous mailboxes is no throw-away service",
    domain: "cock.li",
    known: { curated: ["cock.li"] },
    want: ["blacklist_single 0.8 cock.li"],
  },
  {
    name: "the operator's word is enough",
    domain: "a.example",
    known: { domains: { "a.example": "deny" } },
    want: ["blacklist_exact 1 a.example"],
  },
  {
    name: "one uncurated list is less",
    domain: "a.example",
    known: { first: ["a.example"] },
    want: ["blacklist_single 0.8 a.example"],
  },
  {
    name: "one uncurated list against a large mailbox provider is little",
    domain: "a.example",
    mx: ["a-example.mail.protection.outlook.com"],
    known: { second: ["a.example"] },
    want: ["blacklist_single 0.4 a.example"],
  },
  {
    name: "a large mailbox provider behind another host excuses nothing",
    domain: "a.example",
    mx: ["mx.a.example", "aspmx.l.google.com"],
    known: { second: ["a.example"] },
    want: ["blacklist_single 0.8 a.example"],
  },
  {
    name: "a gateway in front is no large mailbox provider",
    domain: "a.example",
    mx: ["mx1.a.iphmx.com"],
    known: { second: ["a.example"] },
    want: ["blacklist_single 0.8 a.example"],
  },
  {
    name: "a name below a listed one",
    domain: "x.y.thrown.example",
    known: THROWN,
    want: ["blacklist_parent 0.95 thrown.example"],
  },
  {
    name: "a listed name between the domain and its registrable one",
    domain: "x.y.mixed.example",
    known: { curated: ["y.mixed.example"] },
    want: ["blacklist_parent 0.95 y.mixed.example"],
  },
  {
    name: "labels, not letters, make a parent",
    domain: "notthrown.example",
    known: THROWN,
    want: [],
  },
  {
    name: "a listed child says nothing of its parent",
    domain: "example.com",
    known: { curated: ["a.example.com"] },
    want: [],
  },
  {
    name: "the nearest single hit above, when nothing is stronger",
    domain: "x.a.example",
    known: { first: ["a.example"] },
    want: ["blacklist_single 0.8 a.example"],
  },
  {
    name: "a strong parent beats the name's own single hit",
    domain: "x.thrown.example",
    known: { ...THROWN, first: ["x.thrown.example"] },
    want: ["blacklist_parent 0.95 thrown.example"],
  },
  {
    name: "a parent that the operator allows lends nothing",
    domain: "x.thrown.example",
    known: { ...THROWN, domains: { "thrown.example": "allow" } },
    want: [],
  },
  {
    name: "a parent that the operator denies lends its reputation",
    domain: "x.fine.example",
    known: { domains: { "fine.example": "deny" } },
    want: ["blacklist_parent 0.95 fine.example"],
  },
  {
    name: "a known-good parent lends no bad reputation",
    domain: "x.good.example",
    known: { first: ["good.example"], second: ["good.example"], knownGood: ["good.example"] },
    want: [],
  },
  {
    name: "the operator's deny of a known-good parent does",
    domain: "x.good.example",
    known: { domains: { "good.example": "deny" }, knownGood: ["good.example"] },
    want: ["blacklist_parent 0.95 good.example"],
  },
]);

table("public suffixes on lists", [
  {
    name: "a listed ICANN suffix matches itself",
    domain: "edu.pl",
    known: { curated: ["edu.pl"] },
    want: ["blacklist_exact 1 edu.pl"],
  },
  { name: "and nobody below it", domain: "uni.edu.pl", known: { curated: ["edu.pl"] }, want: [] },
  {
    name: "not even deep below it",
    domain: "a.uni.edu.pl",
    known: { curated: ["edu.pl"] },
    want: [],
  },
  {
    name: "a listed private suffix matches itself",
    domain: "duckdns.org",
    known: { curated: ["duckdns.org"] },
    want: ["blacklist_exact 1 duckdns.org"],
  },
  {
    name: "and none of its customers",
    domain: "mine.duckdns.org",
    known: { curated: ["duckdns.org", "org"] },
    want: [],
  },
  {
    name: "a customer's name lends to the names below",
    domain: "a.theirs.duckdns.org",
    known: { curated: ["theirs.duckdns.org"] },
    want: ["blacklist_parent 0.95 theirs.duckdns.org"],
  },
  {
    name: "an internationalised name is matched by its A-labels",
    domain: "bücher.example",
    known: { curated: ["xn--bcher-kva.example"] },
    want: ["blacklist_exact 1 xn--bcher-kva.example"],
  },
]);

table("relays", [
  {
    name: "a relay is no disposable domain, whatever lists say",
    domain: "mozmail.com",
    known: { curated: ["mozmail.com"] },
    want: ["privacy_relay 0 Firefox Relay"],
  },
  {
    name: "a user's name below a relay",
    domain: "me.anonaddy.com",
    known: { curated: ["anonaddy.com"] },
    want: ["privacy_relay 0 addy.io (AnonAddy)"],
  },
  { name: "a relay without names below it", domain: "me.duck.com", want: [] },
  {
    name: "Apple's own relay",
    domain: "privaterelay.appleid.com",
    want: ["privacy_relay 0 Apple Hide My Email (Sign in with Apple)"],
  },
  { name: "Apple's other names are none", domain: "appleid.com", want: [] },
  { name: "a name that only ends like one", domain: "notmozmail.com", want: [] },
  {
    name: "a customer's domain at a relay",
    domain: "me.example",
    mx: ["mx1.simplelogin.co", "mx2.simplelogin.co"],
    want: ["privacy_relay 0 SimpleLogin / Proton Pass"],
  },
  {
    name: "a relay's mail host excuses no listed domain",
    domain: "thrown.example",
    mx: ["mx1.simplelogin.co"],
    known: THROWN,
    want: ["blacklist_exact 1 thrown.example", "privacy_relay 0 SimpleLogin / Proton Pass"],
  },
  {
    name: "the operator may deny a relay",
    domain: "duck.com",
    known: { domains: { "duck.com": "deny" } },
    want: ["blacklist_exact 1 duck.com", "privacy_relay 0 DuckDuckGo Email Protection"],
  },
]);

test("a known-good domain is excused of everything but notes", () => {
  const known = {
    curated: ["tempmail-gmail4.dpdns.org"],
    mailServers: { "in.example": "shared" },
  } as const;
  const pieces = evidenceOf({ domain: "tempmail-gmail4.dpdns.org", mx: ["in.example"], known });
  const signals: readonly Signal[] = pieces.map(({ signal }) => signal);
  assert.deepEqual(signals, [
    "blacklist_exact",
    "mx_shared_disposable",
    "keyword_match",
    "lookalike_provider",
    "free_registry_suffix",
  ]);
  assert.deepEqual(excuse(pieces), []);
});

test("evidence names the lists behind it", () => {
  const known = {
    curated: ["a.example"],
    first: ["a.example"],
    second: ["a.example", "b.example"],
  };
  const all = BITS.curated | BITS.first | BITS.second;
  assert.equal(evidenceOf({ domain: "a.example", known })[0]?.sources, all);
  assert.equal(evidenceOf({ domain: "b.example", known })[0]?.sources, BITS.second);
  const mx = evidenceOf({ domain: "new.example", mx: ["mx.a.example"], known });
  assert.equal(mx[0]?.sources, all);
});
