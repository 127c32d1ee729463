import assert from "node:assert/strict";
import { test } from "node:test";
import { createValidator as createFull } from "../../../src/main/library.ts";
import { createValidator as createCore, dnsOverHttps } from "./core.ts";

/** What a program in JavaScript may pass, and the words that name the mistake. */
const refused: readonly (readonly [
  name: string,
  make: (options: never) => unknown,
  options: unknown,
  words: RegExp,
])[] = [
  ["a misspelt option", createFull, { dnsServer: ["1.1.1.1"] }, /^dnsServer: is not an option; /],
  ["a misspelt option of the core", createCore, { timeout: 100 }, /^timeout: is not an option; /],
  ["a misspelt option of DNS", dnsOverHttps, { uri: "https://a.example" }, /^uri: is not an opt/],
  ["servers that are names", createFull, { dnsServers: "one.one" }, /^dnsServers: "one\.one" is/],
  ["a time as text", createFull, { timeoutMs: "100" }, /^timeoutMs: 100 is not a number/],
  ["a flag as text", createCore, { implicitMx: "yes" }, /^implicitMx: yes is not true or false/],
  ["DNS as text", createFull, { dns: "1.1.1.1" }, /^dns: not what dnsOverHttps gives/],
  ["DNS as text in the core", createCore, { dns: "1.1.1.1" }, /^dns: not what dnsOverHttps/],
  ["options as text", createFull, "1.1.1.1", /^options: must be an object/],
];

for (const [name, make, options, words] of refused) {
  test(`the library refuses ${name} by its name`, async () => {
    await assert.rejects(async () => make(options as never), { message: words });
  });
}

test("one DNS server may be text, and one feature a name", async () => {
  const validator = await createFull({ dnsServers: "127.0.0.1:9", dnsCanaries: [], timeoutMs: 50 });
  const result = await validator.validate("jo@a.example", "all");
  assert.ok(result.temporarily_unavailable_features?.includes("spf"));
  await assert.rejects(validator.validate("jo@a.example", "spff" as never), /features: "spff" is/);
  await assert.rejects(validator.validate("jo@a.example", 1 as never), /features: number is not/);
  await validator.close();
});
