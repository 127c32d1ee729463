import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startDnsServer } from "../../../test/dns/dns-server.ts";
import { gatepost, makeHome, startService } from "../../../test/e2e/service-process.ts";
import { childEnvironment } from "../../../test/process/child-environment.ts";
import { temporaryFolder } from "../../../test/process/temporary-folder.ts";
import { withPostgres } from "../../../test/services/with-postgres.ts";
import { openSqlite } from "../../store/embedded/sqlite.ts";
import { finding } from "./found.ts";
import { diagnose, examinePooler, examineWorkers } from "./diagnose.ts";

test("doctor: a resolver that denies every name is wrong, as the service finds it", async (t) => {
  const server = await startDnsServer({});
  t.after(() => server.close());
  const dataDir = temporaryFolder();
  const findings = await diagnose({
    GATEPOST_DATA_DIR: dataDir,
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(server.port)}`,
    GATEPOST_LISTS_REFRESH: "off",
  });
  const resolver = findings.find(({ name }) => name === "resolver");
  assert.equal(resolver?.state, "wrong");
  assert.match(resolver.says, /denies names that exist/);
  assert.match(
    resolver.toDo ?? "",
    /GATEPOST_DNS_SERVERS .* See docs\/operations\/troubleshooting\.md#resolver\.$/,
  );
  assert.equal(findings.find(({ name }) => name === "program")?.state, "ok");
});

const QUIET = { GATEPOST_LISTS_REFRESH: "off", GATEPOST_DNS_SERVERS: "off" };
const NO_DNS = { GATEPOST_DNS_SERVERS: "127.0.0.1:9", GATEPOST_DNS_CANARIES: "off" };
type Findings = readonly { readonly name: string; readonly state: string; readonly says: string }[];
const named = (findings: Findings, name: string) => findings.find((each) => each.name === name);

/** Opening a database counts as a change in its header, in two numbers of 4 octets (sqlite.org/fileformat.html). */
function digestOf(path: string): string {
  const octets = readFileSync(path);
  if (path.endsWith(".db")) for (const at of [24, 92]) octets.fill(0, at, at + 4);
  return createHash("sha256").update(octets).digest("hex");
}

/** What lies in a folder. */
const contentOf = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder)
      .filter((name) => !/-(?:wal|shm)$|^serving/.test(name))
      .map((name) => [name, digestOf(join(folder, name))]),
  );

test("doctor and other commands leave the schema of an older version as it is, and say so", async () => {
  const home = makeHome(QUIET);
  await (await startService(home)).stop();
  const file = openSqlite(join(home.directory, "gatepost.db"));
  file.exec("delete from schema_migrations");
  file.close();
  const before = contentOf(home.directory);
  const run = gatepost(home, ["doctor", "--json"]);
  const schema = named(JSON.parse(run.out) as Findings, "schema");
  assert.equal(run.code, 1);
  assert.match(schema?.says ?? "", /the database has schema 0, this program has \d+/);
  assert.deepEqual(contentOf(home.directory), before);
  home.remove();
});

test("doctor changes nothing of a sound installation either", async () => {
  const home = makeHome(QUIET);
  await (await startService(home)).stop();
  openSqlite(join(home.directory, "gatepost.db")).close(); // a log that the service left is copied
  const before = contentOf(home.directory);
  const run = gatepost(home, ["doctor", "--json"]);
  assert.equal(named(JSON.parse(run.out) as Findings, "schema")?.state, "ok", run.out);
  assert.deepEqual(contentOf(home.directory), before);
  home.remove();
});

test("doctor: a port that another Gatepost has is told, its own is not, and what it says is broken", async (t) => {
  const [home, other] = [makeHome(QUIET), makeHome(QUIET)];
  const service = await startService(home, NO_DNS);
  t.after(() => service.stop("SIGKILL"));
  const PORT = new URL(service.url).port;
  const own = await diagnose({ ...home.settings, PORT });
  assert.equal(named(own, "service")?.state, "wrong");
  assert.match(named(own, "service")?.says ?? "", /^DNS server \S+ does not answer/);
  const foreign = await diagnose({ ...other.settings, PORT });
  assert.match(named(foreign, "service")?.says ?? "", /another Gatepost listens there/);
  const program = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  t.after(() => program.close());
  await once(program, "listening");
  const taken = String((program.address() as AddressInfo).port);
  const told = await diagnose({ ...other.settings, PORT: taken });
  assert.match(named(told, "service")?.says ?? "", /another program listens there/);
});

test("doctor: who may not write the data directory is told", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs root");
  const home = makeHome(QUIET);
  await (await startService(home)).stop();
  const nobody = { uid: 65_534, gid: 65_534 };
  chmodSync(home.directory, 0o755);
  const program = fileURLToPath(new URL("../../../run/gatepost.js", import.meta.url));
  const env = { ...childEnvironment(home.settings), HOME: "/" };
  const run = spawnSync(process.execPath, [program, "doctor", "--json"], { env, ...nobody });
  assert.match(
    String(run.stdout),
    /"disk","state":"wrong","says":"[^"]*this user may not write there/,
  );
  home.remove();
});

withPostgres("doctor: PostgreSQL", (postgres) => {
  test("doctor: sessions on PostgreSQL itself are fine", async () => {
    const found = await examinePooler(await postgres.database());
    assert.equal(finding("pooler", found).state, "ok");
  });

  for (const [seenMs, state] of [
    [undefined, "wrong"],
    [95_000, "ok"],
    [10_000, "wrong"],
  ] as const) {
    test(`doctor: workers seen at ${String(seenMs)} are ${state} at 100,000`, async (t) => {
      const { db, close } = await postgres.open(0);
      t.after(close);
      if (seenMs !== undefined) {
        const row = { worker: "w", entries_per_second: 1, seen_at_ms: seenMs };
        await db.insertInto("bulk_workers").values(row).execute();
      }
      assert.equal(finding("workers", await examineWorkers(db, 100_000)).state, state);
    });
  }
});
