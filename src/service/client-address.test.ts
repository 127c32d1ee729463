import assert from "node:assert/strict";
import { test } from "node:test";
import { clientAddress, readNetworks } from "./client-address.ts";

const PROXY = "10.0.0.1";
const TRUSTED = ["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.200"];

for (const [name, peer, header, want] of [
  [
    "a peer that is not trusted is the client, whatever it says",
    "203.0.113.9",
    ["1.1.1.1"],
    "203.0.113.9",
  ],
  ["a trusted peer names the client", PROXY, ["203.0.113.9"], "203.0.113.9"],
  ["without the header the proxy itself is the client", PROXY, [], PROXY],
  [
    "what the client wrote to the left is not believed",
    PROXY,
    ["1.1.1.1, 203.0.113.9"],
    "203.0.113.9",
  ],
  ["a chain of trusted proxies is followed", PROXY, ["203.0.113.9, 10.2.3.4"], "203.0.113.9"],
  [
    "a spoofed trusted address to the left of a stranger is not reached",
    PROXY,
    ["10.9.9.9, 203.0.113.9"],
    "203.0.113.9",
  ],
  ["repeated headers are one list", PROXY, ["1.1.1.1", "203.0.113.9, 10.2.3.4"], "203.0.113.9"],
  ["a chain of proxies alone ends at its left end", PROXY, ["10.1.1.1, 10.2.2.2"], "10.1.1.1"],
  ["garbage ends the walk at the proxy that wrote it", PROXY, ["203.0.113.9, unknown"], PROXY],
  ["an empty element is garbage", PROXY, ["203.0.113.9,"], PROXY],
  ["a hidden name is garbage", PROXY, ["_hidden"], PROXY],
  ["a port is dropped", PROXY, ["203.0.113.9:4711"], "203.0.113.9"],
  ["brackets and a port are dropped", PROXY, ["[2001:db8::9]:4711"], "2001:db8::9"],
  ["an IPv6 client is named without brackets too", PROXY, ["2001:db8::9"], "2001:db8::9"],
  ["a mapped peer is the IPv4 proxy", "::ffff:10.0.0.1", ["203.0.113.9"], "203.0.113.9"],
  ["an IPv6 proxy is trusted by its prefix", "2001:db8:ffff:1::1", ["203.0.113.9"], "203.0.113.9"],
  [
    "an IPv6 address beside the prefix is not",
    "2001:db8:fffe::1",
    ["203.0.113.9"],
    "2001:db8:fffe::1",
  ],
  ["a single address is trusted alone", "192.0.2.200", ["203.0.113.9"], "203.0.113.9"],
  ["its neighbour is not", "192.0.2.201", ["203.0.113.9"], "192.0.2.201"],
] as const) {
  test(name, () => {
    assert.equal(clientAddress(peer, header, readNetworks(TRUSTED)), want);
  });
}

test("with nobody trusted the header is never read", () => {
  assert.equal(clientAddress(PROXY, ["203.0.113.9"], []), PROXY);
});

test("a chain of 10,000 trusted hops ends after 50", () => {
  const header = ["203.0.113.9", ...Array.from({ length: 10_000 }, () => "10.1.1.1")].join(",");
  assert.equal(clientAddress(PROXY, [header], readNetworks(TRUSTED)), "10.1.1.1");
});

test("a prefix of 0 trusts everyone, and only its own family when it is IPv4", () => {
  assert.equal(
    clientAddress("203.0.113.1", ["203.0.113.9"], readNetworks(["0.0.0.0/0"])),
    "203.0.113.9",
  );
  assert.equal(
    clientAddress("2001:db8::1", ["203.0.113.9"], readNetworks(["0.0.0.0/0"])),
    "2001:db8::1",
  );
  assert.equal(
    clientAddress("2001:db8::1", ["203.0.113.9"], readNetworks(["::/0"])),
    "203.0.113.9",
  );
});

test("every bad network is named at once", () => {
  const texts = [
    "10.0.0.0/33",
    "2001:db8::/129",
    "proxy.example",
    "10.0.0.0/8/8",
    "10.0.0.1/",
    "192.0.2.1",
  ];
  assert.throws(
    () => readNetworks(texts),
    /"10\.0\.0\.0\/33", "2001:db8::\/129", "proxy\.example", "10\.0\.0\.0\/8\/8", "10\.0\.0\.1\/"$/,
  );
});
