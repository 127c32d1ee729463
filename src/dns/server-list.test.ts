import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { dnsClient } from "../../test/dns/dns-client.ts";
import { startDnsServer } from "../../test/dns/dns-server.ts";
import { type ServedName } from "../../test/dns/dns-zone.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { ServerList } from "./server-list.ts";

const HOUR_MS = 3_600_000;
const unused = (): never => assert.fail("not asked");
const server = {
  udp: { send: unused, close: unused },
  tcp: { ask: unused, close: unused },
} as unknown as ConstructorParameters<typeof ServerList>[0][number];

test("a server that never read EDNS is asked without from the first answer on, for an hour", () => {
  const servers = new ServerList([server, server]);
  servers.neededPlain(0, 1_000);
  assert.deepEqual([servers.isPlain(0, 1_000), servers.isPlain(1, 1_000)], [true, false]);
  assert.equal(servers.isPlain(0, 1_000 + HOUR_MS), false);
});

test("a server that reads EDNS is not asked without because of a few lost packets", () => {
  const servers = new ServerList([server]);
  servers.readEdns(0);
  for (let at = 0; at < 7; at += 1) servers.neededPlain(0, at);
  assert.equal(servers.isPlain(0, 8), false);
  servers.neededPlain(0, 8);
  assert.equal(servers.isPlain(0, 8), true);
});

for (const behave of ["formErrOnEdns", "badVersOnEdns", "silentOnEdns"] as const) {
  test(`a server that needs questions without EDNS is remembered: ${behave}`, async () => {
    const names = ["a.example", "b.example", "c.example"];
    const served: ServedName = { mx: ["10 mx.example"], behave };
    const dns = await startDnsServer(Object.fromEntries(names.map((name) => [name, served])));
    const clock = manualClock();
    const lookup = dnsClient([dns], { clock });
    for (const name of names) {
      let kind: string | undefined;
      void Promise.resolve(lookup.mx(name)).then((answer) => (kind = answer.kind));
      for (let ms = 0; ms < 2_000 && kind === undefined; ms += 5, clock.advance(5)) await sleep(1);
      assert.equal(kind, "found", name);
    }
    assert.equal(dns.asked.length, behave === "silentOnEdns" ? 5 : 4);
    lookup.close();
    await dns.close();
  });
}
