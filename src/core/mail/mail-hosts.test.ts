import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type Zone, zoneLookup } from "../../../test/dns/zone-lookup.ts";
import type { MailExchange } from "./lookup.ts";
import { findMailHosts, type MailHosts, triedExchanges } from "./mail-hosts.ts";

interface Case {
  readonly name: string;
  readonly zone: Zone;
  readonly domain?: string;
  readonly implicitMx?: boolean;
  readonly want: MailHosts;
}

const live = { a: ["192.0.2.1"] };
const hosts = (...names: string[]): MailHosts => ({ kind: "hosts", hosts: names, implicit: false });
const none = (why: (MailHosts & { kind: "none" })["why"]): MailHosts => ({ kind: "none", why });

const cases: readonly Case[] = [
  {
    name: "one MX that resolves",
    zone: { "d.example": { mx: ["10 mx.example"] }, "mx.example": live },
    want: hosts("mx.example"),
  },
  {
    name: "hosts come in preference order, equal ones by name (RFC 5321 section 5.1)",
    zone: {
      "d.example": { mx: ["20 c.example", "10 b.example", "10 a.example"] },
      "a.example": live,
    },
    want: hosts("a.example", "b.example", "c.example"),
  },
  {
    name: "a host that DNS denies is left out",
    zone: { "d.example": { mx: ["10 dead.example", "20 mx.example"] }, "mx.example": live },
    want: hosts("mx.example"),
  },
  {
    name: "hosts behind the first that resolves are not asked",
    zone: { "d.example": { mx: ["10 mx.example", "20 dead.example"] }, "mx.example": live },
    want: hosts("mx.example", "dead.example"),
  },
  {
    name: "a host of unknown state stays in",
    zone: { "d.example": { mx: ["10 mx.example"] }, "mx.example": { unknown: true } },
    want: hosts("mx.example"),
  },
  {
    name: "a denied and an inconclusive host leave the inconclusive one",
    zone: {
      "d.example": { mx: ["10 dead.example", "20 mx.example"] },
      "mx.example": { unknown: true },
    },
    want: hosts("mx.example"),
  },
  {
    name: "all hosts denied",
    zone: { "d.example": { mx: ["10 dead.example", "20 gone.example"] } },
    want: none("unresolvable"),
  },
  {
    name: "a host with loopback, private, link-local, shared and unspecified addresses only",
    zone: {
      "d.example": { mx: ["10 mx.example"] },
      "mx.example": {
        a: ["127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.0.1", "100.64.0.1"],
        aaaa: ["::", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1"],
      },
    },
    want: none("unresolvable"),
  },
  {
    name: "one public address among private ones is enough",
    zone: {
      "d.example": { mx: ["10 mx.example"] },
      "mx.example": { a: ["10.0.0.1"], aaaa: ["2001:db8::1"] },
    },
    want: hosts("mx.example"),
  },
  {
    name: "an address literal as mail host",
    zone: { "d.example": { mx: ["10 192.0.2.1"] } },
    want: none("unresolvable"),
  },
  {
    name: "localhost as mail host",
    zone: { "d.example": { mx: ["10 localhost", "20 mail.localhost"] } },
    want: none("unresolvable"),
  },
  {
    name: "a mail host with an underscore is not a host name",
    zone: { "d.example": { mx: ["10 my_mx.example"] }, "my_mx.example": live },
    want: none("unresolvable"),
  },
  { name: "a null MX (RFC 7505)", zone: { "d.example": { mx: ["0 ."] } }, want: none("nullMx") },
  {
    name: "a null MX beside a real one is ignored (RFC 7505 section 3)",
    zone: { "d.example": { mx: ["0 .", "10 mx.example"] }, "mx.example": live },
    want: hosts("mx.example"),
  },
  { name: "a name that does not exist", zone: {}, want: none("noMx") },
  { name: "no MX and no address", zone: { "d.example": { txt: ["x"] } }, want: none("noMx") },
  { name: "no MX but an address", zone: { "d.example": live }, want: none("implicitMx") },
  {
    name: "no MX but an address, which the operator counts",
    zone: { "d.example": live },
    implicitMx: true,
    want: { kind: "hosts", hosts: ["d.example"], implicit: true },
  },
  {
    name: "no MX and a loopback address only",
    zone: { "d.example": { a: ["127.0.0.1"] } },
    implicitMx: true,
    want: none("noMx"),
  },
  {
    name: "no MX and an inconclusive address",
    zone: { "d.example": { txt: ["x"], unknown: ["addresses"] } },
    want: none("noMx"),
  },
  {
    name: "no MX and an inconclusive address where the address would count",
    zone: { "d.example": { txt: ["x"], unknown: ["addresses"] } },
    implicitMx: true,
    want: { kind: "unknown" },
  },
  {
    name: "an inconclusive MX",
    zone: { "d.example": { unknown: true } },
    want: { kind: "unknown" },
  },
  {
    name: "a special-use name is not asked",
    domain: "d.localhost",
    zone: { "d.localhost": { mx: ["10 mx.example"] } },
    want: none("specialUse"),
  },
  {
    name: "the same host twice counts once",
    zone: { "d.example": { mx: ["10 mx.example", "20 mx.example"] }, "mx.example": live },
    want: hosts("mx.example"),
  },
];

for (const { name, zone, domain = "d.example", implicitMx = false, want } of cases) {
  test(name, async () => {
    const found = await findMailHosts(domain, zoneLookup(zone), implicitMx);
    const { addresses, ...rest } = { addresses: undefined, ...found };
    assert.deepEqual(rest, want);
    assert.notDeepEqual(addresses, []);
  });
}

const numbered = (count: number, host: (n: number) => string): readonly MailExchange[] =>
  Array.from({ length: count }, (_, n) => ({ preference: n, host: host(n) }));

const longName = (n: number, octets: number): string =>
  `${`${"a".repeat(49)}.`.repeat(5).slice(0, octets - 6)}n${String(n).padStart(2, "0")}.co`;

const tried: readonly (readonly [what: string, records: readonly MailExchange[], want: number])[] =
  [
    ["20 of 60 hosts", numbered(60, (n) => `h${String(n)}.example.com`), 20],
    [
      "20 of 60 that come after 30 without a host name",
      [
        ...numbered(30, () => "a_b.example.com"),
        ...numbered(60, (n) => `h${String(n)}.example.com`),
      ],
      20,
    ],
    ["as many as have 2 KiB of names", numbered(20, (n) => longName(n, 250)), 8],
    ["the first two at least", numbered(2, (n) => longName(n, 250)), 2],
  ];

for (const [what, records, want] of tried) {
  test(`of a domain's exchanges are tried: ${what}`, () => {
    const kept = triedExchanges(records);
    assert.equal(kept.length, want);
    assert.deepEqual(kept, records.filter(({ host }) => !host.includes("_")).slice(0, want));
  });
}

test("addresses that mail cannot reach speak for no machine, and are not kept", async () => {
  const lookup = zoneLookup({
    "d.example": { mx: ["10 m.example"] },
    "m.example": { a: ["192.168.0.1", "192.0.2.1", "127.0.0.1"], aaaa: ["fe80::1"] },
  });
  const found = await findMailHosts("d.example", lookup, false);
  assert.deepEqual(found.kind === "hosts" && found.addresses, ["192.0.2.1"]);
});

test("the addresses of the first host that resolves are kept", async () => {
  const zone = {
    "d.example": { mx: ["1 dead.example", "2 one.example", "3 two.example"] },
    "one.example": { a: ["192.0.2.1"], aaaa: ["2001:db8::1"] },
    "two.example": { a: ["192.0.2.2"] },
  };
  const found = await findMailHosts("d.example", zoneLookup(zone), false);
  assert.deepEqual(found.kind === "hosts" && found.addresses, ["192.0.2.1", "2001:db8::1"]);
});

test("a special-use name causes no question at all", async () => {
  const lookup = zoneLookup({});
  await findMailHosts("d.invalid", lookup, true);
  assert.deepEqual(lookup.asked, []);
});

test("of a thousand mail hosts at most twenty are asked", async () => {
  const mx = Array.from(
    { length: 1_000 },
    (_, index) => `${String(index)} mx${String(index)}.example`,
  );
  const lookup = zoneLookup({ "d.example": { mx } });
  assert.deepEqual(await findMailHosts("d.example", lookup, false), none("unresolvable"));
  assert.equal(lookup.asked.length, 21);
});
