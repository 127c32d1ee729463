import { strict as assert } from "node:assert";
import { test } from "node:test";
import { literalDatasets } from "../../../../test/lists/literal-datasets.ts";
import { parseDomain } from "../../name/domain.ts";
import { mailServerEvidence } from "../domain-evidence.ts";

const mailServers = { "198.51.100.1": "dedicated", "198.51.100.2": "shared" } as const;

const cases = [
  [
    "its own mail host on a learned address is known by the address",
    ["mail.shop.example"],
    ["192.0.2.1", "198.51.100.1"],
    "blacklist_mx",
    "198.51.100.1",
  ],
  [
    "a learned dedicated address counts before a shared one",
    ["mail.shop.example"],
    ["198.51.100.2", "198.51.100.1"],
    "blacklist_mx",
    "198.51.100.1",
  ],
  [
    "an address that others use too is a doubt",
    ["mail.shop.example"],
    ["198.51.100.2"],
    "mx_shared_disposable",
    "198.51.100.2",
  ],
  ["an address that was never learned says nothing", ["mail.shop.example"], ["192.0.2.1"]],
  ["a host without a known address says nothing", ["mail.shop.example"], []],
  [
    "a carrier of anybody's mail is not checked by its machine",
    ["aspmx.l.google.com"],
    ["198.51.100.1"],
  ],
  ["nor a shared mail host", ["route1.mx.cloudflare.net"], ["198.51.100.1"]],
  ["nor a host that the operator allows", ["mail.fine.example"], ["198.51.100.1"]],
] as const;

for (const [name, hosts, addresses, signal, subject] of cases) {
  test(name, () => {
    const datasets = literalDatasets({ mailServers, mailHosts: { "mail.fine.example": "allow" } });
    const parsed = parseDomain("shop.example");
    assert.ok(parsed.ok);
    const mail = { kind: "hosts", hosts, implicit: false, addresses } as const;
    const piece = mailServerEvidence(mail, { domain: parsed.value, datasets, counted: undefined });
    assert.deepEqual([piece?.signal, piece?.subject], [signal, subject]);
  });
}
