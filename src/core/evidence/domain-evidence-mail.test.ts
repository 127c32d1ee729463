import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, table } from "../../../test/lists/evidence-table.ts";

table(
  "mail servers",
  `
a listed registrable domain of the mail host
  new.example mx=mx9.thrown.example curated=thrown.example -> blacklist_mx 0.95 mx9.thrown.example
a listed mail host itself
  new.example mx=mx.thrown.example curated=mx.thrown.example -> blacklist_mx 0.95 mx.thrown.example
one listed name counts once: the domain's own mail server
  thrown.example mx=mx.thrown.example curated=thrown.example -> blacklist_exact 1 thrown.example
one listed name counts once: above the domain and its mail server
  a.thrown.example mx=mx.a.thrown.example,thrown.example curated=thrown.example
    doubtful=a.thrown.example
    -> blacklist_parent 0.95 thrown.example
two listed names count twice: the domain's, and its mail server's
  a.thrown.example mx=mx.other.example curated=thrown.example,other.example
    -> blacklist_parent 0.95 thrown.example | blacklist_mx 0.95 mx.other.example
a host known to serve disposable domains counts beside the domain's own name
  wallywatts.com mx=mail.wallywatts.com curated=wallywatts.com
    -> blacklist_exact 1 wallywatts.com | blacklist_mx 0.95 mail.wallywatts.com
any host counts, not the preferred one alone
  new.example mx=mx.new.example,a.elsewhere.example,mx.thrown.example curated=thrown.example
    -> blacklist_mx 0.95 mx.thrown.example
a single list is not enough for a mail host
  new.example mx=mx.thrown.example first=thrown.example -> nothing
a label between host and registrable domain is not asked for
  new.example mx=mx.a.other.example curated=a.other.example -> nothing
a host under a listed public suffix is somebody's own
  new.example mx=mx.mine.duckdns.org curated=duckdns.org -> nothing
a host known to serve disposable domains only
  new.example mx=mail.wallywatts.com -> blacklist_mx 0.95 mail.wallywatts.com
a host below a dedicated domain
  new.example mx=mx7.generator.email -> blacklist_mx 0.95 mx7.generator.email
a host that was learned as dedicated
  new.example mx=in.learned.example mailServers=in.learned.example:dedicated
    -> blacklist_mx 0.95 in.learned.example
a host that was learned as shared
  new.example mx=in.learned.example mailServers=in.learned.example:shared
    -> mx_shared_disposable 0.2 in.learned.example
a dedicated host behind a shared one counts
  new.example mx=in.learned.example,mx.thrown.example mailServers=in.learned.example:shared
    curated=thrown.example
    -> blacklist_mx 0.95 mx.thrown.example
the operator denies a host
  new.example mx=mx.fine.example mailHosts=mx.fine.example:deny -> blacklist_mx 0.95 mx.fine.example
the operator denies the domain that a host lies under
  new.example mx=mx.fine.example domains=fine.example:deny -> blacklist_mx 0.95 mx.fine.example
the operator denies the names below a domain, whose own mail goes to one of them
  fine.example mx=mx.fine.example domains=*.fine.example:deny -> nothing
the operator denies the names below a zone in which an honest carrier lies
  shop.test mx=mx.fine.example domains=*.example:deny -> nothing
lists count on a host that such an entry covers too
  shop.test mx=mx.thrown.example curated=thrown.example domains=*.example:deny
    -> blacklist_mx 0.95 mx.thrown.example
the operator allows a host
  new.example mx=mx.thrown.example curated=thrown.example mailHosts=mx.thrown.example:allow
    -> nothing
the operator allows the domain that a host lies under
  new.example mx=mx.thrown.example curated=thrown.example domains=thrown.example:allow -> nothing
`,
);

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
