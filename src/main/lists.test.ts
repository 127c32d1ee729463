import { strict as assert } from "node:assert";
import { test } from "node:test";
import { zoneLookup } from "../../test/dns/zone-lookup.ts";
import { testProcess } from "../../test/process/test-process.ts";
import { until } from "../../test/time/until.ts";
import { openEmbedded } from "../store/database.ts";
import { openLists } from "./lists.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

test("lists open without a network, and a word of one process is heard by another", async () => {
  const dataDir = temporaryFolder();
  const open = async () => {
    const sql = await openEmbedded(dataDir, 0);
    const process = testProcess({ GATEPOST_DATA_DIR: dataDir, GATEPOST_LISTS_REFRESH: "off" });
    const lists = await openLists(process, { sql, lookup: zoneLookup({}) });
    return { lists, sql, closing: process.closing };
  };
  const [serving, command] = [await open(), await open()];
  serving.lists.start();
  const version = serving.lists.datasets().version;
  await command.lists.operator.save("bad.example", "deny", { note: "", author: "ada" });
  await until(() => serving.lists.datasets().operator.domain("bad.example") === "deny");
  assert.ok(serving.lists.datasets().version > version);
  for (const { closing, sql } of [serving, command]) {
    await closing.close();
    await sql.close();
  }
});
