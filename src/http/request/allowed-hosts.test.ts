import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createHostCheck } from "./allowed-hosts.ts";

const publicUrl = (): string => "https://Mail.Example:8443";

const local = [
  ["a loopback address", "127.0.0.1:8080", true],
  ["IPv6 loopback", "[::1]:8080", true],
  ["localhost", "localhost:8080", true],
  ["a name under localhost", "gatepost.localhost", true],
  ["the public URL's host", "mail.example", true],
  ["another site's name", "attacker.example:8080", false],
  ["a name that begins like a loopback address", "127.0.0.1.attacker.example", false],
  ["no host", undefined, false],
] as const;

for (const [name, host, want] of local) {
  test(`a service on loopback answers by Host: ${name}`, () => {
    const isAllowed = createHostCheck({ allowed: undefined, publicUrl, listensOn: "127.0.0.1" });
    assert.equal(isAllowed(host), want);
  });
}

test("a service on all addresses answers to any Host unless hosts are named", () => {
  const terms = { publicUrl, listensOn: "0.0.0.0" };
  assert.equal(createHostCheck({ ...terms, allowed: undefined })("10.1.2.3:8080"), true);
  const named = createHostCheck({ ...terms, allowed: ["gatepost.internal"] });
  assert.deepEqual([named("gatepost.internal:8080"), named("10.1.2.3:8080")], [true, false]);
});
