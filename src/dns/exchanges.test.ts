import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { MailExchange } from "../core/mail/lookup.ts";
import { keptExchanges } from "./lookup.ts";

/** A list of its own, as each message brings one: "10 a, 20 b". */
const listOf = (text: string): readonly MailExchange[] =>
  text.split(", ").map((exchange) => {
    const [preference = "", host = ""] = exchange.split(" ");
    return { preference: Number(preference), host };
  });

test("a list is the same however the server turns it around", () => {
  const kept = listOf("5 c, 10 a, 10 b");
  assert.deepEqual(keptExchanges(listOf("10 b, 5 c, 10 a")), kept);
  assert.deepEqual(keptExchanges(listOf("10 a, 10 b, 5 c")), kept);
});

/** What cannot be tried is not kept: an owner of names would fill the memory with it. */
const longLists: readonly (readonly [what: string, list: readonly MailExchange[], kept: string])[] =
  [
    ["usable hosts", listOf(manyHosts("h")), manyHosts("h", 20)],
    [
      "hosts and names that are none",
      listOf(`0 , ${manyHosts("h\\032")}, 70 mx.example`),
      "70 mx.example",
    ],
    ["null exchanges", listOf(Array<string>(60).fill("0 ").join(", ")), "0 "],
    [
      "null exchanges and one that cannot be tried",
      listOf(`${Array<string>(60).fill("0 ").join(", ")}, 1 a\\032b`),
      "1 a\\032b",
    ],
  ];

function manyHosts(name: string, count = 60): string {
  return Array.from({ length: count }, (_, n) => `${String(n)} ${name}${String(n)}.example`).join(
    ", ",
  );
}

for (const [what, list, kept] of longLists) {
  test(`of a list of many ${what} only what is tried is kept`, () => {
    assert.deepEqual(keptExchanges(list), listOf(kept));
  });
}
