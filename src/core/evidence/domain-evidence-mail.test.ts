import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, table, THROWN } from "../../../test/lists/evidence-table.ts";

const MX = "mx.thrown.example";

table("mail servers", [
  {
    name: "a listed registrable domain of the mail host",
    domain: "new.example",
    mx: ["mx9.thrown.example"],
    known: THROWN,
    want: ["blacklist_mx 0.95 mx9.thrown.example"],
  },
  {
    name: "a listed mail host itself",
    domain: "new.example",
    mx: [MX],
    known: { curated: [MX] },
    want: [`blacklist_mx 0.95 ${MX}`],
  },
  {
    name: "one listed name counts once: the domain's own mail server",
    domain: "thrown.example",
    mx: ["mx.thrown.example"],
    known: THROWN,
    want: ["blacklist_exact 1 thrown.example"],
  },
  {
    name: "one listed name counts once: above the domain and its mail server",
    domain: "a.thrown.example",
    mx: ["mx.a.thrown.example", "thrown.example"],
    known: { ...THROWN, doubtful: ["a.thrown.example"] },
    want: ["blacklist_parent 0.95 thrown.example"],
  },
  {
    name: "two listed names count twice: the domain's, and its mail server's",
    domain: "a.thrown.example",
    mx: ["mx.other.example"],
    known: { curated: ["thrown.example", "other.example"] },
    want: ["blacklist_parent 0.95 thrown.example", "blacklist_mx 0.95 mx.other.example"],
  },
  {
    name: "a host known to serve disposable domains counts beside the domain's own name",
    domain: "wallywatts.com",
    mx: ["mail.wallywatts.com"],
    known: { curated: ["wallywatts.com"] },
    want: ["blacklist_exact 1 wallywatts.com", "blacklist_mx 0.95 mail.wallywatts.com"],
  },
  {
    name: "any host counts, not the preferred one alone",
    domain: "new.example",
    mx: ["mx.new.example", "a.elsewhere.example", MX],
    known: THROWN,
    want: [`blacklist_mx 0.95 ${MX}`],
  },
  {
    name: "a single list is not enough for a mail host",
    domain: "new.example",
    mx: [MX],
    known: { first: ["thrown.example"] },
    want: [],
  },
  {
    name: "a label between host and registrable domain is not asked for",
    domain: "new.example",
    mx: ["mx.a.other.example"],
    known: { curated: ["a.other.example"] },
    want: [],
  },
  {
    name: "a host under a listed public suffix is somebody's own",
    domain: "new.example",
    mx: ["mx.mine.duckdns.org"],
    known: { curated: ["duckdns.org"] },
    want: [],
  },
  {
    name: "a host known to serve disposable domains only",
    domain: "new.example",
    mx: ["mail.wallywatts.com"],
    want: ["blacklist_mx 0.95 mail.wallywatts.com"],
  },
  {
    name: "a host below a dedicated domain",
    domain: "new.example",
    mx: ["mx7.generator.email"],
    want: ["blacklist_mx 0.95 mx7.generator.email"],
  },
  {
    name: "a host that was learned as dedicated",
    domain: "new.example",
    mx: ["in.learned.example"],
    known: { mailServers: { "in.learned.example": "dedicated" } },
    want: ["blacklist_mx 0.95 in.learned.example"],
  },
  {
    name: "a host that was learned as shared",
    domain: "new.example",
    mx: ["in.learned.example"],
    known: { mailServers: { "in.learned.example": "shared" } },
    want: ["mx_shared_disposable 0.2 in.learned.example"],
  },
  {
    name: "a dedicated host behind a shared one counts",
    domain: "new.example",
    mx: ["in.learned.example", MX],
    known: { mailServers: { "in.learned.example": "shared" }, ...THROWN },
    want: [`blacklist_mx 0.95 ${MX}`],
  },
  {
    name: "the operator denies a host",
    domain: "new.example",
    mx: ["mx.fine.example"],
    known: { mailHosts: { "mx.fine.example": "deny" } },
    want: ["blacklist_mx 0.95 mx.fine.example"],
  },
  {
    name: "the operator denies the domain that a host lies under",
    domain: "new.example",
    mx: ["mx.fine.example"],
    known: { domains: { "fine.example": "deny" } },
    want: ["blacklist_mx 0.95 mx.fine.example"],
  },
  {
    name: "the operator denies the names below a domain, whose own mail goes to one of them",
    domain: "fine.example",
    mx: ["mx.fine.example"],
    known: { domains: { "*.fine.example": "deny" } },
    want: [],
  },
  {
    name: "the operator denies the names below a zone in which an honest carrier lies",
    domain: "shop.test",
    mx: ["mx.fine.example"],
    known: { domains: { "*.example": "deny" } },
    want: [],
  },
  {
    name: "lists count on a host that such an entry covers too",
    domain: "shop.test",
    mx: ["mx.thrown.example"],
    known: { ...THROWN, domains: { "*.example": "deny" } },
    want: ["blacklist_mx 0.95 mx.thrown.example"],
  },
  {
    name: "the operator allows a host",
    domain: "new.example",
    mx: [MX],
    known: { ...THROWN, mailHosts: { [MX]: "allow" } },
    want: [],
  },
  {
    name: "the operator allows the domain that a host lies under",
    domain: "new.example",
    mx: [MX],
    known: { ...THROWN, domains: { "thrown.example": "allow" } },
    want: [],
  },
]);

const SHARED_HOSTS = [
  "route1.mx.cloudflare.net",
  "aspmx.l.google.com",
  "x.mail.protection.outlook.com",
  "eforward1.registrar-servers.com",
  "mx1.timeweb.ru",
  "mx.mail2world.com",
  "mx1.improvmx.com",
  "mx2.forwardemail.net",
  "mxa.mailgun.org",
  "mx2f.netcup.net",
  "mx10.mailspamprotection.com",
  "mail.h-email.net",
  "mx.gmail.com",
];

for (const host of SHARED_HOSTS) {
  test(`mail servers: ${host} carries anybody's mail, whatever lists and learning say`, () => {
    const registrable = host.split(".").slice(-2).join(".");
    const listed = { curated: [host, registrable] };
    const learned = { mailServers: { [host]: "dedicated" } } as const;
    for (const known of [listed, learned]) {
      assert.deepEqual(shown({ domain: "new.example", mx: [host], known }), []);
    }
    const known = { mailHosts: { [host]: "deny" } } as const;
    const denied = shown({ domain: "new.example", mx: [host], known });
    assert.deepEqual(denied, [`blacklist_mx 0.95 ${host}`]);
  });
}
