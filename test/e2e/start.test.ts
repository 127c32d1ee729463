import { strict as assert } from "node:assert";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { type Home, makeHome, type ServiceProcess, startService } from "./service-process.ts";

/** A half-written file that a killed process left yesterday. */
function leaveDraft(folder: string, name: string): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.0123456789abcdef.tmp`);
  writeFileSync(path, "half a list");
  const yesterday = new Date(Date.now() - 86_400_000);
  utimesSync(path, yesterday, yesterday);
}

suite("a start in a data directory that was used before, on any free port", () => {
  let home: Home;
  let service: ServiceProcess;

  before(async () => {
    home = makeHome({ GATEPOST_DNS_SERVERS: "127.0.0.1:9" });
    for (const [folder, name] of [
      [".", "secret.key"],
      ["rdap", "dns.json"],
    ] as const) {
      leaveDraft(join(home.directory, folder), name);
    }
    service = await startService(home);
  });

  after(async () => {
    assert.equal(await service.stop(), 0);
    home.remove();
  });

  test("half-written files are deleted", () => {
    const names = readdirSync(home.directory, { recursive: true, encoding: "utf8" });
    assert.deepEqual(
      names.filter((name) => name.endsWith(".tmp")),
      [],
    );
    assert.match(service.log(), /"files":2,"msg":"start\.drafts_deleted"/);
  });

  test("links have the port in use", async () => {
    const session = JSON.parse((await service.get("/account/session")).body);
    assert.equal(session.public_url, service.url);
  });
});
