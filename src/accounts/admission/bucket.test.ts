import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketOf } from "./caller.ts";

for (const [name, address, wantAddress, wantBucket] of [
  ["an IPv4 address is its own bucket", "192.0.2.1", "192.0.2.1", "192.0.2.1"],
  ["a mapped address is the IPv4 one", "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"],
  ["a mapped address in hex too", "::FFFF:C000:201", "192.0.2.1", "192.0.2.1"],
  ["a mapped address in full too", "0:0:0:0:0:ffff:c000:0201", "192.0.2.1", "192.0.2.1"],
  [
    "an IPv6 address counts with its /64",
    "2001:db8:1:2:3:4:5:6",
    "2001:db8:1:2:3:4:5:6",
    "2001:db8:1:2::/64",
  ],
  [
    "short and long spellings are one",
    "2001:0DB8::0006",
    "2001:db8:0:0:0:0:0:6",
    "2001:db8:0:0::/64",
  ],
  ["a zone does not count", "fe80::1%eth0", "fe80:0:0:0:0:0:0:1", "fe80:0:0:0::/64"],
  ["loopback is an address as any other", "::1", "0:0:0:0:0:0:0:1", "0:0:0:0::/64"],
  ["texts that are not addresses share one bucket", "::nonsense::", "unknown", "unknown"],
  ["an absent address has one bucket", "", "unknown", "unknown"],
] as const) {
  test(name, () => {
    assert.deepEqual(bucketOf(address), { address: wantAddress, bucket: wantBucket });
  });
}

test("neighbours in a /64 share, the next /64 does not", () => {
  const bucket = (address: string) => bucketOf(address).bucket;
  assert.equal(bucket("2001:db8:0:1::1"), bucket("2001:db8:0:1:ffff:ffff:ffff:ffff"));
  assert.notEqual(bucket("2001:db8:0:1::1"), bucket("2001:db8:0:2::1"));
});
