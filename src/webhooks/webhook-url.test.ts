import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setup } from "../../test/process/webhook-setup.ts";

const urls = (text: string): readonly string[] => text.trim().split(/\s+/);

/** URLs that are refused, by what the reason says. */
const refused: readonly (readonly [says: RegExp, ...urls: readonly string[]])[] = [
  [/Give a URL/, ""],
  [
    /begin with https/,
    ...urls(`
      http://hook.example/ HTTP://hook.example/ ftp://hook.example/ ws://hook.example/
      wss://hook.example/ file:///etc/passwd gopher://hook.example/ javascript:alert(1)
      data:text/plain,x hook.example //hook.example/ https:hook.example https:/hook.example
      httpss://hook.example/ xhttps://hook.example/`),
  ],
  [
    /user name or password/,
    ...urls(`
      https://user@hook.example/ https://user:pass@hook.example/ https://:pass@hook.example/
      https://@hook.example/ https://hook.example@127.0.0.1/ https://127.0.0.1@hook.example/
      https://hook.example:443@10.0.0.1/`),
  ],
  [
    /no host/,
    ...urls(`
      https:// https:/// https:///hook.example/ https://?x=1 https://:443/ https://hook.example:x/
      https://hook.example:-1/ https://hook.example:443:443/ https://hook.example:123456/
      https://[::1/ https://::1]/ https://[::1]x/ https://::1/`),
  ],
  [/port is missing/, "https://hook.example:", "https://hook.example:/x", "https://[::1]:/"],
  [/at most 65535/, "https://hook.example:65536/", "https://hook.example:99999/"],
  [
    /another protocol/,
    ...[0, 1, 7, 22, 23, 25, 53, 110, 143, 389, 465, 587, 993, 2049, 6000, 6667, 10080].map(
      (port) => `https://hook.example:${String(port)}/`,
    ),
    "https://hook.example:00025/",
  ],
  [
    /blanks, control characters or backslashes/,
    " https://hook.example/",
    "https://hook.example/ ",
    "https://hook.example/a b",
    "https://ho ok.example/",
    "https://hook.example\\@10.0.0.1/",
    "https:\\\\hook.example\\",
    "https://hook.example/\t",
    "ht\ntps://hook.example/",
    "https://hook.example/\u0000",
    "https://hook\u200b.example/",
    "https://hook.example/\u202e",
    "https://hook\u00ad.example/",
    "https://hook.example/\r\nX-Evil: 1",
  ],
  [
    /fragment/,
    "https://hook.example/#x",
    "https://hook.example#@10.0.0.1/",
    "https://hook.example/a?b#c",
  ],
  [
    /full domain name/,
    ...urls(`
      https://localhost/ https://intranet/ https://hook/ https://2130706433/ https://0x7f000001/
      https://017700000001/ https://127/ https://0/`),
  ],
  [/dot at its end/, "https://hook.example./", "https://intra.localhost./"],
  [
    /neither a domain name nor a plain IP/,
    ...urls(`
      https://127.1/ https://hook.example\u2044x/ https://127.0.1/ https://0x7f.0.0.1/
      https://0177.0.0.1/ https://127.0.0.0x1/ https://127.0.0.01/ https://010.0.0.1/
      https://1.2.3.4.5/ https://256.0.0.1/ https://192.168.257/ https://１２７.0.0.1/
      https://①②⑦.⓪.⓪.①/ https://127。0。0。1/ https://hook.1/ https://hook.0x1/`),
  ],
  [/dot at its end|valid domain/, "https://127.0.0.1./", "https://169.254.169.254./"],
  [
    /not a valid domain name/,
    "https://%31%32%37.0.0.1/",
    "https://hook%2eexample/",
    "https://hook_x.example/",
    "https://hook..example/",
    "https://.hook.example/",
    "https://-hook.example/",
    "https://hook!.example/",
    "https://hook,example/",
    "https://*.hook.example/",
    "https://xn--.example/",
    `https://${"a".repeat(64)}.example/`,
    `https://${"a.".repeat(130)}example/`,
    "https://a\u2100b.example/",
  ],
  [
    /reserved for special use/,
    ...urls(`
      https://hook.localhost/ https://hook.local/ https://hook.internal/
      https://metadata.google.internal/ https://hook.invalid/ https://hook.onion/
      https://hook.home.arpa/ https://hook.alt/ https://1.0.0.10.in-addr.arpa/
      https://hook.ⓛocalhost/ https://hook.LOCALHOST/`),
  ],
  [
    /^The address .* is not on the public internet/,
    ...urls(`
      https://127.0.0.1/ https://127.255.255.254:8443/x https://0.0.0.0/ https://10.0.0.1/
      https://172.16.0.1/ https://192.168.0.1/ https://169.254.169.254/latest/meta-data/
      https://100.100.100.200/ https://192.0.0.192/ https://192.0.2.1/ https://198.18.0.1/
      https://203.0.113.9/ https://224.0.0.1/ https://255.255.255.255/ https://[::1]/ https://[::]/
      https://[0:0:0:0:0:0:0:1]/ https://[::ffff:127.0.0.1]/ https://[::FFFF:7F00:1]/
      https://[::127.0.0.1]/ https://[::ffff:0:127.0.0.1]/ https://[64:ff9b::127.0.0.1]/
      https://[64:ff9b:1::a00:1]/ https://[2002:7f00:1::]/
      https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/ https://[2a02:4f8:17::5efe:a00:1]/
      https://[fe80::1]/ https://[fec0::1]/ https://[fc00::1]/ https://[fd00:ec2::254]/
      https://[ff02::1]/ https://[2001:db8::1]/ https://[100::1]/`),
  ],
  [
    /not an IPv6 address/,
    ...urls(`
      https://[]/ https://[fe80::1%25eth0]/ https://[fe80::1%eth0]/ https://[127.0.0.1]/
      https://[1::2::3]/ https://[12345::]/ https://[v1.x]/`),
  ],
  [
    /leads to an address that is not public/,
    ...urls(`
      https://mixed.example/ https://mixed6.example/ https://private.example/
      https://loopback.example/ https://metadata.example/ https://v6metadata.example/
      https://cgnat.example/ https://nat64.example/ https://sixtofour.example/
      https://teredo.example/ https://mapped.example/ https://linklocal.example/
      https://ⓛoopback.example/ https://loopback。example/ https://ＬＯＯＰＢＡＣＫ.example/`),
  ],
  [/not a valid URL/, "https://[::ffff:0177.0.0.1]/"],
  [
    /has no address in DNS/,
    "https://nobody.example/",
    "https://nothing.example/",
    "https://hооk.example/",
  ],
  [/could not be looked up/, "https://broken.example/"],
  [
    /longer than 2,048/,
    `https://hook.example/${"a".repeat(2_048)}`,
    `https://hook.example/${"é".repeat(600)}`,
  ],
];

for (const [says, ...urls] of refused) {
  for (const url of urls) {
    test(`refused, ${String(says)}: ${JSON.stringify(url.slice(0, 80))}`, async () => {
      const saved: string[] = [];
      const known = setup((each) => saved.push(each));
      await assert.rejects(known.set("a1", url, []), (fault: Error & { code?: string }) => {
        assert.equal(fault.code, "webhook_url_refused");
        assert.match(fault.message, says);
        return true;
      });
      assert.deepEqual(saved, []);
    });
  }
}

const accepted = [
  ["https://hook.example", "https://hook.example/"],
  ["HTTPS://Hook.Example/Path?q=1&r", "https://hook.example/Path?q=1&r"],
  ["https://hook.example:443/x", "https://hook.example/x"],
  ["https://hook.example:8443/a/../b", "https://hook.example:8443/b"],
  ["https://hook.example/ä?ö=ü", "https://hook.example/%C3%A4?%C3%B6=%C3%BC"],
  ["https://hook.example/@x:y", "https://hook.example/@x:y"],
  ["https://hook.example?x=@y", "https://hook.example/?x=@y"],
  ["https://bücher.example/", "https://xn--bcher-kva.example/"],
  ["https://ｈｏｏｋ.example/", "https://hook.example/"],
  ["https://93.184.216.34/", "https://93.184.216.34/"],
  ["https://[2606:2800:21F:0::1]:8443/", "https://[2606:2800:21f::1]:8443/"],
] as const;

for (const [url, want] of accepted) {
  test(`accepted and written as it will be asked: ${url}`, async () => {
    const saved: string[] = [];
    const settings = await setup((each) => saved.push(each)).set("a1", url, []);
    assert.deepEqual([settings.url, saved], [want, [want]]);
  });
}

test("an IDN look-alike is another name, shown in A-labels, and never the one it looks like", async () => {
  await assert.rejects(
    setup().set("a1", "https://hооk.example/", []),
    /xn--[a-z0-9-]+\.example has no address/,
  );
});
