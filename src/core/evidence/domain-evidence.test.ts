import assert from "node:assert/strict";
import { test } from "node:test";
import { BITS } from "../../../test/lists/literal-datasets.ts";
import type { Signal } from "./signals.ts";
import { excuse } from "./domain-evidence.ts";
import { evidenceOf, table } from "../../../test/lists/evidence-table.ts";

table(
  "lists",
  `
a list that is off gives no evidence, to names below it neither
  mail.thrown.example curated=thrown.example first=thrown.example feedsOff=curated
    -> blacklist_single 0.8 thrown.example
a family of a list that is off is none
  x.house.example families=house.example feedsOff=curated -> nothing
a curated list is enough
  thrown.example curated=thrown.example -> blacklist_exact 1 thrown.example
two uncurated lists copy each other and count as one
  a.example first=a.example second=a.example -> blacklist_single 0.8 a.example
weak lists alone never decide
  a.example weak=a.example -> blacklist_single 0.4 a.example
a doubtful list alone never decides
  a.example mx=mx.a.example doubtful=a.example -> blacklist_single 0.4 a.example
a doubtful list and a weak one decide together
  a.example doubtful=a.example weak=a.example -> blacklist_single 0.8 a.example
a doubtful list whose second is off is alone
  a.example doubtful=a.example weak=a.example feedsOff=weak -> blacklist_single 0.4 a.example
uncurated lists are in doubt while the mail hosts are unknown
  a.example mx=unknown first=a.example second=a.example -> blacklist_single 0.4 a.example
a curated list is enough while the mail hosts are unknown
  thrown.example mx=unknown curated=thrown.example -> blacklist_exact 1 thrown.example
a weak list beside an uncurated one takes nothing from it
  a.example first=a.example weak=a.example -> blacklist_single 0.8 a.example
a weak hit on the name itself gives way to an uncurated one on its parent
  x.a.example first=a.example weak=x.a.example -> blacklist_single 0.8 a.example
a name beside three listed ones belongs to their family
  new.service.example families=service.example -> blacklist_parent 0.95 service.example
the registrable domain of a family is not accused by it
  service.example families=service.example -> nothing
a known-good registrable domain makes no family
  new.service.example families=service.example knownGood=service.example -> nothing
the operator allows a family's registrable domain
  new.service.example families=service.example domains=service.example:allow -> nothing
a name in other letters that looks like a listed one
  xn--ypmail-wqf.com curated=yopmail.com -> blacklist_exact 1 yopmail.com
a host of lasting anonymous mailboxes is no throw-away service
  cock.li curated=cock.li -> blacklist_single 0.8 cock.li
the operator's word is enough
  a.example domains=a.example:deny -> blacklist_exact 1 a.example
one uncurated list is less
  a.example first=a.example -> blacklist_single 0.8 a.example
one uncurated list against a large mailbox provider is little
  a.example mx=a-example.mail.protection.outlook.com second=a.example
    -> blacklist_single 0.4 a.example
a large mailbox provider behind another host excuses nothing
  a.example mx=mx.a.example,aspmx.l.google.com second=a.example -> blacklist_single 0.8 a.example
a gateway in front is no large mailbox provider
  a.example mx=mx1.a.iphmx.com second=a.example -> blacklist_single 0.8 a.example
a name below a listed one
  x.y.thrown.example curated=thrown.example -> blacklist_parent 0.95 thrown.example
a listed name between the domain and its registrable one
  x.y.mixed.example curated=y.mixed.example -> blacklist_parent 0.95 y.mixed.example
labels, not letters, make a parent
  notthrown.example curated=thrown.example -> nothing
a listed child says nothing of its parent
  example.com curated=a.example.com -> nothing
the nearest single hit above, when nothing is stronger
  x.a.example first=a.example -> blacklist_single 0.8 a.example
a strong parent beats the name's own single hit
  x.thrown.example curated=thrown.example first=x.thrown.example
    -> blacklist_parent 0.95 thrown.example
a parent that the operator allows lends nothing
  x.thrown.example curated=thrown.example domains=thrown.example:allow -> nothing
a parent that the operator denies lends its reputation
  x.fine.example domains=fine.example:deny -> blacklist_parent 0.95 fine.example
a known-good parent lends no bad reputation
  x.good.example first=good.example second=good.example knownGood=good.example -> nothing
the operator's deny of a known-good parent does
  x.good.example domains=good.example:deny knownGood=good.example
    -> blacklist_parent 0.95 good.example
`,
);

table(
  "public suffixes on lists",
  `
a listed ICANN suffix matches itself
  edu.pl curated=edu.pl -> blacklist_exact 1 edu.pl
and nobody below it
  uni.edu.pl curated=edu.pl -> nothing
not even deep below it
  a.uni.edu.pl curated=edu.pl -> nothing
a listed private suffix matches itself
  duckdns.org curated=duckdns.org -> blacklist_exact 1 duckdns.org
and none of its customers
  mine.duckdns.org curated=duckdns.org,org -> nothing
a customer's name lends to the names below
  a.theirs.duckdns.org curated=theirs.duckdns.org -> blacklist_parent 0.95 theirs.duckdns.org
an internationalised name is matched by its A-labels
  bücher.example curated=xn--bcher-kva.example -> blacklist_exact 1 xn--bcher-kva.example
`,
);

table(
  "relays",
  `
a relay is no disposable domain, whatever lists say
  mozmail.com curated=mozmail.com -> privacy_relay 0 Firefox Relay
a user's name below a relay
  me.anonaddy.com curated=anonaddy.com -> privacy_relay 0 addy.io (AnonAddy)
a relay without names below it
  me.duck.com -> nothing
Apple's own relay
  privaterelay.appleid.com -> privacy_relay 0 Apple Hide My Email (Sign in with Apple)
Apple's other names are none
  appleid.com -> nothing
a name that only ends like one
  notmozmail.com -> nothing
a customer's domain at a relay
  me.example mx=mx1.simplelogin.co,mx2.simplelogin.co -> privacy_relay 0 SimpleLogin / Proton Pass
a relay's mail host excuses no listed domain
  thrown.example mx=mx1.simplelogin.co curated=thrown.example
    -> blacklist_exact 1 thrown.example | privacy_relay 0 SimpleLogin / Proton Pass
the operator may deny a relay
  duck.com domains=duck.com:deny
    -> blacklist_exact 1 duck.com | privacy_relay 0 DuckDuckGo Email Protection
`,
);

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
