import assert from "node:assert/strict";
import { test } from "node:test";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import type { Datasets, Rules } from "../evidence/datasets.ts";
import { readEntry } from "../address/address.ts";
import { LARGE_PROVIDERS } from "../tables/data.ts";
import type { CheckedSubject } from "./check.ts";
import { type SpamTrap, checkSpamTrap } from "./spam-trap.ts";

const operator: Rules = {
  domain: (name) => (name === "gmial.com" ? "allow" : undefined),
  named: () => undefined,
  mailHost: () => undefined,
  address: (canonical) => (canonical === "trap@shop.example" ? "allow" : undefined),
  names: () => [],
  trap: (subject) =>
    new Map<string, "listed" | "recycled" | "pristine">([
      ["old@shop.example", "recycled"],
      ["bait@shop.example", "listed"],
      ["pristine.example", "pristine"],
      ["hotmial.com", "listed"],
    ]).get(subject),
  isFeedOff: () => false,
};
const DATASETS: Datasets = { ...literalDatasets(), operator };

function checked(text: string, datasets: Datasets = DATASETS): SpamTrap {
  const entry = readEntry(text, "either");
  if (entry.kind === "malformed") throw new Error(`malformed: ${text}`);
  const { domain } = entry;
  const mail = { kind: "unknown" } as const;
  const subject: CheckedSubject =
    entry.kind === "address" ? { domain, mail, address: entry.address } : { domain, mail };
  return checkSpamTrap(subject, datasets);
}

const CASES: readonly [name: string, entry: string, want: SpamTrap["type"]][] = [
  ["an address that says nothing", "jane@shop.example", null],
  ["a domain that says nothing", "shop.example", null],
  ["a honeypot's name", "spamtrap@shop.example", "honeypot"],
  ["in capitals", "HoneyPot@shop.example", "honeypot"],
  ["with a detail", "spamtrap+x@shop.example", "honeypot"],
  ["a honeypot's name inside another word", "spamtrapper@shop.example", null],
  ["a honeypot's name as a domain", "spamtrap.example", null],
  ["abuse is a mailbox every domain must have (RFC 2142)", "abuse@shop.example", null],
  ["so is postmaster (RFC 5321 section 4.5.1)", "postmaster@shop.example", null],
  ["spam is a real filter address", "spam@shop.example", null],
  ["a misspelt large provider", "jane@gmaill.com", "typo"],
  ["a misspelt large provider as a domain", "gmaill.com", "typo"],
  ["the operator's address entry", "Old@shop.example", "recycled"],
  ["the operator's entry beats the honeypot", "bait@shop.example", "listed"],
  ["the operator's domain entry for an address", "jane@pristine.example", "pristine"],
  ["the operator's domain entry for a domain", "pristine.example", "pristine"],
  ["the operator's trap beats the typo", "jane@hotmial.com", "listed"],
  ["an allowed domain is not a typo", "jane@gmial.com", null],
  ["an allowed address is not a honeypot", "trap@shop.example", null],
];

for (const [name, entry, want] of CASES) {
  test(`spam trap: ${name}`, () => {
    const { is_trap, type, reason } = checked(entry);
    assert.deepEqual([is_trap, type, reason === null], [want !== null, want, want === null]);
  });
}

test("every answer has all three members in their order", () => {
  for (const entry of ["jane@shop.example", "spamtrap@shop.example"]) {
    assert.deepEqual(Object.keys(checked(entry)), ["is_trap", "type", "reason"]);
  }
});

test("no large provider is a trap, and no known-good or free neighbour of one", () => {
  for (const name of LARGE_PROVIDERS) assert.equal(checked(`jane@${name}`).is_trap, false, name);
  const real = ["gmaill.com"];
  assert.equal(checked("gmaill.com", literalDatasets({ free: real })).is_trap, false);
  assert.equal(checked("gmaill.com", literalDatasets({ knownGood: real })).is_trap, false);
});
