import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { forkDnsServer, type ForkedDnsServer } from "../dns/dns-server.ts";
import { DOCS_ZONE } from "./docs-zone.ts";
import { gatepost, type Home, startService } from "./service-process.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

interface Finding {
  readonly name: string;
  readonly state: string;
}

suite("first steps on the command line", () => {
  let dns: ForkedDnsServer;
  let parent = "";
  let home: Home;

  before(async () => {
    dns = await forkDnsServer(DOCS_ZONE);
    parent = temporaryFolder();
    const directory = join(parent, "data");
    const settings = {
      GATEPOST_DATA_DIR: directory,
      GATEPOST_LISTS_REFRESH: "off",
      GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
      GATEPOST_DNS_CANARIES: "good.example",
    };
    home = { directory, settings, remove: () => undefined };
  });

  after(() => dns.close());

  const findings = (out: string): Readonly<Record<string, string>> =>
    Object.fromEntries((JSON.parse(out) as Finding[]).map(({ name, state }) => [name, state]));

  test("commands that read make no data directory, and say that there is no database", () => {
    for (const words of [
      ["account", "list", "--json"],
      ["lists", "status"],
      ["doctor", "--json"],
      ["check", "good.example"],
    ]) {
      const ran = gatepost(home, words);
      assert.equal(ran.code, 0, `${words.join(" ")}: ${ran.err}`);
      assert.ok(!existsSync(home.directory), words.join(" "));
      if (words[0] !== "check" && words[0] !== "doctor") assert.match(ran.err, /^No database in /);
    }
  });

  test("a command that makes a database says where", () => {
    const ran = gatepost(home, ["account", "create", "a@x.example"]);
    assert.equal(ran.code, 0);
    assert.ok(ran.err.startsWith(`Creating a database in ${home.directory}. `), ran.err);
    assert.equal(gatepost(home, ["account", "list"]).err, "");
  });

  test("a port in use: the message names PORT; the doctor finds nothing wrong beside a service", async (t) => {
    const service = await startService(home);
    t.after(() => service.stop());
    const { port } = new URL(service.url);
    const second = {
      ...home,
      settings: { ...home.settings, GATEPOST_DATA_DIR: `${parent}/other` },
    };
    const taken = gatepost({ ...second, settings: { ...second.settings, PORT: port } }, ["serve"]);
    assert.equal(taken.code, 3);
    assert.match(taken.err, /set PORT to a free port/);
    const ran = gatepost(home, ["doctor", "--json"]);
    assert.equal(ran.code, 0, ran.out);
    const { database, schema, ledger, resolver, feeds } = findings(ran.out);
    assert.deepEqual([database, schema, ledger, resolver], ["ok", "ok", "ok", "ok"]);
    assert.equal(feeds, "note", "fetching is off");
  });

  test("decide says whom DNS did not answer for, and decides all the same", () => {
    const silent = { ...home.settings, GATEPOST_DNS_SERVERS: "127.0.0.1:9" };
    const words = ["decide", "jo@good.example", "jo@mailinator.com", "--json"];
    const ran = gatepost({ ...home, settings: silent }, words);
    const [open, listed] = JSON.parse(ran.out) as { decision: string }[];
    assert.deepEqual([open?.decision, listed?.decision, ran.code], ["accept", "reject", 1]);
    assert.match(ran.err, /^DNS did not answer for jo@good\.example[;,]/m);
    const heard = gatepost(home, ["decide", "jo@good.example"]);
    assert.deepEqual([heard.code, heard.err.includes("DNS did not answer")], [0, false]);
  });
});
