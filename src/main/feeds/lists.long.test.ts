import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { testProcess } from "../../../test/process/test-process.ts";
import { listServer } from "../../../test/lists/list-server.ts";
import { patientClock } from "../../../test/time/real-clock.ts";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { openEmbedded } from "../../store/database.ts";
import { type FeedFiles, sqlFeedFiles } from "../../lists/feed-files.ts";
import { openLists } from "./lists.ts";

test("lists come from the mirror that is set, once its address is allowed, and serve the next start", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-mirror-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
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

test("a machine with an empty data directory has what others share before it serves, or serves without", async (t) => {
  const [ours, theirs, database] = ["a", "b", "database"].map((name) => {
    const folder = mkdtempSync(join(tmpdir(), `gatepost-shared-${name}-`));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }) as [string, string, string];
  const { url } = await listServer(t);
  const sql = await openEmbedded(database, 0);
  t.after(() => sql.close());
  const open = async (dataDir: string, its: Partial<FeedFiles> = {}) => {
    const process = testProcess({
      GATEPOST_DATA_DIR: dataDir,
      GATEPOST_LISTS_MIRROR: `${url}/`,
      GATEPOST_OUTBOUND_ALLOW: "127.0.0.1",
      GATEPOST_SECRET_KEY: Buffer.alloc(32).toString("base64"),
    });
    const lists = await openLists(process, {
      sql,
      lookup: zoneLookup({}),
      shared: {
        files: { ...sqlFeedFiles(sql.db), ...its },
        tell: () => undefined,
        hear: () => () => undefined,
        clock: patientClock, // a machine with other work may be slower than a start waits
      },
    });
    const { log, closing } = process;
    return {
      lists,
      log,
      stop: () => closing.close(),
      names: () => lists.datasets().disposable.sourcesOf("bad7.example"),
    };
  };
  const a = await open(ours);
  await a.lists.refresh.refresh();
  await a.stop();

  const away = await open(theirs, { versions: () => Promise.reject(new Error("away")) });
  assert.deepEqual([away.names(), away.log.events], [0, ["feed.share_failed"]]);
  await away.stop();

  const b = await open(theirs);
  assert.notEqual(b.names(), 0);
  assert.deepEqual(await b.lists.refresh.status(), await a.lists.refresh.status());
  assert.deepEqual(Object.keys(b.lists.duties), ["list_refresh", "learning"]);
  await b.stop();
});
