import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isReachable } from "./ip-address.ts";

const cases = [
  ["192.0.2.1", true],
  ["8.8.8.8", true],
  ["100.63.255.255", true],
  ["100.64.0.0", false],
  ["100.127.255.255", false],
  ["100.128.0.0", true],
  ["172.15.0.1", true],
  ["172.31.255.255", false],
  ["172.32.0.1", true],
  ["192.168.1.1", false],
  ["192.167.1.1", true],
  ["169.254.169.254", false],
  ["64:ff9b::7f00:1", false],
  ["64:ff9b::127.0.0.1", false],
  ["64:ff9b::203.0.113.5", true],
  ["2002:7f00:1::1", false],
  ["127.255.0.1", false],
  ["0.0.0.0", false],
  ["10.255.255.255", false],
  ["256.1.1.1", false],
  ["1.2.3", false],
  ["", false],
  ["::", false],
  ["::1", false],
  ["::2", true],
  ["2001:db8::1", true],
  ["fe80::1", false],
  ["febf::1", false],
  ["fec0::1", true],
  ["fc00::1", false],
  ["fdff:ffff::1", false],
  ["::ffff:127.0.0.1", false],
  ["::ffff:192.0.2.1", true],
  ["::ffff:7f00:1", false],
  ["1:2:3:4:5:6:7:8", true],
  ["1:2:3:4:5:6:7", false],
  ["1::2::3", false],
  ["1:2:3:4:5:6:7:8:9", false],
  ["::ffff:1.2.3.400", false],
  ["g::1", false],
] as const;

for (const [address, want] of cases) {
  test(`${JSON.stringify(address)} is ${want ? "" : "not "}an address mail can reach`, () => {
    assert.equal(isReachable(address), want);
  });
}
