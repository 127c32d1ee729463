import { strict as assert } from "node:assert";
import { test } from "node:test";
import { zoneLookup } from "../../test/dns/zone-lookup.ts";
import { listServer } from "../../test/lists/list-server.ts";
import { testProcess } from "../../test/process/test-process.ts";
import { until } from "../../test/time/until.ts";
import { openEmbedded } from "../store/database.ts";
import { openLists } from "./lists.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

test("lists come from the mirror that is set, once its address is allowed, and serve the next start", async (t) => {
  const dataDir = temporaryFolder();
  const { url, asked } = await listServer(t);
  const open = async (allow: string, mirror: string) => {
    const process = testProcess({
      GATEPOST_DATA_DIR: dataDir,
      GATEPOST_LISTS_MIRROR: mirror,
      GATEPOST_OUTBOUND_ALLOW: allow,
    });
    const sql = await openEmbedded(dataDir, 0);
    const lists = await openLists(process, { sql, lookup: zoneLookup({}) });
    const close = async (): Promise<void> => {
      await process.closing.close();
      await sql.close();
    };
    return { lists, close };
  };
  const shut = await open("", `${url}/`);
  const refused = await shut.lists.refresh.refresh();
  assert.ok(
    refused.every(({ why, detail }) => why === "not_fetched" && /not_public/.test(detail ?? "")),
  );
  assert.equal(asked.length, 0);
  await shut.close();

  const open1 = await open("127.0.0.1", `${url}/`);
  open1.lists.start();
  const version = open1.lists.datasets().version;
  const taken = await open1.lists.refresh.refresh();
  assert.ok(taken.every(({ kind }) => kind === "accepted"));
  assert.ok(open1.lists.datasets().version > version);
  assert.notEqual(open1.lists.datasets().disposable.sourcesOf("bad7.example"), 0);
  await open1.close();

  const offline = await open("", "http://127.0.0.1:1");
  assert.notEqual(offline.lists.datasets().disposable.sourcesOf("bad7.example"), 0);
  await offline.close();
});

test("the lists of one process are those of every process on its database", async (t) => {
  const database = temporaryFolder();
  const { url } = await listServer(t);
  const sql = await openEmbedded(database, 0);
  t.after(() => sql.close());
  const open = async () => {
    const process = testProcess({
      GATEPOST_DATA_DIR: database,
      GATEPOST_LISTS_MIRROR: `${url}/`,
      GATEPOST_OUTBOUND_ALLOW: "127.0.0.1",
    });
    const lists = await openLists(process, { sql, lookup: zoneLookup({}) });
    t.after(() => process.closing.close());
    return { lists, names: () => lists.datasets().disposable.sourcesOf("bad7.example") };
  };
  const [serving, command] = [await open(), await open()];
  serving.lists.start();
  await command.lists.refresh.refresh();
  await until(() => serving.names() !== 0);
  const later = await open();
  assert.notEqual(later.names(), 0);
  assert.deepEqual(await later.lists.refresh.status(), await command.lists.refresh.status());
  assert.deepEqual(Object.keys(later.lists.duties), ["list_refresh", "learning"]);
});
