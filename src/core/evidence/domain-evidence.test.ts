import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BITS,
  type LiteralKnowledge,
  literalDatasets,
} from "../../../test/lists/literal-datasets.ts";
import { domainEvidence } from "./domain-evidence.ts";
import { parseDomain } from "../name/domain.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";
import type { Signal } from "./signals.ts";
import { FREE_REGISTRIES } from "../tables/free-registries.ts";
import { LARGE_PROVIDERS } from "../tables/large-providers.ts";
import { weigh, excuse } from "./verdict.ts";

interface Case {
  readonly name: string;
  readonly domain: string;
  readonly mx?: readonly string[];
  readonly known?: LiteralKnowledge;
  /** "signal weight subject", strongest first. */
  readonly want: readonly string[];
}

const mailAt = (hosts: readonly string[] | undefined): MailHosts =>
  hosts === undefined ? { kind: "unknown" } : { kind: "hosts", hosts, implicit: false };

function evidenceOf({ domain, mx, known }: Omit<Case, "want" | "name">) {
  const parsed = parseDomain(domain);
  assert.ok(parsed.ok, `${domain} is a domain`);
  return domainEvidence(parsed.value, mailAt(mx), literalDatasets(known));
}

const shown = (test: Omit<Case, "want" | "name">): readonly string[] =>
  weigh(evidenceOf(test)).evidence.map(
    ({ signal, weight, subject = "" }) => `${signal} ${String(weight)} ${subject}`,
  );

function table(title: string, cases: readonly Case[]): void {
  for (const row of cases) {
    test(`${title}: ${row.name}`, () => assert.deepEqual(shown(row), row.want));
  }
}

const THROWN = { curated: ["thrown.example"] };

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

const MX = "mx.thrown.example";

table("mail servers", [
  {
    name: "a listed registrable domain of the mail host",
    domain: "new.example",
    mx: ["mx9.thrown.example"],
    known: THROWN,
    want: ["blacklist_mx 0.95 mx9.thrown.example"],
  },
  {
    name: "a listed mail host itself",
    domain: "new.example",
    mx: [MX],
    known: { curated: [MX] },
    want: [`blacklist_mx 0.95 ${MX}`],
  },
  {
    name: "any host counts, not the preferred one alone",
    domain: "new.example",
    mx: ["mx.new.example", "a.elsewhere.example", MX],
    known: THROWN,
    want: [`blacklist_mx 0.95 ${MX}`],
  },
  {
    name: "a single list is not enough for a mail host",
    domain: "new.example",
    mx: [MX],
    known: { first: ["thrown.example"] },
    want: [],
  },
  {
    name: "a label between host and registrable domain is not asked for",
    domain: "new.example",
    mx: ["mx.a.other.example"],
    known: { curated: ["a.other.example"] },
    want: [],
  },
  {
    name: "a host under a listed public suffix is somebody's own",
    domain: "new.example",
    mx: ["mx.mine.duckdns.org"],
    known: { curated: ["duckdns.org"] },
    want: [],
  },
  {
    name: "a host known to serve disposable domains only",
    domain: "new.example",
    mx: ["mail.wallywatts.com"],
    want: ["blacklist_mx 0.95 mail.wallywatts.com"],
  },
  {
    name: "a host below a dedicated domain",
    domain: "new.example",
    mx: ["mx7.generator.email"],
    want: ["blacklist_mx 0.95 mx7.generator.email"],
  },
  {
    name: "a host that was learned as dedicated",
    domain: "new.example",
    mx: ["in.learned.example"],
    known: { mailServers: { "in.learned.example": "dedicated" } },
    want: ["blacklist_mx 0.95 in.learned.example"],
  },
  {
    name: "a host that was learned as shared",
    domain: "new.example",
    mx: ["in.learned.example"],
    known: { mailServers: { "in.learned.example": "shared" } },
    want: ["mx_shared_disposable 0.2 in.learned.example"],
  },
  {
    name: "a dedicated host behind a shared one counts",
    domain: "new.example",
    mx: ["in.learned.example", MX],
    known: { mailServers: { "in.learned.example": "shared" }, ...THROWN },
    want: [`blacklist_mx 0.95 ${MX}`],
  },
  {
    name: "the operator denies a host",
    domain: "new.example",
    mx: ["mx.fine.example"],
    known: { mailHosts: { "mx.fine.example": "deny" } },
    want: ["blacklist_mx 0.95 mx.fine.example"],
  },
  {
    name: "the operator denies the domain that a host lies under",
    domain: "new.example",
    mx: ["mx.fine.example"],
    known: { domains: { "fine.example": "deny" } },
    want: ["blacklist_mx 0.95 mx.fine.example"],
  },
  {
    name: "the operator denies the names below a domain, whose own mail goes to one of them",
    domain: "fine.example",
    mx: ["mx.fine.example"],
    known: { domains: { "*.fine.example": "deny" } },
    want: [],
  },
  {
    name: "the operator denies the names below a zone in which an honest carrier lies",
    domain: "shop.test",
    mx: ["mx.fine.example"],
    known: { domains: { "*.example": "deny" } },
    want: [],
  },
  {
    name: "lists count on a host that such an entry covers too",
    domain: "shop.test",
    mx: ["mx.thrown.example"],
    known: { ...THROWN, domains: { "*.example": "deny" } },
    want: ["blacklist_mx 0.95 mx.thrown.example"],
  },
  {
    name: "the operator allows a host",
    domain: "new.example",
    mx: [MX],
    known: { ...THROWN, mailHosts: { [MX]: "allow" } },
    want: [],
  },
  {
    name: "the operator allows the domain that a host lies under",
    domain: "new.example",
    mx: [MX],
    known: { ...THROWN, domains: { "thrown.example": "allow" } },
    want: [],
  },
]);

const SHARED_HOSTS = [
  "route1.mx.cloudflare.net",
  "aspmx.l.google.com",
  "x.mail.protection.outlook.com",
  "eforward1.registrar-servers.com",
  "mx1.timeweb.ru",
  "mx.mail2world.com",
  "mx1.improvmx.com",
  "mx2.forwardemail.net",
  "mxa.mailgun.org",
  "mx2f.netcup.net",
  "mx10.mailspamprotection.com",
  "mail.h-email.net",
  "mx.gmail.com",
];

for (const host of SHARED_HOSTS) {
  test(`mail servers: ${host} carries anybody's mail, whatever lists and learning say`, () => {
    const registrable = host.split(".").slice(-2).join(".");
    const listed = { curated: [host, registrable] };
    const learned = { mailServers: { [host]: "dedicated" } } as const;
    for (const known of [listed, learned]) {
      assert.deepEqual(shown({ domain: "new.example", mx: [host], known }), []);
    }
    const known = { mailHosts: { [host]: "deny" } } as const;
    const denied = shown({ domain: "new.example", mx: [host], known });
    assert.deepEqual(denied, [`blacklist_mx 0.95 ${host}`]);
  });
}

table("words", [
  {
    name: "a strong word anywhere in a label",
    domain: "mytempmail24.example",
    want: ["keyword_match 0.9 tempmail"],
  },
  {
    name: "a pair with a hyphen",
    domain: "trash-box.example",
    want: ["keyword_match 0.9 trash-box"],
  },
  {
    name: "a label below the registrable one",
    domain: "yopmail.host.example",
    want: ["keyword_match 0.9 yopmail"],
  },
  { name: "the public suffix is not searched", domain: "shop.example", want: [] },
  {
    name: "two labels make no word",
    domain: "temp.mail.example",
    want: ["keyword_weak 0.35 temp"],
  },
  { name: "a weak word by itself", domain: "spam.example", want: ["keyword_weak 0.35 spam"] },
  {
    name: "a weak word between digits and hyphens",
    domain: "my-temp4u.example",
    want: ["keyword_weak 0.35 temp"],
  },
  { name: "a weak word inside another is none", domain: "template.example", want: [] },
  { name: "a weak word at the end of another is none", domain: "contemp.example", want: [] },
  {
    name: "a strong word outranks a weak one",
    domain: "spam.tempmail.example",
    want: ["keyword_match 0.9 tempmail"],
  },
  { name: "an honest bearer of a strong word", domain: "www.junkmail.co.za", want: [] },
  {
    name: "an honest name as somebody else's label",
    domain: "trashbox.ru.evil.example",
    want: ["keyword_match 0.9 trashbox"],
  },
  { name: "templates of mail are a trade", domain: "emailtemplates.example", want: [] },
  {
    name: "mail for a while is not",
    domain: "emailtemporaneo.example",
    want: ["keyword_match 0.9 mailtemp"],
  },
  { name: "contemporary is not temporary", domain: "contemporarymail-art.example", want: [] },
  { name: "minds are no minutes", domain: "10minds.example", want: [] },
  { name: "nor are 110 of them ten", domain: "110min-walk.example", want: [] },
  {
    name: "an inbox of ten minutes",
    domain: "10mininbox.example",
    want: ["keyword_match 0.9 10min"],
  },
  {
    name: "an honest place beside a telling one",
    domain: "10minds-10min.example",
    want: ["keyword_match 0.9 10min"],
  },
  { name: "the last minute is for travellers", domain: "lastminute-inbox.example", want: [] },
  {
    name: "the first is not",
    domain: "firstminute-inbox.example",
    want: ["keyword_match 0.9 minute-inbox"],
  },
  { name: "who would stop junk mail sends none", domain: "stop-junkmail.example", want: [] },
  {
    name: "who would have none of it may",
    domain: "nojunkmail.example",
    want: ["keyword_match 0.9 junkmail"],
  },
  { name: "nappies are thrown away as well", domain: "wegwerfwindeln.example", want: [] },
  {
    name: "and so are addresses",
    domain: "wegwerfadresse.example",
    want: ["keyword_match 0.9 wegwerfadresse"],
  },
  { name: "mail, box and free are nothing", domain: "free-mail-box.example", want: [] },
]);

table("look-alikes", [
  {
    name: "gmail within a name",
    domain: "my-gmail4u.example",
    want: ["lookalike_provider 0.85 gmail.com"],
  },
  {
    name: "gmail as a label in front",
    domain: "gmail.com.login.example",
    want: ["lookalike_provider 0.85 gmail.com"],
  },
  { name: "gmail itself", domain: "gmail.com", known: { free: ["gmail.com"] }, want: [] },
  { name: "a host of Google", domain: "gmail.google.com", want: [] },
  { name: "Google's other name", domain: "googlemail.com", want: [] },
  { name: "an honest other", domain: "app.gmailify.com", want: [] },
  { name: "a g that ends another word", domain: "bookingmail.example", want: [] },
  { name: "a blog's mail", domain: "blogmail.example", want: [] },
  {
    name: "a second place after an innocent one",
    domain: "bigmail-gmail.example",
    want: ["lookalike_provider 0.85 gmail.com"],
  },
  {
    name: "a slip of the finger imitates nobody",
    domain: "gmaill.com",
    want: ["typo_domain 0 gmail.com"],
  },
]);

table("slips", [
  { name: "two letters swapped", domain: "gmial.com", want: ["typo_domain 0 gmail.com"] },
  {
    name: "uncurated lists count nothing beside a misspelling, even when they agree",
    domain: "gmial.com",
    known: { first: ["gmial.com"], second: ["gmial.com"] },
    want: ["blacklist_single 0 gmial.com", "typo_domain 0 gmail.com"],
  },
  {
    name: "a curated list decides about a misspelling",
    domain: "gmial.com",
    known: { curated: ["gmial.com"], first: ["gmial.com"] },
    want: ["blacklist_exact 1 gmial.com", "typo_domain 0 gmail.com"],
  },
  {
    name: "the operator decides about a misspelling",
    domain: "gmial.com",
    known: { domains: { "gmial.com": "deny" }, first: ["gmial.com"] },
    want: ["blacklist_exact 1 gmial.com", "typo_domain 0 gmail.com"],
  },
  { name: "a letter missing", domain: "hotmal.com", want: ["typo_domain 0 hotmail.com"] },
  { name: "a letter too many", domain: "outlookk.com", want: ["typo_domain 0 outlook.com"] },
  { name: "a wrong letter", domain: "yahop.com", want: ["typo_domain 0 yahoo.com"] },
  { name: "the first letter missing", domain: "ahoo.com", want: ["typo_domain 0 yahoo.com"] },
  { name: "the last letter missing", domain: "gmail.co", want: ["typo_domain 0 gmail.com"] },
  { name: "an ending that does not exist", domain: "gmail.con", want: ["typo_domain 0 gmail.com"] },
  { name: "an ending swapped", domain: "yahoo.ocm", want: ["typo_domain 0 yahoo.com"] },
  {
    name: "the dot swapped with its neighbour",
    domain: "hotmai.lcom",
    want: ["typo_domain 0 hotmail.com"],
  },
  {
    name: "a country's own provider misspelt",
    domain: "wanadooo.fr",
    want: ["typo_domain 0 wanadoo.fr"],
  },
  {
    name: "two slips are too many",
    domain: "gmaiil.co",
    want: [],
  },
  { name: "a Turkish keyboard's i", domain: "hotmaıl.com", want: ["typo_domain 0 hotmail.com"] },
  { name: "an accent", domain: "gmaìl.com", want: ["typo_domain 0 gmail.com"] },
  { name: "Cyrillic letters", domain: "gmаil.соm", want: ["typo_domain 0 gmail.com"] },
  {
    name: "A-labels that read like a provider",
    domain: "xn--utlook-vqf.com",
    want: ["typo_domain 0 outlook.com"],
  },
  { name: "another alphabet's own word", domain: "почта.example", want: [] },
  { name: "a short name's look is no slip", domain: "wéb.de", want: [] },
  {
    name: "a known-good name in another alphabet",
    domain: "gmаil.com",
    known: { free: ["xn--gmil-63d.com"] },
    want: [],
  },
  { name: "a short name has too many neighbours", domain: "lice.com", want: [] },
  { name: "live.com is nobody's target", domain: "lives.com", want: [] },
  { name: "another country's branch is no slip", domain: "hotmail.se", want: [] },
  { name: "nor is one under a longer ending", domain: "yahoo.com.tr", want: [] },
  { name: "clouds are services of their own", domain: "mcloud.com", want: [] },
  {
    name: "but the ending of icloud can slip",
    domain: "icloud.cm",
    want: ["typo_domain 0 icloud.com"],
  },
  { name: "a large provider near another", domain: "ymail.com", want: [] },
  {
    name: "a free provider near a large one",
    domain: "fmail.com",
    known: { free: ["fmail.com"] },
    want: [],
  },
  {
    name: "a known-good name near a large one",
    domain: "hmail.com",
    known: { knownGood: ["hmail.com"] },
    want: [],
  },
  { name: "a word of the dictionary", domain: "never.com", want: [] },
  { name: "only the whole name can be a slip", domain: "mail.gmial.com", want: [] },
]);

table("free registries", [
  {
    name: "a name below one",
    domain: "x1.dpdns.org",
    want: ["free_registry_suffix 0.8 dpdns.org"],
  },
  {
    name: "a deep name below one",
    domain: "a.b.x1.cc.cd",
    want: ["free_registry_suffix 0.8 cc.cd"],
  },
  { name: "the registry itself", domain: "qzz.io", want: [] },
  { name: "letters before it are no label", domain: "xdpdns.org", want: [] },
  { name: "registries with honest customers", domain: "x.eu.org", want: [] },
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

test("no large provider shows any evidence, with its own kind of mail host or none", () => {
  for (const domain of LARGE_PROVIDERS) {
    assert.deepEqual(shown({ domain, mx: [`mx1.${domain}`] }), [], domain);
  }
});

test("every free registry is two labels, as the look-up takes it", () => {
  for (const name of FREE_REGISTRIES) assert.match(name, /^[a-z0-9-]+\.[a-z]+$/);
});
