import assert from "node:assert/strict";
import { test } from "node:test";
import { domainOf, fieldsIn } from "../../../test/process/check-run.ts";
import { type ZoneName, zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { SPF_INCLUDES } from "../tables/data.ts";
import { findInboxProvider, mailboxInSpf } from "./inbox-provider.ts";

const D = "shop.example";

const CASES: readonly [name: string, domain: ZoneName, want: string | undefined][] = [
  ["a mailbox provider's host", { mx: ["1 aspmx.l.google.com"] }, "Google Workspace"],
  [
    "the most preferred host that is known",
    { mx: ["20 aspmx.l.google.com", "10 shop-example.mail.protection.outlook.com"] },
    "Microsoft 365",
  ],
  [
    "an unknown host before a known one",
    { mx: ["10 mx.shop.example", "20 mx.zoho.com"] },
    "Zoho Mail",
  ],
  ["a host of one's own", { mx: ["10 mx.shop.example"] }, undefined],
  ["no mail host", {}, undefined],
  [
    "a forwarder under its own name",
    { mx: ["10 mx1.improvmx.com"], txt: ["v=spf1 include:_spf.google.com -all"] },
    "ImprovMX",
  ],
  [
    "behind a gateway: the mailbox in SPF",
    { mx: ["10 mx1.pphosted.com"], txt: ["v=spf1 include:spf.protection.outlook.com -all"] },
    "Microsoft 365",
  ],
  [
    "behind a gateway: the likelier of several",
    {
      mx: ["10 mx1.pphosted.com"],
      txt: ["v=spf1 include:zoho.com include:_spf.google.com -all"],
    },
    "Google Workspace",
  ],
  [
    "behind a gateway: a redirect counts like an include",
    { mx: ["10 mx1.pphosted.com"], txt: ["v=spf1 redirect=_spf.protonmail.ch"] },
    "Proton Mail",
  ],
  [
    "behind a gateway: senders that keep no mail say nothing",
    { mx: ["10 mx1.pphosted.com"], txt: ["v=spf1 include:sendgrid.net -all"] },
    "Proofpoint",
  ],
  [
    "behind a gateway: a broken record says nothing",
    { mx: ["10 mx1.pphosted.com"], txt: ["v=spf1 include:_spf.google.com oops"] },
    "Proofpoint",
  ],
  ["behind a gateway: no SPF", { mx: ["10 eu-smtp-inbound-1.mimecast.com"] }, "Mimecast"],
  [
    "behind a gateway: SPF that cannot be read",
    { mx: ["10 mx1.pphosted.com"], unknown: ["txt"] },
    "unavailable",
  ],
  ["DNS did not say where mail goes", { unknown: ["mx"] }, "unavailable"],
];

for (const [name, domain, want] of CASES) {
  test(`inbox provider: ${name}`, async () => {
    const hosts = (domain.mx ?? []).map((mx) => [
      mx.slice(mx.indexOf(" ") + 1),
      { a: ["192.0.2.1"] },
    ]);
    const zone = { [D]: domain, ...Object.fromEntries(hosts) };
    const fields = await fieldsIn(zone, D, ["inbox_provider"]);
    assert.equal(fields === "unavailable" ? fields : fields.inbox_provider, want);
  });
}

test("capitals and a trailing dot do not hide a target; a name under it is another", () => {
  assert.equal(mailboxInSpf("v=spf1 include:_SPF.Google.com. -all"), "Google Workspace");
  assert.equal(mailboxInSpf("v=spf1 include:x._spf.google.com.evil.example -all"), undefined);
});

test("no SPF target belongs to two providers", () => {
  const targets = SPF_INCLUDES.flatMap(([, names]) => names);
  assert.equal(new Set(targets).size, targets.length);
});

test("an address record in place of MX names no provider", async () => {
  const mail = { kind: "hosts", hosts: ["naver.com"], implicit: true } as const;
  const found = await findInboxProvider({ domain: domainOf("naver.com"), mail }, zoneLookup({}));
  assert.deepEqual(found, {});
});
