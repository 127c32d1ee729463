import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsIn } from "../../../../test/process/check-run.ts";
import { type Zone, zones } from "../../../../test/dns/zone-lookup.ts";

const D = "shop.example";

async function summary(zone: Zone, domain = D): Promise<string | undefined> {
  const fields = await fieldsIn(zone, domain, ["spf"]);
  return fields === "unavailable" ? "unavailable" : fields.email_auth?.spf;
}

/** One record at the domain. */
const OWN: readonly [name: string, record: string, want: string][] = [
  ["4.6.2: '-' is hardfail", "v=spf1 mx -all", "hardfail"],
  ["4.6.2: '~' is softfail", "v=spf1 mx ~all", "softfail"],
  ["4.6.2: '?' is neutral", "v=spf1 mx ?all", "neutral"],
  ["4.6.2: '+' is pass", "v=spf1 +all", "pass"],
  ["4.6.2: a bare all is pass", "v=spf1 mx all", "pass"],
  ["4.7: no all and no redirect is neutral", "v=spf1 mx", "neutral"],
  ["4.7: a version alone is neutral", "v=spf1", "neutral"],
  ["4.5: a version and a blank are neutral", "v=spf1 ", "neutral"],
  ["4.5: the version is not case-sensitive", "V=sPf1 -all", "hardfail"],
  ["4.5: 'v=spf10' is another version", "v=spf10 -all", "none"],
  ["4.5: 'v=spf2.0' is another version", "v=spf2.0/mfrom -all", "none"],
  ["4.5: the version comes first", " v=spf1 -all", "none"],
  ["4.5: a tab is not a space behind the version", "v=spf1\t-all", "none"],
  ["4.6.1: mechanisms are not case-sensitive", "v=spf1 MX -ALL", "hardfail"],
  ["4.6.1: an unknown mechanism breaks the record", "v=spf1 ipv4:192.0.2.1 -all", "none"],
  ["4.6.1: a qualifier before a modifier breaks it", "v=spf1 -redirect=a.example", "none"],
  ["4.6: an error behind all breaks it too", "v=spf1 -all foo:bar", "none"],
  ["4.6: a stray semicolon breaks it", "v=spf1 mx -all;", "none"],
  ["4.6: a tab between terms breaks it", "v=spf1 mx\t-all", "none"],
  ["4.6: a comma between terms breaks it", "v=spf1 mx, -all", "none"],
  ["4.6: a quote inside breaks it", 'v=spf1 "mx" -all', "none"],
  ["4.6: a lone qualifier breaks it", "v=spf1 - all", "none"],
  ["4.6: letters beyond ASCII break it", "v=spf1 include:münchen.example -all", "none"],
  ["4.6.1: several blanks part terms like one", "v=spf1   mx    -all   ", "hardfail"],
  ["5.1: all takes no argument", "v=spf1 all:shop.example", "none"],
  ["5.1: all takes no prefix length", "v=spf1 -all/24", "none"],
  ["5.1: the first all counts", "v=spf1 ~all -all", "softfail"],
  ["5.1: what stands behind all is not reached", "v=spf1 -all mx +all", "hardfail"],
  ["5.1: 'all' inside a name is not the mechanism", "v=spf1 include:all.example ~all", "softfail"],
  ["5.2: an include never lends its all", "v=spf1 include:open.example", "neutral"],
  ["5.2: include needs a domain", "v=spf1 include -all", "none"],
  ["5.2: include needs a domain behind the colon", "v=spf1 include: -all", "none"],
  ["5.2: an address is not a domain to include", "v=spf1 include:192.0.2.1 -all", "none"],
  ["5.2: include takes no prefix length", "v=spf1 include:a.example/24 -all", "none"],
  ["5.3: a alone", "v=spf1 a -all", "hardfail"],
  ["5.3: a with a domain and both lengths", "v=spf1 a:mail.example/24//64 -all", "hardfail"],
  ["5.3: a with lengths alone", "v=spf1 a/24//64 -all", "hardfail"],
  ["5.3: a with the IPv6 length alone", "v=spf1 a//64 -all", "hardfail"],
  ["5.3: a colon without a domain", "v=spf1 a: -all", "none"],
  ["5.3: an IPv4 length beyond 32", "v=spf1 a/33 -all", "none"],
  ["5.3: an IPv6 length beyond 128", "v=spf1 a//129 -all", "none"],
  ["5.3: a length without digits", "v=spf1 a/ -all", "none"],
  ["5.3: a length with a leading zero", "v=spf1 a/024 -all", "none"],
  ["5.4: mx with a domain", "v=spf1 mx:mail.example -all", "hardfail"],
  ["5.5: ptr alone, though discouraged", "v=spf1 ptr -all", "hardfail"],
  ["5.5: ptr with a domain", "v=spf1 ptr:shop.example -all", "hardfail"],
  ["5.5: ptr takes no prefix length", "v=spf1 ptr/24 -all", "none"],
  ["5.6: ip4 with and without length", "v=spf1 ip4:192.0.2.1 ip4:192.0.2.0/24 -all", "hardfail"],
  ["5.6: ip4 needs an address", "v=spf1 ip4 -all", "none"],
  ["5.6: ip4 with three parts", "v=spf1 ip4:192.0.2 -all", "none"],
  ["5.6: ip4 with a part beyond 255", "v=spf1 ip4:192.0.2.256 -all", "none"],
  ["5.6: ip4 with a leading zero", "v=spf1 ip4:192.0.02.1 -all", "none"],
  ["5.6: ip4 with an IPv6 address", "v=spf1 ip4:2001:db8::1 -all", "none"],
  ["5.6: a blank behind the colon", "v=spf1 ip4: 192.0.2.1 -all", "none"],
  ["5.6: ip6 with length", "v=spf1 ip6:2001:db8::/32 -all", "hardfail"],
  ["5.6: ip6 with a dotted tail", "v=spf1 ip6:::ffff:192.0.2.1 -all", "hardfail"],
  ["5.6: ip6 with two gaps", "v=spf1 ip6:2001::db8::1 -all", "none"],
  ["5.6: ip6 with length beyond 128", "v=spf1 ip6:2001:db8::/129 -all", "none"],
  ["5.7: exists with macros", "v=spf1 exists:%{ir}._spf.%{d} -all", "hardfail"],
  ["5.7: exists needs a domain", "v=spf1 exists -all", "none"],
  ["6: redirect twice breaks it", "v=spf1 redirect=a.example redirect=a.example", "none"],
  ["6: exp twice breaks it", "v=spf1 -all exp=a.example exp=b.example", "none"],
  ["6: an unknown modifier is passed over", "v=spf1 mx foo=bar -all", "hardfail"],
  ["6: an unknown modifier may come twice", "v=spf1 foo=1 foo=2 -all", "hardfail"],
  ["6: an unknown modifier with a broken macro breaks it", "v=spf1 foo=%{ -all", "none"],
  ["6.1: redirect needs a domain", "v=spf1 redirect=", "none"],
  ["6.1: redirect beside all is not followed", "v=spf1 redirect=gone.example -all", "hardfail"],
  ["6.2: exp says nothing of all", "v=spf1 ~all exp=why.%{d}", "softfail"],
  ["7.1: an undefined macro letter", "v=spf1 exists:%{x}.example -all", "none"],
  ["7.1: an open macro", "v=spf1 exists:%{d.example -all", "none"],
  ["7.1: a lone percent sign", "v=spf1 exists:100%.example -all", "none"],
  ["7.1: zero labels asked for", "v=spf1 exists:%{d0}.example -all", "none"],
  ["7.1: escapes", "v=spf1 exists:a%%b%_c%-d.example -all", "hardfail"],
  ["7.2: 'c', 'r' and 't' are for explanations only", "v=spf1 exists:%{t}.example -all", "none"],
  ["7.1: a top label of 63 letters and a dot", `v=spf1 a:x.${"a".repeat(63)}. -all`, "hardfail"],
  ["7.1: a top label of digits", "v=spf1 a:x.123 -all", "none"],
  ["7.1: a name without a dot is not a target", "v=spf1 include:localhost -all", "none"],
];

for (const [name, record, want] of OWN) {
  test(`SPF, RFC 7208 section ${name}`, async () => {
    assert.equal(
      await summary({ [D]: { txt: [record] }, "open.example": { txt: ["v=spf1 +all"] } }),
      want,
    );
  });
}

const chain = (length: number): Zone =>
  Object.fromEntries(
    Array.from({ length: length + 1 }, (_, index) => [
      index === 0 ? D : `hop${index}.example`,
      { txt: [index === length ? "v=spf1 -all" : `v=spf1 redirect=hop${index + 1}.example`] },
    ]),
  );

const WORLDS = zones(`
3.3: other texts beside the record do not count -> hardfail
  shop.example txt hello
  shop.example txt v=spf1 -all
  shop.example txt v=DKIM1
4.3: a domain that does not exist has no policy -> none
4.4: a name without TXT has none -> none
  shop.example a 192.0.2.1
4.4: a failed lookup is unknown -> unavailable
  shop.example unknown txt
4.5: two records count as none -> none
  shop.example txt v=spf1 -all
  shop.example txt v=spf1 ~all
4.5: one record twice is two records -> none
  shop.example txt v=spf1 -all
  shop.example txt v=spf1 -all
6.1: a redirect is followed -> softfail
  shop.example txt v=spf1 redirect=_spf.shop.example
  _spf.shop.example txt v=spf1 ~all
6.1: its target may end in a dot and be in capitals -> softfail
  shop.example txt v=spf1 Redirect=_SPF.Shop.Example.
  _spf.shop.example txt v=spf1 ~all
6.1: a redirect to nothing counts as none -> none
  shop.example txt v=spf1 redirect=gone.example
6.1: a redirect to two records counts as none -> none
  shop.example txt v=spf1 redirect=two.example
  two.example txt v=spf1 -all
  two.example txt v=spf1
6.1: a redirect to a broken record counts as none -> none
  shop.example txt v=spf1 redirect=bad.example
  bad.example txt v=spf1 bogus -all
6.1: a redirect to a record without all is neutral -> neutral
  shop.example txt v=spf1 redirect=mx.example
  mx.example txt v=spf1 mx
6.1: a redirect that cannot be looked up is unknown -> unavailable
  shop.example txt v=spf1 redirect=dead.example
  dead.example unknown
6.1: a redirect to itself counts as none -> none
  shop.example txt v=spf1 redirect=shop.example
6.1: a redirect loop counts as none -> none
  shop.example txt v=spf1 redirect=b.example
  b.example txt v=spf1 redirect=shop.example
7.2: %{d} is the domain of the record -> softfail
  shop.example txt v=spf1 redirect=%{d}._spf.example
  shop.example._spf.example txt v=spf1 ~all
7.2: after a redirect %{d} is the target -> hardfail
  shop.example txt v=spf1 redirect=a.example
  a.example txt v=spf1 redirect=_x.%{d}
  _x.a.example txt v=spf1 -all
7.2: after a redirect %{o} is still the asked domain -> hardfail
  shop.example txt v=spf1 redirect=a.example
  a.example txt v=spf1 redirect=%{o}._x.example
  shop.example._x.example txt v=spf1 -all
7.3: labels are kept from the right -> softfail
  shop.example txt v=spf1 redirect=_spf.%{d1}.net
  _spf.example.net txt v=spf1 ~all
7.3: 'r' turns labels around -> softfail
  shop.example txt v=spf1 redirect=%{dr}.net
  example.shop.net txt v=spf1 ~all
7.3: another delimiter than the dot keeps dots -> softfail
  shop.example txt v=spf1 redirect=x.%{d-}.net
  x.shop.example.net txt v=spf1 ~all
7.2: a target that hangs on the message leaves the policy open -> neutral
  shop.example txt v=spf1 redirect=%{l}._spf.example
7.3: a label beyond 63 octets leads to nothing -> none
  shop.example txt v=spf1 redirect=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.example
special-use names are not asked (RFC 6761) -> none
  shop.example txt v=spf1 redirect=spf.corp.local
  spf.corp.local txt v=spf1 -all
`);

for (const { name, zone, want } of [
  ...WORLDS,
  { name: "4.6.4: ten redirects are followed", zone: chain(10), want: "hardfail" },
  { name: "4.6.4: eleven redirects are too many", zone: chain(11), want: "none" },
]) {
  test(`SPF, RFC 7208 section ${name}`, async () => {
    assert.equal(await summary(zone), want);
  });
}
