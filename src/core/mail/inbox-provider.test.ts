import assert from "node:assert/strict";
import { test } from "node:test";
import { providerOfHost } from "./inbox-provider.ts";
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
