import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { keptLog } from "../../test/kept-log.ts";
import { listServer } from "../../test/list-server.ts";
import { zoneLookup } from "../../test/zone-lookup.ts";
import { openEmbedded } from "../adapters/sql/database.ts";
import { readConfig } from "./config.ts";
import { openLists } from "./lists.ts";

test("lists come from the mirror that is set, once its address is allowed, and serve the next start", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-mirror-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const { url, asked } = await listServer(t);
  const open = async (allow: string, mirror: string) => {
    const config = readConfig({
      GATEPOST_DATA_DIR: dataDir,
      GATEPOST_LISTS_MIRROR: mirror,
      GATEPOST_OUTBOUND_ALLOW: allow,
    });
    const sql = await openEmbedded(dataDir, 0);
    const lists = await openLists(config, { sql, lookup: zoneLookup({}), log: keptLog() });
    const close = async (): Promise<void> => {
      await lists.stop();
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
  open1.lists.start("following");
  const version = open1.lists.version();
  const taken = await open1.lists.refresh.refresh();
  assert.ok(taken.every(({ kind }) => kind === "accepted"));
  assert.ok(open1.lists.version() > version);
  assert.notEqual(open1.lists.datasets().disposable.sourcesOf("bad7.example"), 0);
  await open1.close();

  const offline = await open("", "http://127.0.0.1:1");
  assert.notEqual(offline.lists.datasets().disposable.sourcesOf("bad7.example"), 0);
  await offline.close();
});
