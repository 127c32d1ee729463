import { strict as assert } from "node:assert";
import { test } from "node:test";
import { zoneLookup, zones } from "../../../test/dns/zone-lookup.ts";
import type { MailExchange } from "./lookup.ts";
import { findMailHosts, type MailHosts, triedExchanges } from "./mail-hosts.ts";

const words = (found: MailHosts): string => {
  if (found.kind === "hosts")
    return [found.implicit ? "implicit" : "hosts", ...found.hosts].join(" ");
  return found.kind === "none" ? `none ${found.why}` : found.kind;
};

/** Wanted: the domain, "counted" where an address counts as mail host, and what is found. */
const CASES = zones(`
one MX that resolves -> d.example: hosts mx.example
  d.example mx 10 mx.example
  mx.example a 192.0.2.1
hosts come in preference order, equal ones by name (RFC 5321 section 5.1) -> d.example: hosts a.example b.example c.example
  d.example mx 20 c.example
  d.example mx 10 b.example
  d.example mx 10 a.example
  a.example a 192.0.2.1
a host that DNS denies is left out -> d.example: hosts mx.example
  d.example mx 10 dead.example
  d.example mx 20 mx.example
  mx.example a 192.0.2.1
hosts behind the first that resolves are not asked -> d.example: hosts mx.example dead.example
  d.example mx 10 mx.example
  d.example mx 20 dead.example
  mx.example a 192.0.2.1
a host of unknown state stays in -> d.example: hosts mx.example
  d.example mx 10 mx.example
  mx.example unknown
a denied and an inconclusive host leave the inconclusive one -> d.example: hosts mx.example
  d.example mx 10 dead.example
  d.example mx 20 mx.example
  mx.example unknown
all hosts denied -> d.example: none unresolvable
  d.example mx 10 dead.example
  d.example mx 20 gone.example
a host with loopback, private, link-local, shared and unspecified addresses only -> d.example: none unresolvable
  d.example mx 10 mx.example
  mx.example a 127.0.0.1
  mx.example a 10.0.0.1
  mx.example a 172.16.0.1
  mx.example a 192.168.0.1
  mx.example a 169.254.0.1
  mx.example a 100.64.0.1
  mx.example aaaa ::
  mx.example aaaa ::1
  mx.example aaaa fe80::1
  mx.example aaaa fd00::1
  mx.example aaaa ::ffff:10.0.0.1
one public address among private ones is enough -> d.example: hosts mx.example
  d.example mx 10 mx.example
  mx.example a 10.0.0.1
  mx.example aaaa 2001:db8::1
an address literal as mail host -> d.example: none unresolvable
  d.example mx 10 192.0.2.1
localhost as mail host -> d.example: none unresolvable
  d.example mx 10 localhost
  d.example mx 20 mail.localhost
a mail host of a large proxy -> d.example: hosts _dc-mx.0a1b2c3d4e5f.d.example
  d.example mx 10 _dc-mx.0a1b2c3d4e5f.d.example
  _dc-mx.0a1b2c3d4e5f.d.example a 192.0.2.1
mail hosts that are no host names -> d.example: hosts mail_1.d.example -mx.example mx
  d.example mx 10 mail_1.d.example
  d.example mx 20 -mx.example
  d.example mx 30 mx
  mail_1.d.example a 192.0.2.1
a mail host with an underscore that does not exist -> d.example: none unresolvable
  d.example mx 10 my_mx.example
a null MX (RFC 7505) -> d.example: none nullMx
  d.example mx 0 .
a null MX beside a real one is ignored (RFC 7505 section 3) -> d.example: hosts mx.example
  d.example mx 0 .
  d.example mx 10 mx.example
  mx.example a 192.0.2.1
a name that does not exist -> d.example: none noMx
no MX and no address -> d.example: none noMx
  d.example txt x
no MX but an address -> d.example: none implicitMx
  d.example a 192.0.2.1
no MX but an address, which the operator counts -> d.example counted: implicit d.example
  d.example a 192.0.2.1
no MX and a loopback address only -> d.example counted: none noMx
  d.example a 127.0.0.1
no MX and an inconclusive address -> d.example: none noMx
  d.example txt x
  d.example unknown addresses
no MX and an inconclusive address where the address would count -> d.example counted: unknown
  d.example txt x
  d.example unknown addresses
an inconclusive MX -> d.example: unknown
  d.example unknown
a special-use name is not asked -> d.localhost: none specialUse
  d.localhost mx 10 mx.example
five hosts that do not exist -> d.example: none unresolvable
  d.example mx 10 a.example
  d.example mx 10 b.example
  d.example mx 10 c.example
  d.example mx 10 e.example
  d.example mx 10 f.example
of more than five nobody knows, and the rest stays in -> d.example: hosts g.example h.example
  d.example mx 10 a.example
  d.example mx 10 b.example
  d.example mx 10 c.example
  d.example mx 10 e.example
  d.example mx 10 f.example
  d.example mx 10 g.example
  d.example mx 10 h.example
the same host twice counts once -> d.example: hosts mx.example
  d.example mx 10 mx.example
  d.example mx 20 mx.example
  mx.example a 192.0.2.1
`);

for (const { name, want, zone } of CASES) {
  const [asked = "", wanted = ""] = want.split(": ");
  const [domain = "", counted] = asked.split(" ");
  test(name, async () => {
    const found = await findMailHosts(domain, zoneLookup(zone), counted !== undefined);
    assert.equal(words(found), wanted);
    assert.notDeepEqual("addresses" in found ? found.addresses : undefined, []);
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
      "20 of 60 that come after 30 addresses",
      [
        ...numbered(30, (n) => `192.0.2.${String(n)}`),
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
    assert.deepEqual(kept, records.filter(({ host }) => !host.startsWith("192")).slice(0, want));
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

test("of a thousand mail hosts twenty count and five are asked, also in twenty zones", async () => {
  const mx = Array.from(
    { length: 1_000 },
    (_, index) => `${String(index)} mx${String(index)}.example`,
  );
  const lookup = zoneLookup({ "d.example": { mx } });
  const found = await findMailHosts("d.example", lookup, false);
  assert.equal(found.kind === "hosts" && found.hosts.length, 15);
  assert.equal(lookup.asked.length, 6);
});

test("an entry whose twenty mail hosts lie in somebody's zone asks there at most ten times", async () => {
  const hosts = Array.from({ length: 20 }, (_, n) => `10 h${String(n)}.victim.example`);
  const lookup = zoneLookup({ "d.example": { mx: hosts } });
  let asked = 0;
  const addresses: typeof lookup.addresses = (host) => {
    asked += 2; // A and AAAA
    return lookup.addresses(host);
  };
  await findMailHosts("d.example", { ...lookup, addresses }, false);
  assert.equal(asked, 10);
});
