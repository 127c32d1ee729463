import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parseDnsServers, systemResolvers, underWayMaxFor } from "./system-resolvers.ts";

const local = { host: "127.0.0.1", port: 53 };
const systems: readonly (readonly [listed: readonly string[], hosts: readonly string[]])[] = [
  [
    ["192.0.2.1", "2001:db8::1"],
    ["192.0.2.1", "2001:db8::1"],
  ],
  [Array.from({ length: 4 }, () => "192.0.2.1"), ["192.0.2.1", "192.0.2.1", "192.0.2.1"]],
  [["fe80::1%eth0"], ["fe80::1%eth0"]],
  [[], ["127.0.0.1"]],
];

for (const [listed, hosts] of systems) {
  test(`the system's resolvers ${JSON.stringify(listed)} are ${hosts.join(", ")}`, () => {
    assert.deepEqual(
      systemResolvers(listed),
      hosts.map((host) => ({ host, port: 53 })),
    );
  });
}

test("of a system's resolver with another port the port is kept", () => {
  assert.deepEqual(systemResolvers(["127.0.0.1:5353"]), [{ host: "127.0.0.1", port: 5_353 }]);
});

const settingCases = [
  ["127.0.0.1", [local]],
  ["127.0.0.1:5353", [{ host: "127.0.0.1", port: 5_353 }]],
  ["[::1]:5353", [{ host: "::1", port: 5_353 }]],
  ["[2001:db8::1]", [{ host: "2001:db8::1", port: 53 }]],
  ["2001:db8::1", [{ host: "2001:db8::1", port: 53 }]],
  [" 127.0.0.1 , [::1]:53 ", [local, { host: "::1", port: 53 }]],
] as const;

for (const [text, servers] of settingCases) {
  test(`GATEPOST_DNS_SERVERS: "${text}" is read`, () => {
    assert.deepEqual(parseDnsServers(text), servers);
  });
}

for (const text of [
  "",
  "dns.example",
  "127.0.0.1:0",
  "127.0.0.1:65536",
  "127.0.0.1:",
  "[127.0.0.1]:53",
  "[::1",
  "127.1",
  "127.0.0.1,",
  "127.0.0.1 192.0.2.1",
]) {
  test(`GATEPOST_DNS_SERVERS: "${text}" is refused by name`, () => {
    assert.throws(
      () => parseDnsServers(text),
      /^Error: ".*" is not a name server: write an IP address/,
    );
  });
}

const windowCases = [
  ["a resolver on this machine", ["127.0.0.1"], 2_000],
  ["one in a private network", ["10.0.0.53", "fd00::53"], 2_000],
  ["a foreign one", ["8.8.8.8"], 800],
  ["one of each", ["127.0.0.1", "2001:4860:4860::8888"], 800],
] as const;

for (const [name, hosts, want] of windowCases) {
  test(`under way at once against ${name}: ${want}`, () => {
    assert.equal(underWayMaxFor(hosts.map((host) => ({ host, port: 53 }))), want);
  });
}
