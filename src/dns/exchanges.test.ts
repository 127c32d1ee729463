import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { MailExchange } from "../core/mail/lookup.ts";
import { shareExchanges } from "./lookup.ts";

/** A list of its own, as each message brings one: "10 a, 20 b". */
const listOf = (text: string): readonly MailExchange[] =>
  text.split(", ").map((exchange) => {
    const [preference = "", host = ""] = exchange.split(" ");
    return { preference: Number(preference), host };
  });

/** Shared or not, a list says what was told. */
const sameLists: readonly (readonly [what: string, one: string, other: string])[] = [
  ["the same single exchange", "10 a", "10 a"],
  ["the same two", "10 a, 20 b", "10 a, 20 b"],
  ["two that the server turned around", "10 a, 10 b", "10 b, 10 a"],
  ["a null MX", "0 ", "0 "],
];

for (const [what, one, other] of sameLists) {
  test(`domains of one provider share one list: ${what}`, () => {
    const share = shareExchanges();
    assert.equal(share(listOf(other)), share(listOf(one)));
  });
}

const otherLists: readonly (readonly [what: string, one: string, other: string])[] = [
  ["another preference", "10 a", "20 a"],
  ["another host", "10 a", "10 b"],
  ["one more after it", "10 a", "10 a, 20 b"],
  ["one less", "10 a, 20 b", "10 a"],
  ["another second host", "10 a, 20 b", "10 a, 20 c"],
  ["another second preference", "10 a, 20 b", "10 a, 30 b"],
];

for (const [what, one, other] of otherLists) {
  test(`lists that differ are told apart: ${what}`, () => {
    const share = shareExchanges();
    assert.deepEqual(share(listOf(one)), listOf(one));
    assert.deepEqual(share(listOf(other)), listOf(other));
  });
}

test("a stranger's many lists that begin with one host cost the shared ones nothing", () => {
  const share = shareExchanges();
  const first = share(listOf("0 a"));
  for (let preference = 1; preference <= 1_000; preference += 1) {
    assert.deepEqual(share(listOf(`${preference} a`)), listOf(`${preference} a`));
  }
  assert.equal(share(listOf("0 a")), first);
  const late = share(listOf("1000 a"));
  assert.notEqual(share(listOf("1000 a")), late); // kept, it would be compared with for ever
});

/** What cannot be tried is not kept: an owner of names would fill the memory with it. */
const longLists: readonly (readonly [what: string, list: readonly MailExchange[], kept: string])[] =
  [
    ["usable hosts", listOf(manyHosts("h")), manyHosts("h", 20)],
    [
      "hosts and names that are none",
      listOf(`0 , ${manyHosts("a_")}, 70 mx.example`),
      "70 mx.example",
    ],
    ["null exchanges", listOf(Array<string>(60).fill("0 ").join(", ")), "0 "],
    [
      "null exchanges and one that cannot be tried",
      listOf(`${Array<string>(60).fill("0 ").join(", ")}, 1 a_b`),
      "1 a_b",
    ],
  ];

function manyHosts(name: string, count = 60): string {
  return Array.from({ length: count }, (_, n) => `${String(n)} ${name}${String(n)}.example`).join(
    ", ",
  );
}

for (const [what, list, kept] of longLists) {
  test(`of a list of many ${what} only what is tried is kept`, () => {
    assert.deepEqual(shareExchanges()(list), listOf(kept));
  });
}
