import { strict as assert } from "node:assert";
import { test } from "node:test";
import { AddressRanges, isPublicAddress } from "./public-address.ts";

const refused: readonly (readonly [why: string, ...addresses: readonly string[]])[] = [
  ["this network (RFC 791)", "0.0.0.0", "0.255.255.255"],
  [
    "private (RFC 1918)",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
  ],
  ["shared (RFC 6598)", "100.64.0.0", "100.127.255.255"],
  ["loopback", "127.0.0.1", "127.255.255.254", "::1"],
  ["unspecified", "::"],
  ["link-local and metadata", "169.254.0.1", "169.254.169.254", "fe80::1", "febf::1"],
  ["the platform address of Azure", "168.63.129.16"],
  ["IETF protocol assignments", "192.0.0.1", "192.0.0.9", "192.0.0.170", "2001:1::1", "2001:20::1"],
  ["documentation", "192.0.2.1", "198.51.100.255", "203.0.113.0", "2001:db8::1", "3fff:fff::1"],
  ["AS112 and AMT", "192.31.196.1", "192.175.48.1", "192.52.193.1", "2620:4f:8000::1"],
  ["6to4 relays (RFC 7526)", "192.88.99.1"],
  ["benchmarking (RFC 2544)", "198.18.0.0", "198.19.255.255", "2001:2::1"],
  ["multicast", "224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
  ["reserved and broadcast", "240.0.0.0", "255.255.255.255"],
  ["unique local (RFC 4193)", "fc00::1", "fd00:ec2::254", "fdff::1"],
  ["site-local, deprecated (RFC 3879)", "fec0::1"],
  ["IPv4-mapped, dotted or not", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8"],
  ["IPv4-compatible", "::127.0.0.1", "::7f00:1", "::8.8.8.8"],
  ["IPv4-translated (RFC 2765)", "::ffff:0:127.0.0.1", "::ffff:0:808:808"],
  ["NAT64 (RFC 6052)", "64:ff9b::10.0.0.1", "64:ff9b::808:808"],
  ["local-use NAT64 (RFC 8215)", "64:ff9b:1::1", "64:ff9b:1:ffff::10.0.0.1"],
  ["6to4 (RFC 3056)", "2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1"],
  ["Teredo (RFC 4380)", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ["ISATAP (RFC 5214)", "2a02:4f8:17::5efe:a00:1", "2a02:4f8:17::200:5efe:10.0.0.1"],
  ["discard-only (RFC 6666)", "100::1", "100:0:0:1::1"],
  ["segment routing (RFC 9602)", "5f00::1"],
  ["not yet global unicast", "4000::1", "1fff:ffff::1", "e000::1"],
  [
    "no textual address",
    "",
    "localhost",
    "127.1",
    "0x7f.0.0.1",
    "017.0.0.1",
    "2130706433",
    "1.2.3.4.5",
  ],
  [
    "an address with blanks, brackets or a zone",
    " 8.8.8.8",
    "[2a00::1]",
    "fe80::1%eth0",
    "2a00::1%1",
  ],
];

for (const [why, ...addresses] of refused) {
  test(`not public: ${why}`, () => {
    assert.deepEqual(addresses.filter(isPublicAddress), []);
  });
}

const accepted: readonly (readonly [why: string, ...addresses: readonly string[]])[] = [
  ["ordinary IPv4", "8.8.8.8", "1.1.1.1", "93.184.216.34", "223.255.255.255"],
  ["just outside private ranges", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0"],
  [
    "just outside shared and loopback",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
  ],
  ["just outside documentation", "192.0.1.255", "192.0.3.0", "198.51.101.7", "203.0.114.0"],
  ["just outside benchmarking", "198.17.255.255", "198.20.0.0"],
  ["ordinary IPv6", "2606:4700:4700::1111", "2a00:1450:4001::200e", "2001:4860:4860::8888"],
  [
    "just outside the IPv6 tables",
    "2001:200::1",
    "2003::1",
    "2001:db7::1",
    "2001:db9::1",
    "3fff:1000::1",
  ],
  [
    "an identifier that only resembles ISATAP",
    "2a02:4f8:17::5eff:a00:1",
    "2a02:4f8:17:0:100:5efe:a00:1",
  ],
];

for (const [why, ...addresses] of accepted) {
  test(`public: ${why}`, () => {
    assert.deepEqual(
      addresses.filter((address) => !isPublicAddress(address)),
      [],
    );
  });
}

test("a setting of ranges allows what it covers and nothing of the other family", () => {
  const ranges = new AddressRanges(["127.0.0.0/8", "10.1.2.3", "fd00::/8"]);
  const asked = [
    "127.9.9.9",
    "10.1.2.3",
    "fd12::1",
    "10.1.2.4",
    "126.0.0.1",
    "::ffff:127.0.0.1",
    "fe00::1",
  ];
  assert.deepEqual(
    asked.filter((address) => ranges.has(address)),
    ["127.9.9.9", "10.1.2.3", "fd12::1"],
  );
});

test("an empty setting allows nothing", () => {
  assert.equal(new AddressRanges([]).has("127.0.0.1"), false);
});

test("every mistake of a setting is named", () => {
  const texts = "10.0.0.0/33 localhost ::/129 1.2.3.4/ 10.0.0.0/8/8 10.0.0.0/8".split(" ");
  const wrong = "10.0.0.0/33, localhost, ::/129, 1.2.3.4/, 10.0.0.0/8/8";
  const message = `neither an address nor a CIDR: ${wrong}`;
  assert.throws(() => new AddressRanges(texts), { message });
});

const edges = [
  ["/0 covers its family", "0.0.0.0/0", "255.1.2.3", true],
  ["/0 covers no other family", "0.0.0.0/0", "::1", false],
  ["a prefix inside an octet, lower edge", "192.168.16.0/20", "192.168.16.0", true],
  ["a prefix inside an octet, upper edge", "192.168.16.0/20", "192.168.31.255", true],
  ["a prefix inside an octet, past it", "192.168.16.0/20", "192.168.32.0", false],
  ["bits behind the prefix are ignored", "10.9.9.9/8", "10.0.0.1", true],
  ["/128 is one address", "fd00::1/128", "fd00::2", false],
] as const;

for (const [name, range, address, want] of edges) {
  test(`range: ${name}`, () => {
    assert.equal(new AddressRanges([range]).has(address), want);
  });
}
