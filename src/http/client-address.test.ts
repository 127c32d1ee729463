import { strict as assert } from "node:assert";
import { test } from "node:test";
import { clientAddress, isLoopback, readTrustedProxies } from "./client-address.ts";

const PROXY = "192.0.2.1";
const NEAR = "192.0.2.0/24";
const CLIENT = "203.0.113.9";

const cases = [
  ["the socket's address counts without a header", "", PROXY, undefined, PROXY],
  ["the header of an untrusted peer is ignored", "", PROXY, CLIENT, PROXY],
  ["a header of a peer outside the list is not believed", "198.51.100.0/24", PROXY, CLIENT, PROXY],
  ["a trusted peer is believed", PROXY, PROXY, CLIENT, CLIENT],
  ["a trusted peer without a header counts itself", PROXY, PROXY, undefined, PROXY],
  ["an empty header says nothing", PROXY, PROXY, "", PROXY],
  [
    "the right-most untrusted address is the client",
    NEAR,
    PROXY,
    "203.0.113.8, 203.0.113.9",
    CLIENT,
  ],
  ["trusted hops are walked over", NEAR, PROXY, "203.0.113.9, 192.0.2.7, 192.0.2.8", CLIENT],
  ["what the client wrote itself is left of it", PROXY, PROXY, "10.9.9.9,203.0.113.9", CLIENT],
  [
    "with trusted hops alone the left-most one counts",
    NEAR,
    PROXY,
    "192.0.2.7,192.0.2.8",
    "192.0.2.7",
  ],
  [
    "garbage ends the walk at the proxy that wrote it",
    NEAR,
    PROXY,
    "203.0.113.9, unknown, 192.0.2.8",
    "192.0.2.8",
  ],
  ["garbage alone leaves the peer", PROXY, PROXY, "::::", PROXY],
  ["an empty piece is garbage", PROXY, PROXY, "203.0.113.9,", PROXY],
  ["a name is not an address", PROXY, PROXY, "proxy.example", PROXY],
  ["a short or hexadecimal number is not an address", PROXY, PROXY, "0x7f.1", PROXY],
  ["a port is dropped", PROXY, PROXY, "203.0.113.9:4711", CLIENT],
  ["a port behind brackets is dropped", PROXY, PROXY, "[2001:db8::1]:4711", "2001:db8::1"],
  ["brackets alone are dropped", PROXY, PROXY, "[2001:db8::1]", "2001:db8::1"],
  ["IPv6 is written in its shortest form", PROXY, PROXY, "2001:0DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["an IPv4-mapped peer is the IPv4 address", "", "::ffff:192.0.2.1", undefined, PROXY],
  ["an IPv4-mapped peer is trusted as the IPv4 address", PROXY, "::ffff:192.0.2.1", CLIENT, CLIENT],
  ["an IPv4-mapped hop is the IPv4 address", PROXY, PROXY, "::ffff:203.0.113.9", CLIENT],
  ["a mapped CIDR in the list is its IPv4 form", "::ffff:192.0.2.0/120", PROXY, CLIENT, CLIENT],
  ["a mapped address in hexadecimal is the IPv4 address", "", "::ffff:c000:201", undefined, PROXY],
  ["an IPv6 proxy is trusted by its network", "2001:db8::/32", "2001:db8::7", CLIENT, CLIENT],
  ["a zone does not make another address", "", "fe80::1%eth0", undefined, "fe80::1"],
  [
    "0.0.0.0/0 trusts every IPv4 peer and no IPv6 peer",
    "0.0.0.0/0",
    "2001:db8::7",
    CLIENT,
    "2001:db8::7",
  ],
  ["a closed socket counts as an unknown address", "", undefined, CLIENT, "0.0.0.0"],
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
