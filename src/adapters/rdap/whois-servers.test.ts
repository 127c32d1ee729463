import { strict as assert } from "node:assert";
import { test } from "node:test";
import { dateMs } from "./event-date.ts";
import { whoisServerFor } from "./whois-client.ts";
import { WHOIS_SERVERS } from "./whois-servers.ts";

/** Lines as these registries write them. */
const rows = [
  [
    "a.cn",
    "Registrar: X\nRegistration Time: 2003-03-17 12:20:05\nExpiration Time: 2030-03-17",
    "2003-03-17",
  ],
  ["a.jp", "[登録者名] X\n[Created on]                    2001/03/22\n", "2001-03-22"],
  [
    "a.co.jp",
    "Domain Information:\na. [Domain Name]  A.CO.JP\n[Registered Date]               1997/04/30\n",
    "1997-04-30",
  ],
  [
    "a.kr",
    "Registered Date             : 1999. 07. 28.\nLast Updated Date : 2020. 01. 01.",
    "1999-07-28",
  ],
  ["a.ru", "domain:        A.RU\ncreated:       1997-09-23T09:45:07Z\n", "1997-09-23"],
  ["a.xn--p1ai", "created:       2010-05-12T10:00:00Z\n", "2010-05-12"],
  ["a.it", "Status:             ok\nCreated:            1999-12-10 00:00:00\n", "1999-12-10"],
  ["a.hk", "Domain Name Commencement Date: 30-05-2001\nExpiry Date: 31-03-2030", "2001-05-30"],
  [
    "a.com.tw",
    "   Record expires on 2030-08-18\n   Record created on 2000-08-18 09:39:26 (UTC+8)\n",
    "2000-08-18",
  ],
  ["a.mx", "Domain Name:       a.mx\n\nCreated On:        2009-05-12\n", "2009-05-12"],
  ["a.com.tr", "** Additional Info:\nCreated on..............: 2001-Aug-23.\n", "2001-08-23"],
  ["a.be", "Status:\tNOT AVAILABLE\nRegistered:\tTue Dec 12 2000\n", "2000-12-12"],
  ["a.se", "state:            active\ncreated:          2008-10-10\n", "2008-10-10"],
  ["a.ro", "  Registered On: 2000-01-17\n", "2000-01-17"],
  [
    "a.sk",
    "Domain:                       a.sk\nCreated:                      2003-07-24\n",
    "2003-07-24",
  ],
] as const;

for (const [domain, text, want] of rows) {
  test(`the answer of the registry of ${domain} gives its date`, () => {
    const server = whoisServerFor(domain, WHOIS_SERVERS);
    assert.ok(server !== undefined);
    const { year, month, day } = server.registered.exec(text)?.groups ?? {};
    assert.equal(dateMs(year, month, day), Date.parse(want));
    assert.equal(server.absent.test(text), false);
  });
}

test("a suffix that is in no row has no server, and no suffix is in two rows", () => {
  assert.equal(whoisServerFor("a.example", WHOIS_SERVERS), undefined);
  assert.equal(whoisServerFor("cn", WHOIS_SERVERS), undefined);
  const suffixes = WHOIS_SERVERS.flatMap((server) => server.suffixes);
  assert.equal(new Set(suffixes).size, suffixes.length);
});
