import { strict as assert } from "node:assert";
import { test } from "node:test";
import { clientAddress, isLoopback, readTrustedProxies } from "./client-address.ts";

const cases = [
  ["the socket's address counts without a header", "", "192.0.2.1", undefined, "192.0.2.1"],
  ["the header of an untrusted peer is ignored", "", "192.0.2.1", "203.0.113.9", "192.0.2.1"],
  [
    "a header of a peer outside the list is not believed",
    "198.51.100.0/24",
    "192.0.2.1",
    "203.0.113.9",
    "192.0.2.1",
  ],
  ["a trusted peer is believed", "192.0.2.1", "192.0.2.1", "203.0.113.9", "203.0.113.9"],
  [
    "a trusted peer without a header counts itself",
    "192.0.2.1",
    "192.0.2.1",
    undefined,
    "192.0.2.1",
  ],
  ["an empty header says nothing", "192.0.2.1", "192.0.2.1", "", "192.0.2.1"],
  [
    "the right-most untrusted address is the client",
    "192.0.2.0/24",
    "192.0.2.1",
    "203.0.113.8, 203.0.113.9",
    "203.0.113.9",
  ],
  [
    "trusted hops are walked over",
    "192.0.2.0/24",
    "192.0.2.1",
    "203.0.113.9, 192.0.2.7, 192.0.2.8",
    "203.0.113.9",
  ],
  [
    "what the client wrote itself is left of it",
    "192.0.2.1",
    "192.0.2.1",
    "10.9.9.9,203.0.113.9",
    "203.0.113.9",
  ],
  [
    "with trusted hops alone the left-most one counts",
    "192.0.2.0/24",
    "192.0.2.1",
    "192.0.2.7,192.0.2.8",
    "192.0.2.7",
  ],
  [
    "garbage ends the walk at the proxy that wrote it",
    "192.0.2.0/24",
    "192.0.2.1",
    "203.0.113.9, unknown, 192.0.2.8",
    "192.0.2.8",
  ],
  ["garbage alone leaves the peer", "192.0.2.1", "192.0.2.1", "::::", "192.0.2.1"],
  ["an empty piece is garbage", "192.0.2.1", "192.0.2.1", "203.0.113.9,", "192.0.2.1"],
  ["a name is not an address", "192.0.2.1", "192.0.2.1", "proxy.example", "192.0.2.1"],
  [
    "a short or hexadecimal number is not an address",
    "192.0.2.1",
    "192.0.2.1",
    "0x7f.1",
    "192.0.2.1",
  ],
  ["a port is dropped", "192.0.2.1", "192.0.2.1", "203.0.113.9:4711", "203.0.113.9"],
  [
    "a port behind brackets is dropped",
    "192.0.2.1",
    "192.0.2.1",
    "[2001:db8::1]:4711",
    "2001:db8::1",
  ],
  ["brackets alone are dropped", "192.0.2.1", "192.0.2.1", "[2001:db8::1]", "2001:db8::1"],
  [
    "IPv6 is written in its shortest form",
    "192.0.2.1",
    "192.0.2.1",
    "2001:0DB8:0:0:0:0:0:1",
    "2001:db8::1",
  ],
  ["an IPv4-mapped peer is the IPv4 address", "", "::ffff:192.0.2.1", undefined, "192.0.2.1"],
  [
    "an IPv4-mapped peer is trusted as the IPv4 address",
    "192.0.2.1",
    "::ffff:192.0.2.1",
    "203.0.113.9",
    "203.0.113.9",
  ],
  [
    "an IPv4-mapped hop is the IPv4 address",
    "192.0.2.1",
    "192.0.2.1",
    "::ffff:203.0.113.9",
    "203.0.113.9",
  ],
  [
    "a mapped CIDR in the list is its IPv4 form",
    "::ffff:192.0.2.0/120",
    "192.0.2.1",
    "203.0.113.9",
    "203.0.113.9",
  ],
  [
    "a mapped address in hexadecimal is the IPv4 address",
    "",
    "::ffff:c000:201",
    undefined,
    "192.0.2.1",
  ],
  [
    "an IPv6 proxy is trusted by its network",
    "2001:db8::/32",
    "2001:db8::7",
    "203.0.113.9",
    "203.0.113.9",
  ],
  ["a zone does not make another address", "", "fe80::1%eth0", undefined, "fe80::1"],
  [
    "0.0.0.0/0 trusts every IPv4 peer and no IPv6 peer",
    "0.0.0.0/0",
    "2001:db8::7",
    "203.0.113.9",
    "2001:db8::7",
  ],
  ["a closed socket counts as an unknown address", "", undefined, "203.0.113.9", "0.0.0.0"],
] as const;

for (const [name, trusted, peer, forwardedFor, want] of cases) {
  test(name, () => {
    assert.equal(clientAddress(peer, forwardedFor, readTrustedProxies(trusted)), want);
  });
}

test("a header of thousands of hops is walked once", () => {
  const hops = "192.0.2.7,".repeat(8_000);
  const trusted = readTrustedProxies("192.0.2.0/24");
  assert.equal(clientAddress("192.0.2.1", `203.0.113.9,${hops}192.0.2.8`, trusted), "203.0.113.9");
});

test("every wrong piece of the setting is named", () => {
  assert.throws(() => readTrustedProxies("10.0.0.0/8, proxy, 10.0.0.0/33, ::1/129, 10.1"), {
    message: "neither an address nor a CIDR: proxy, 10.0.0.0/33, ::1/129, 10.1",
  });
});

const loopbacks = [
  ["127.0.0.1", true],
  ["127.8.9.10", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["192.0.2.1", false],
  ["0.0.0.0", false],
  ["", false],
] as const;

for (const [address, want] of loopbacks) {
  test(`"${address}" is ${want ? "" : "not "}the machine itself`, () => {
    assert.equal(isLoopback(address), want);
  });
}
