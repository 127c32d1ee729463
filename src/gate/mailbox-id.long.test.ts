import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress } from "../core/address/address.ts";
import { canonicalAddress } from "../core/evidence/alias.ts";
import { createAccountHash, mailboxId } from "./traffic-marks.ts";

const DOMAINS = [
  "gmail.com",
  "googlemail.com",
  "yahoo.com",
  "fastmail.com",
  "jo.fastmail.com",
  "outlook.com",
  "shop.example",
];
const LETTERS = "abcXYZ019.+-_";

/** A small generator of its own, so that every run tests the same addresses. */
function addresses(count: number): readonly string[] {
  let seed = 1;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  return Array.from({ length: count }, () => {
    const local = Array.from({ length: 1 + next(12) }, () => LETTERS[next(LETTERS.length)] ?? "");
    return `${local.join("")}@${DOMAINS[next(DOMAINS.length)] ?? ""}`;
  });
}

test("the canonical form of 1,000,000 generated addresses is its own, with the same id", () => {
  const hash = createAccountHash(new Uint8Array(32).fill(3));
  let read = 0;
  for (const text of addresses(1_000_000)) {
    const parsed = parseAddress(text);
    if (!parsed.ok) continue;
    read += 1;
    const canonical = canonicalAddress(parsed.value);
    const again = parseAddress(canonical);
    assert.ok(again.ok, text);
    if (canonicalAddress(again.value) !== canonical) assert.fail(`${text}: ${canonical}`);
    if (read % 100 === 0)
      assert.equal(mailboxId(hash, "a1", again.value), mailboxId(hash, "a1", parsed.value), text);
  }
  assert.ok(read > 400_000, String(read));
});

test("50 spellings of one mailbox have one id, in two accounts two", () => {
  const hash = createAccountHash(new Uint8Array(32).fill(3));
  const spellings = Array.from({ length: 50 }, (_, at) => {
    const dotted = at % 2 === 0 ? "jo.doe" : "JODOE";
    const domain = at % 3 === 0 ? "googlemail.com" : "GMAIL.com";
    return `${dotted}${at % 5 === 0 ? "" : `+tag${String(at)}`}@${domain}`;
  });
  const ids = (account: string): ReadonlySet<string> =>
    new Set(
      spellings.map((text) => {
        const parsed = parseAddress(text);
        assert.ok(parsed.ok);
        return mailboxId(hash, account, parsed.value);
      }),
    );
  const [one, two] = [ids("a1"), ids("a2")];
  assert.deepEqual([one.size, two.size], [1, 1]);
  assert.notDeepEqual(one, two);
});
