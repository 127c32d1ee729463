// Upgrades that are killed, that meet, and that find no room.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { lockForServing } from "../../src/store/embedded/serving-lock.ts";
import { gatepost, makeHome } from "../e2e/service-process.ts";
import { ownDisk } from "../process/own-disk.ts";
import { testWith } from "../process/require-tool.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { endOf } from "../services/child.ts";
import { postgresPrograms, type PostgresServer, startPostgres } from "../services/postgres.ts";
import { until } from "../time/until.ts";
import { OLD_KEY, putOldDatabase, rawEmbedded, rawPostgres } from "./old-database.ts";

const PROGRAM = fileURLToPath(new URL("upgrade-process.js", import.meta.url));

function upgrade(place: string, how: "hangs" | "ends") {
  const child = spawn(process.execPath, [PROGRAM, place, how], { stdio: ["ignore", "pipe", 2] });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (more: string) => (text += more));
  return {
    said: (word: string) => until(() => text.split("\n").includes(word), { what: word }),
    async kill() {
      child.kill("SIGKILL");
      await endOf(child);
    },
  };
}

let postgres: PostgresServer | undefined;
after(() => postgres?.close());

for (const engine of ["embedded", "postgres"] as const) {
  const missing = engine === "postgres" && postgresPrograms() === undefined ? ["postgresql"] : [];
  const name = `who waits for an upgrade that is killed begins it again: ${engine}`;
  testWith(["postgresql"], missing, name, async () => {
    if (engine === "postgres") postgres ??= await startPostgres();
    const place = (await postgres?.createDatabase()) ?? temporaryFolder();
    await putOldDatabase(engine, place);
    const raw = engine === "embedded" ? rawEmbedded(place) : await rawPostgres(place);
    const counted = async (table: string): Promise<number> =>
      (await raw.run(`select 1 from ${table}`)).length;
    const first = upgrade(place, "hangs");
    await first.said("hangs");
    const second = upgrade(place, "ends");
    if (engine === "embedded") await second.said("database.upgrade_waiting");
    assert.ok((await counted("audit_entries")) > 0);
    await first.kill();
    await second.said("open");
    assert.equal(await counted("audit_entries"), 0);
    assert.equal(await counted("later"), 0);
    const steps = await raw.run("select name from schema_migrations order by number");
    assert.equal(steps.at(-1)?.["name"], "9999-later");
    await raw.close();
    if (engine === "embedded") {
      const copies = readdirSync(place).filter((file) => file.includes("schema-"));
      assert.deepEqual(copies, ["gatepost.schema-1.db"]);
    }
  });
}

test("beside a server that runs neither a start nor migrate changes anything", async (t) => {
  const home = makeHome();
  t.after(() => home.remove());
  await putOldDatabase("embedded", home.directory);
  const unlock = lockForServing(home.directory);
  t.after(unlock);
  for (const words of [["serve"], ["migrate"]]) {
    const { code, err } = gatepost(home, words);
    assert.equal(code, 3, err);
    assert.match(err, /another gatepost serves it/);
  }
  const raw = rawEmbedded(home.directory);
  assert.equal((await raw.run("select 1 from schema_migrations")).length, 1);
  await raw.close();
  assert.ok(!readdirSync(home.directory).some((name) => name.startsWith("gatepost.schema-")));
});

test("an upgrade with a missing key, or another, changes nothing", async (t) => {
  const home = makeHome();
  t.after(() => home.remove());
  await putOldDatabase("embedded", home.directory);
  const key = join(home.directory, "secret.key");
  assert.match(gatepost(home, ["serve"]).err, /secret\.key is missing/);
  writeFileSync(key, Buffer.alloc(32, 9).toString("base64"));
  assert.match(gatepost(home, ["migrate"]).err, /is not the key that this database is used with/);
  const raw = rawEmbedded(home.directory);
  assert.equal((await raw.run("select 1 from schema_migrations")).length, 1);
  await raw.close();
});

test("without room for the copy nothing is changed, and the words say what to do", async (t) => {
  const disk = ownDisk("size=8m");
  if (disk === undefined) {
    t.skip("needs the right to mount");
    return;
  }
  t.after(() => disk.end());
  await putOldDatabase("embedded", disk.folder);
  const home = makeHome({ GATEPOST_DATA_DIR: disk.folder, GATEPOST_SECRET_KEY: OLD_KEY });
  const { code, err } = gatepost(home, ["migrate"]);
  assert.equal(code, 3, err);
  assert.match(err, /no room for that; nothing was changed\. Make room, and start again/);
  const raw = rawEmbedded(disk.folder);
  assert.equal((await raw.run("select 1 from schema_migrations")).length, 1);
  await raw.close();
  disk.remount("size=64m");
  assert.equal(gatepost(home, ["migrate"]).code, 0);
  home.remove();
});
