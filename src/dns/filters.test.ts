import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { checkDeps, domainOf } from "../../test/process/check-run.ts";
import { dnsClient } from "../../test/dns/dns-client.ts";
import { questionOctets, TYPE } from "../../test/dns/dns-message.ts";
import { startDnsServer } from "../../test/dns/dns-server.ts";
import { type RawAnswer, rawMessage, type ServedName } from "../../test/dns/dns-zone.ts";
import { selectorsFor, unlikelySelector } from "../core/checks/dkim/dkim.ts";
import { runChecks } from "../core/checks/run.ts";
import { findMailHosts } from "../core/mail/mail-hosts.ts";
import { decodeResponse, interpret } from "./message/wire.ts";
import { A, AAAA, MX, type RecordKind, TXT } from "./message/records.ts";

type Json = Readonly<Record<string, unknown>>;

/** A name of `cases/dns`: MX and A in arrays, RCODE and EDE for all types, RAW by type. */
function served(entry: Json): ServedName {
  const {
    MX: mx,
    A: a,
    RCODE: rcode,
    EDE: ede,
    RAW: raw,
  } = entry as {
    readonly MX?: readonly (readonly [number, string])[];
    readonly A?: readonly string[];
    readonly RCODE?: number;
    readonly EDE?: number;
    readonly RAW?: Readonly<Record<string, RawAnswer>>;
  };
  if (raw !== undefined) return { raw };
  if (rcode !== undefined || ede !== undefined) {
    return { raw: { ...(rcode !== undefined && { rcode }), ...(ede !== undefined && { ede }) } };
  }
  const texts = mx?.map(([preference, host]) => `${String(preference)} ${host}`);
  return { ...(texts && { mx: texts }), ...(a && { a }) };
}

const cases = JSON.parse(
  readFileSync(new URL("../../../test/dns/filters.json", import.meta.url), "utf8"),
) as Readonly<Record<string, Json>>;

/** A filter in front of one name each: of the domain, of its mail host, of its texts. */
const FILTERED: Readonly<Record<string, ServedName>> = {
  "honest.com": { mx: ["10 mx.honest.com"], txt: ["v=spf1 -all"] },
  "mx.honest.com": { raw: { rcode: 3, ede: 15 } },
  "zero.com": { mx: ["10 mx.zero.com"] },
  "mx.zero.com": {
    raw: { A: { ede: 17, an: [["mx.zero.com", "A", "0.0.0.0"]] }, AAAA: { ede: 17 } },
  },
  "addressed.com": {
    raw: {
      MX: {},
      A: { ede: 15, an: [["addressed.com", "A", "0.0.0.0"]] },
      AAAA: { ede: 15, an: [["addressed.com", "AAAA", "::"]] },
    },
  },
  "spf.com": { mx: ["10 mx.good.test"], raw: { TXT: { rcode: 3, ede: 16 } } },
};

const selectors = [...selectorsFor(undefined), unlikelySelector("blocked.com")];
const blocked = ["", "_dmarc.", ...selectors.map((selector) => `${selector}._domainkey.`)].map(
  (prefix) => [`${prefix}blocked.com`, { raw: { rcode: 3, ede: 15 } }] as const,
);

const zone = Object.fromEntries(
  Object.entries(cases).map(([name, entry]) => [name, served(entry)]),
);
const server = await startDnsServer({ ...zone, ...FILTERED, ...Object.fromEntries(blocked) });
const dns = dnsClient([server]);
after(async () => {
  dns.close();
  await server.close();
});

const WANTED: Readonly<Record<string, "hosts" | "none" | "unknown">> = {
  "good.test": "hosts",
  "quad9-blocked.com": "unknown",
  "ede15-nx.com": "unknown",
  "ede15-nodata.com": "unknown",
  "ede16-nx.com": "unknown",
  "ede18-nx.com": "unknown",
  "sub.dname1.com": "hosts",
  "sub.dname2.com": "hosts",
  "sub.dname3.com": "hosts",
  "wrongowner.com": "unknown",
  "ede22.com": "unknown",
  "nosoa-nx.com": "none",
  "lame.com": "unknown",
  "honest.com": "hosts",
  "zero.com": "hosts",
  "addressed.com": "unknown",
};

for (const [name, want] of Object.entries(WANTED)) {
  test(`mail of ${name} behind a filter, an alias or a lame server: ${want}`, async () => {
    assert.equal((await findMailHosts(name, dns, false)).kind, want);
  });
}

test("SPF, DKIM and DMARC that a filter withholds are unknown", async () => {
  const lookup = { ...dns, registration: () => ({ kind: "unknown", why: "refused" }) as const };
  const asked = { features: ["spf", "dkim", "dmarc"], spamTrap: false } as const;
  const subject = { domain: domainOf("blocked.com"), mail: { kind: "unknown" } } as const;
  const { unavailable } = await runChecks(asked, subject, checkDeps(lookup));
  assert.deepEqual(unavailable, ["spf", "dkim", "dmarc"]);
  const spf = { ...subject, domain: domainOf("spf.com") };
  const answer = await runChecks({ ...asked, features: ["spf"] }, spf, checkDeps(lookup));
  assert.deepEqual(answer.unavailable, ["spf"]);
});

/** What products answer for a name on their lists, by their documents; `?` is the asked name. */
const PRODUCTS: readonly (readonly [product: string, answer: RawAnswer, zeros?: true])[] = [
  ["Quad9, whose block has no authority section", { rcode: 3, ra: false, aa: false }],
  ["Cloudflare 1.1.1.2 and 1.1.1.3", { ede: 16 }, true],
  ["Cloudflare Gateway", { ede: 15 }, true],
  ["NextDNS", { ede: 17 }, true],
  ["AdGuard Home, NXDOMAIN", { rcode: 3, soa: "fake-for-negative-caching.adguard.com" }],
  ["AdGuard Home, no data", { soa: "fake-for-negative-caching.adguard.com" }],
  ["AdGuard DNS", { ede: 17 }, true],
  ["Pi-hole 6, null", { ede: 15 }, true],
  ["Pi-hole 6, NXDOMAIN", { rcode: 3, ede: 15 }],
  ["Unbound, response policy zone", { rcode: 3, ede: 15, soa: "rpz.local" }],
  ["Unbound, always_null", { ede: 17 }, true],
  ["BIND, response policy zone, forged", { rcode: 3, ede: 4, soa: "rpz.local" }],
  ["BIND, response policy zone, prohibited", { rcode: 3, ede: 18, soa: "rpz.local" }],
  ["Knot Resolver, deny", { rcode: 3, ede: 15, aa: true, soa: "blocked" }],
  ["PowerDNS Recursor, policy", { rcode: 3, ede: 16 }],
  ["Control D", { ede: 17 }, true],
  ["dnsdist, spoofed", { ede: 4 }, true],
  [
    "DNS4EU and others with a page for what they block",
    { ede: 15, an: [["?", "A", "51.15.69.11"]] },
  ],
];

const KINDS = { MX, A, AAAA, TXT } satisfies Record<string, RecordKind<unknown>>;

function readAs(kind: keyof typeof KINDS, answer: RawAnswer): string {
  const name = "honest.com";
  const an = (answer.an ?? []).map(
    ([owner, type, data]) => [owner === "?" ? name : owner, type, data] as const,
  );
  const message = rawMessage({ ...answer, an }, questionOctets(name, TYPE[kind]));
  const question = { name, kind: KINDS[kind] as RecordKind<unknown> };
  const response = decodeResponse(message, question);
  const reply = response && interpret(question, response);
  return reply?.kind === "unknown" ? reply.why : (reply?.kind ?? "malformed");
}

const ZEROS = { A: "0.0.0.0", AAAA: "::" } as const;
let shapes = 0;
for (const [product, answer, zeros] of PRODUCTS) {
  for (const kind of ["MX", "A", "AAAA", "TXT"] as const) {
    const an =
      zeros && (kind === "A" || kind === "AAAA") ? [["?", kind, ZEROS[kind]] as const] : answer.an;
    shapes += 1;
    test(`the word of a filter is nobody's: ${product}, ${kind}`, () => {
      assert.equal(readAs(kind, { ...answer, ...(an && { an }) }), "filtered");
    });
  }
}

test("the table has at least 60 shapes", () => assert.ok(shapes >= 60));

const OF_NO_FILTER: readonly (readonly [what: string, answer: RawAnswer, want: string])[] = [
  ["NXDOMAIN with a SOA", { rcode: 3, soa: "ns.example" }, "absent"],
  ["NXDOMAIN without a SOA of a resolver", { rcode: 3 }, "absent"],
  ["NXDOMAIN without a SOA of the name's own server", { rcode: 3, ra: false, aa: true }, "absent"],
  [
    "NXDOMAIN with a SOA of a server that does not look further",
    { rcode: 3, ra: false, soa: "ns.example" },
    "absent",
  ],
  ["an empty answer", { soa: "ns.example" }, "absent"],
  ["a stale answer", { ede: 3, an: [["?", "MX", "1 mx.example"]] }, "found"],
  ["a stale NXDOMAIN", { ede: 19, rcode: 3 }, "absent"],
  ["a synthesized NXDOMAIN", { ede: 29, rcode: 3, soa: "ns.example" }, "absent"],
  ["an unsupported algorithm", { ede: 1, an: [["?", "MX", "1 mx.example"]] }, "found"],
  ["another error", { ede: 0, rcode: 3 }, "absent"],
  ["no reachable authority", { ede: 22, rcode: 2 }, "servfail"],
  ["a bogus signature", { ede: 6, rcode: 2 }, "servfail"],
  ["prohibited by an access list", { ede: 18, rcode: 5 }, "refused"],
];

for (const [what, answer, want] of OF_NO_FILTER) {
  test(`no filter: ${what}`, () => assert.equal(readAs("MX", answer), want));
}

const DNAME = (owner: string, target: string) => [owner, "DNAME", target] as const;
const CHAINS: readonly (readonly [what: string, an: RawAnswer["an"], want: string])[] = [
  ["a DNAME of another subtree", [DNAME("other.com", "a.com")], "malformed"],
  ["a DNAME at the name itself", [DNAME("honest.com", "a.com")], "malformed"],
  ["a DNAME above", [DNAME("com", "a.example")], "alias"],
  [
    "two DNAMEs, one behind the other",
    [DNAME("com", "a.example"), DNAME("example", "b.test")],
    "alias",
  ],
  ["DNAMEs in a circle", [DNAME("com", "a.com")], "malformed"],
  [
    "a name that becomes too long",
    [DNAME("com", `${`${"a".repeat(60)}.`.repeat(4)}com`)],
    "malformed",
  ],
  ["a CNAME for another", [["other.com", "CNAME", "a.com"]], "malformed"],
];

for (const [what, an, want] of CHAINS) {
  test(`${what}: ${want}`, () => assert.equal(readAs("MX", { ...(an && { an }) }), want));
}
