import assert from "node:assert/strict";
import { test } from "node:test";
import { FREE_REGISTRIES, LARGE_PROVIDERS } from "../tables/data.ts";
import { shown, table } from "../../../test/lists/evidence-table.ts";

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

test("no large provider shows any evidence, with its own kind of mail host or none", () => {
  for (const domain of LARGE_PROVIDERS) {
    assert.deepEqual(shown({ domain, mx: [`mx1.${domain}`] }), [], domain);
  }
});

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

test("every free registry is two labels, as the look-up takes it", () => {
  for (const name of FREE_REGISTRIES) assert.match(name, /^[a-z0-9-]+\.[a-z]+$/);
});
