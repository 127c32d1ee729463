import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createHostHeaderCheck, isAllowedFor } from "./hosts.ts";

const publicUrl = (): string => "https://Mail.Example:8443";

const TERMS = { allowed: undefined, publicUrl, hasPublicUrl: false, listensOn: "0.0.0.0" };

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
    const isAllowed = createHostHeaderCheck({ ...TERMS, listensOn: "127.0.0.1" });
    assert.equal(isAllowed(host), want);
  });
}

test("a service on all addresses answers to any Host unless hosts or a public URL are set", () => {
  assert.equal(createHostHeaderCheck(TERMS)("10.1.2.3:8080"), true);
  const named = createHostHeaderCheck({ ...TERMS, allowed: ["gatepost.internal"] });
  assert.deepEqual([named("gatepost.internal:8080"), named("10.1.2.3:8080")], [true, false]);
});

const hosts = [
  ["the public URL's host", "mail.example:8443", true],
  ["its host on another port, as behind a proxy", "mail.example", true],
  ["its host with a last dot", "mail.example.", true],
  ["its host with a last dot and a port", "MAIL.example.:8443", true],
  ["an allowed host with a last dot", "gate.internal.:80", true],
  ["an allowed IPv6 address", "[2001:db8::1]:8080", true],
  ["the same address spelled out", "[2001:0DB8:0:0:0:0:0:1]", true],
  ["a loopback name", "localhost:8080", true],
  ["IPv6 loopback spelled out", "[0:0:0:0:0:0:0:1]:8080", true],
  ["another host", "attacker.example", false],
  ["another address", "[2001:db8::2]:8080", false],
  ["a host that begins like it", "mail.example.attacker.example", false],
  ["two dots", "mail.example..", false],
  ["a user before it", "mail.example@attacker.example", false],
  ["a path behind it", "mail.example/x", false],
  ["no number for a port", "mail.example:x", false],
  ["an empty host", "", false],
  ["no host", undefined, false],
] as const;

for (const [name, host, want] of hosts) {
  test(`a service with a public URL on all addresses answers by Host: ${name}`, () => {
    const allowed = ["Gate.Internal.", "2001:db8::1"];
    const isAllowed = createHostHeaderCheck({ ...TERMS, hasPublicUrl: true, allowed });
    assert.equal(isAllowed(host), want);
  });
}

test("a target in absolute form must name an allowed host too", () => {
  const isAllowed = createHostHeaderCheck({ ...TERMS, hasPublicUrl: true });
  const headers = { host: "mail.example" };
  const at = (url: string): boolean => isAllowedFor({ headers, url }, isAllowed);
  assert.equal(at("/account/session"), true);
  assert.equal(at("http://mail.example.:8443/account/session"), true);
  assert.equal(at("http://attacker.example/account/session"), false);
  assert.equal(at("HTTPS://mail.example@attacker.example/account/session"), false);
});
