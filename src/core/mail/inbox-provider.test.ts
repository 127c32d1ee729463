import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDomain } from "../name/domain.ts";
import { type MailHosts, type MailKind, mailKindOf, providerOfHost } from "./mail-hosts.ts";
import { INBOX_PROVIDERS } from "../tables/data.ts";

const CASES: readonly [name: string, host: string, provider: string | undefined][] = [
  ["Gmail's own hosts are not Workspace", "alt1.gmail-smtp-in.l.google.com", "Gmail"],
  ["Workspace hosts lie beside them", "alt3.aspmx.l.google.com", "Google Workspace"],
  ["an unknown host of a known company", "mx-new.google.com", "Google Workspace"],
  ["a suffix itself is a host", "smtp.google.com", "Google Workspace"],
  ["the longest suffix wins over a shorter one", "emx.mail.ru", "VK WorkSpace (Mail.ru)"],
  ["a suffix matches whole labels only", "notgoogle.com", undefined],
  ["nothing left of the suffix but a label", "smtp.google.com.evil.example", undefined],
  ["a star stands for one label", "inbound-smtp.ap-south-1.amazonaws.com", "Amazon SES / WorkMail"],
  ["a star stands for one label, hosts below too", "a.feedback-smtp.x.amazonses.com", "Amazon SES"],
  ["a star does not stand for two labels", "inbound-smtp.a.b.amazonaws.com", undefined],
  ["a star does not stand for none", "inbound-smtp.amazonaws.com", undefined],
  ["an unknown domain", "mx.shop.example", undefined],
  ["no host at all", "", undefined],
  ["dots only", "...", undefined],
];

for (const [name, host, provider] of CASES) {
  test(`provider of a mail host: ${name}`, () => {
    assert.equal(providerOfHost(host)?.provider, provider);
  });
}

test("the table names every suffix once, in lower case, with a star as second label only", () => {
  const suffixes = INBOX_PROVIDERS.flatMap((row) => row.suffixes);
  assert.equal(new Set(suffixes).size, suffixes.length);
  for (const suffix of suffixes) assert.match(suffix, /^[a-z0-9-]+(\.\*)?(\.[a-z0-9-]+)+$/);
});

const hosts = (...names: readonly string[]): MailHosts => ({
  kind: "hosts",
  hosts: names,
  implicit: false,
});

const KINDS: readonly [
  name: string,
  domain: string,
  mail: MailHosts,
  kind: MailKind | undefined,
][] = [
  ["a mailbox provider", "x.example", hosts("aspmx.l.google.com"), "mailbox"],
  [
    "a filtering gateway",
    "x.example",
    hosts("mxa-00.gslb.pphosted.com", "mx.x.example"),
    "gateway",
  ],
  ["a forwarder", "x.example", hosts("mx1.improvmx.com"), "forwarder"],
  ["a relay by its domain", "duck.com", hosts("mx.example"), "relay"],
  ["a relay by its mail host", "x.example", hosts("mx1.simplelogin.co"), "relay"],
  ["a sender's host", "x.example", hosts("mxa.mailgun.org"), "sender"],
  ["a host of its own", "x.example", hosts("mail.x.example"), "own"],
  [
    "a host of its own beside a provider's",
    "x.example",
    hosts("mx.x.example", "mx1.improvmx.com"),
    "own",
  ],
  ["a host of its own above a name", "shop.x.example", hosts("mail.x.example"), "own"],
  [
    "an address record alone",
    "x.example",
    { kind: "hosts", hosts: ["x.example"], implicit: true },
    "own",
  ],
  ["a provider's own domain", "google.com", hosts("smtp.google.com"), "mailbox"],
  ["a host that nobody knows", "x.example", hosts("mx.hoster.example"), "unknown"],
  [
    "a known host behind one that nobody knows",
    "x.example",
    hosts("mx.h.example", "mx1.improvmx.com"),
    "forwarder",
  ],
  ["no mail server", "x.example", { kind: "none", why: "noMx" }, undefined],
  ["DNS that does not answer", "x.example", { kind: "unknown" }, undefined],
];

for (const [name, domain, mail, kind] of KINDS) {
  test(`kind of mail: ${name}`, () => {
    const parsed = parseDomain(domain);
    assert.ok(parsed.ok);
    assert.equal(mailKindOf(parsed.value, mail), kind);
  });
}
