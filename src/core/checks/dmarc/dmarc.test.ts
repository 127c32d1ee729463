import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsIn } from "../../../../test/process/check-run.ts";
import { cases, type Zone, zones } from "../../../../test/dns/zone-lookup.ts";
import type { Dmarc } from "./dmarc.ts";

const D = "shop.example";

async function dmarcOf(zone: Zone, domain = D): Promise<Dmarc | "unavailable" | undefined> {
  const fields = await fieldsIn(zone, domain, ["dmarc"]);
  return fields === "unavailable" ? fields : fields.email_auth?.dmarc;
}

const ABSENT: Dmarc = { policy: "none" };

/**
 * One record at the domain. Wanted: policy, subdomain_policy, pct, and "rua" where it is there; "absent" where there is no
 * DMARC, "ignored" where the record is shown and counts as none.
 */
const OWN = `
4.7: p alone, and the defaults -> reject reject 100
  v=DMARC1; p=reject
4.7: the name of the version in capitals -> reject reject 100
  V=DMARC1; p=reject
4.7: no p counts as none -> none none 100
  v=DMARC1
4.7: no p beside sp -> none reject 100 rua
  v=DMARC1; sp=reject; rua=mailto:d@shop.example
4.7: sp of its own -> none quarantine 100
  v=DMARC1; p=none; sp=quarantine
4.7: rua is shown -> quarantine quarantine 100 rua
  v=DMARC1; p=quarantine; rua=mailto:d@shop.example
4.7: an empty rua counts as none -> none none 100
  v=DMARC1; p=none; rua=
4.7: blanks around everything -> reject none 100
  v = DMARC1 ;  p = reject ;sp= none ; 
4.7: no blanks at all -> reject none 100
  v=DMARC1;p=reject;sp=none
4.7: policies are not case-sensitive -> reject none 100
  v=DMARC1; p=Reject; sp=NONE
4.7: the version is case-sensitive -> absent
  v=dmarc1; p=reject
4.7: the version comes first -> absent
  p=reject; v=DMARC1
4.7: another version -> absent
  v=DMARC10; p=reject
4.7: a version parted by a blank instead of ';' -> absent
  v=DMARC1 p=reject
4.7: unknown tags are passed over -> reject reject 100
  v=DMARC1; p=reject; foo=bar; ri=3600; rf=afrf
4.7: a broken piece is passed over -> reject none 100
  v=DMARC1; p=reject; nonsense; sp=none
4.7: of a repeated tag the first counts -> reject reject 100
  v=DMARC1; p=reject; p=none
4.7: t=y asks for the next lower policy -> quarantine quarantine 100
  v=DMARC1; p=reject; t=y
4.7: of quarantine that is none -> none none 100
  v=DMARC1; p=quarantine; t=Y
4.7: of sp, too -> none quarantine 100
  v=DMARC1; p=none; sp=reject; t=y
4.7: t=n says nothing -> reject reject 100
  v=DMARC1; p=reject; t=n
4.7: another t says nothing -> reject reject 100
  v=DMARC1; p=reject; t=yes
4.7: names of tags are case-sensitive, as in DKIM, so P= is unknown -> none none 100
  v=DMARC1; P=reject
4.7: so is T= -> reject reject 100
  v=DMARC1; p=reject; T=y
4.7: np says nothing of the domain itself -> none none 100
  v=DMARC1; p=none; np=reject
4.7: psd=y at the domain itself: its p counts -> reject reject 100
  v=DMARC1; p=reject; psd=y
A.6: pct is still read -> reject reject 25
  v=DMARC1; p=reject; pct=25
A.6: pct=0 -> reject reject 0
  v=DMARC1; p=reject; pct=0
A.6: pct beyond 100 counts as 100 -> reject reject 100
  v=DMARC1; p=reject; pct=101
A.6: pct that is not a number counts as 100 -> reject reject 100
  v=DMARC1; p=reject; pct=half
4.10.1: a broken p with rua counts as none -> none none 100 rua
  v=DMARC1; p=rejct; sp=reject; rua=mailto:d@shop.example
4.10.1: a broken sp with rua makes all of it none -> none none 100 rua
  v=DMARC1; p=reject; sp=all; rua=mailto:d@shop.example
4.10.1: a broken np with rua makes all of it none -> none none 100 rua
  v=DMARC1; p=reject; np=1; rua=mailto:d@shop.example
4.10.1: a broken p without rua is not DMARC -> ignored
  v=DMARC1; p=rejct
4.10.1: a broken p with a broken rua is not DMARC -> ignored
  v=DMARC1; p=x; rua=shop
4.10.1: a p that HTML broke -> ignored
  v=DMARC1; p=<b>reject</b>
`;

for (const { name, want, lines } of cases(OWN)) {
  const [record = ""] = lines;
  test(`DMARC, RFC 9989 section ${name}`, async () => {
    const got = await dmarcOf({ [`_dmarc.${D}`]: { txt: [record] } });
    if (want === "absent") assert.deepEqual(got, ABSENT);
    else if (want === "ignored") assert.deepEqual(got, { ...ABSENT, record });
    else {
      const { policy, subdomain_policy, pct, rua }: Partial<Dmarc> = Object(got);
      const said = [policy, subdomain_policy, pct, ...(rua === undefined ? [] : ["rua"])];
      assert.equal(said.join(" "), want);
    }
  });
}

/** Zones; wanted are the domain that is asked about and the policy that applies to it. */
const WORLDS = zones(`
4.10: nothing anywhere -> shop.example none
4.10: two records count as none -> shop.example none
  _dmarc.shop.example txt v=DMARC1; p=reject
  _dmarc.shop.example txt v=DMARC1; p=none
4.10: two records send the walk on -> a.shop.example quarantine
  _dmarc.a.shop.example txt v=DMARC1; p=reject
  _dmarc.a.shop.example txt v=DMARC1; p=reject
  _dmarc.shop.example txt v=DMARC1; p=quarantine
4.10: other texts beside the record do not count -> shop.example reject
  _dmarc.shop.example txt v=spf1 -all
  _dmarc.shop.example txt v=DMARC1; p=reject
  _dmarc.shop.example txt x
4.10: a failed question is unknown -> shop.example unavailable
  _dmarc.shop.example unknown
4.10: a failed question on the way up is unknown -> shop.example unavailable
  _dmarc.example unknown
4.10.1: the domain's own record ends the walk -> a.shop.example none
  _dmarc.a.shop.example txt v=DMARC1; p=none
  _dmarc.shop.example txt v=DMARC1; p=reject
4.10.1: an inherited record's sp counts -> a.shop.example reject
  _dmarc.shop.example txt v=DMARC1; p=none; sp=reject
4.10.1: without sp its p counts -> a.shop.example reject
  _dmarc.shop.example txt v=DMARC1; p=reject
4.10.1: np counts for a name that does not exist -> a.shop.example reject
  _dmarc.shop.example txt v=DMARC1; p=none; np=reject
4.10.1: np does not count for a name with mail -> a.shop.example none
  _dmarc.shop.example txt v=DMARC1; p=none; np=reject
  a.shop.example mx 10 mx.example
  mx.example a 192.0.2.1
3.2: an address record alone makes a name exist -> a.shop.example none
  _dmarc.shop.example txt v=DMARC1; p=none; np=reject
  a.shop.example a 192.0.2.9
3.2: so does an address that mail cannot reach -> a.shop.example none
  _dmarc.shop.example txt v=DMARC1; p=none; np=reject
  a.shop.example a 127.0.0.1
3.2: a null MX alone makes a name exist -> a.shop.example none
  _dmarc.shop.example txt v=DMARC1; p=none; np=reject
  a.shop.example mx 0 .
3.2: a TXT record alone does not -> a.shop.example reject
  _dmarc.shop.example txt v=DMARC1; p=none; np=reject
  a.shop.example txt x
3.2: DNS did not say whether it exists -> a.shop.example unavailable
  _dmarc.shop.example txt v=DMARC1; p=none; np=reject
  a.shop.example unknown mx
3.2: whether it exists does not matter without np -> a.shop.example reject
  _dmarc.shop.example txt v=DMARC1; p=reject
  a.shop.example unknown mx
4.10.2: the highest record is the organization's -> a.shop.example quarantine
  _dmarc.example txt v=DMARC1; p=quarantine
  _dmarc.shop.example txt v=DMARC1; p=reject
4.10.2: psd=n ends the walk -> a.shop.example reject
  _dmarc.example txt v=DMARC1; p=none
  _dmarc.shop.example txt v=DMARC1; p=reject; psd=n
4.10.2: under psd=y the organization's record counts -> a.shop.example reject
  _dmarc.example txt v=DMARC1; p=none; psd=y
  _dmarc.shop.example txt v=DMARC1; p=reject
4.10.2: without one the registry's counts (RFC 9091) -> a.shop.example quarantine
  _dmarc.example txt v=DMARC1; p=none; sp=quarantine; psd=y
4.10.2: a registry's np for a missing name (RFC 9091) -> a.shop.example reject
  _dmarc.example txt v=DMARC1; p=none; np=reject; psd=y
4.10.2: a record between the two does not count -> a.b.shop.example none
  _dmarc.example txt v=DMARC1; p=none; psd=y
  _dmarc.b.shop.example txt v=DMARC1; p=reject
`);

for (const { name, zone, want: said } of WORLDS) {
  const [domain = "", want] = said.split(" ");
  test(`DMARC, RFC 9989 section ${name}`, async () => {
    const got = await dmarcOf(zone, domain);
    assert.equal(typeof got === "object" ? got.policy : got, want);
  });
}
