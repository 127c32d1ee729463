import { strict as assert } from "node:assert";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStores } from "../../../test/contracts/stores.ts";
import { keptLog } from "../../../test/process/kept-log.ts";
import { copyOf, textOf } from "../../../test/lists/feed-copies.ts";
import { goodNames } from "../../../test/lists/list-server.ts";
import { type FeedFiles, type SharedFile, sqlFeedFiles } from "../feed-files.ts";
import { writeLearned } from "../files/learning-file.ts";
import { writeCopy } from "../files/feed-copy.ts";
import { shareLists } from "./feed-sharing.ts";
import { packFile } from "../table/lists-file.ts";
import { readGeneration, readState, writeState } from "../files/refresh-state.ts";

/** One database, and machines that share their lists through it. */
async function openWorld(t: TestContext) {
  const { sql, clock, ids } = await openStores(t);
  const files = sqlFeedFiles(sql.db);
  const machine = (its: Partial<FeedFiles> = {}) => {
    const folder = mkdtempSync(join(tmpdir(), "gatepost-machine-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const log = keptLog();
    let told = 0;
    const tell = (): void => void (told += 1);
    const sharing = shareLists({ folder, files: { ...files, ...its }, clock, ids, log, tell });
    const read = (name: string): string => readFileSync(join(folder, name), "utf8");
    return { folder, log, sharing, read, told: () => told };
  };
  /** Another writer's row, whatever was there. */
  const put = async (file: SharedFile): Promise<void> => {
    const there = await files.versions();
    assert.ok(await files.write(file, there.get(file.name)));
  };
  return { clock, files, machine, put };
}

const good = copyOf(goodNames("ded"));

test("what one machine changed is another's at its next sync, with a new generation", async (t) => {
  const { machine, files } = await openWorld(t);
  const [a, b] = [machine(), machine()];
  writeCopy(a.folder, good);
  writeState(a.folder, { ded: { askedAtMs: 5, why: "many_removed" } });
  writeLearned(a.folder, [["mx.bad.example", "dedicated"]]);
  a.sharing.changed(["ded.list", "state.json", "learned.json"]);
  await a.sharing.sync();
  assert.equal(a.told(), 1);
  await b.sharing.sync();
  for (const name of ["ded.list", "state.json", "learned.json"]) {
    assert.equal(b.read(name), a.read(name));
  }
  const generation = readGeneration(b.folder);
  assert.notEqual(generation, "");
  await b.sharing.sync();
  assert.equal(readGeneration(b.folder), generation, "nothing new, nothing done");
  assert.deepEqual([b.told(), (await files.versions()).size], [0, 3]);
});

test("a refresh state alone makes nobody pack again", async (t) => {
  const { machine } = await openWorld(t);
  const [a, b] = [machine(), machine()];
  writeState(a.folder, { ded: { askedAtMs: 5 } });
  a.sharing.changed(["state.json"]);
  await a.sharing.sync();
  await b.sharing.sync();
  assert.deepEqual([readState(b.folder)["ded"]?.askedAtMs, readGeneration(b.folder)], [5, ""]);
});

test("a process that starts on current files takes none of them", async (t) => {
  const { machine, files } = await openWorld(t);
  const a = machine();
  writeCopy(a.folder, good);
  a.sharing.changed(["ded.list"]);
  await a.sharing.sync();
  const b = machine({ read: () => assert.fail("read") });
  writeCopy(b.folder, good);
  await b.sharing.sync();
  assert.equal((await files.versions()).size, 1);
  assert.deepEqual(b.log.events, []);
});

test("of two that changed the same list the first is right, and the other takes it", async (t) => {
  const { machine } = await openWorld(t);
  const [a, b] = [machine(), machine()];
  writeCopy(a.folder, good);
  writeCopy(b.folder, copyOf([...good.lines, "late.example"]));
  for (const { sharing } of [a, b]) sharing.changed(["ded.list"]);
  await a.sharing.sync();
  await b.sharing.sync();
  assert.ok(b.log.events.includes("feed.share_overtaken"));
  await b.sharing.sync();
  assert.equal(b.read("ded.list"), a.read("ded.list"));
});

test("a writer that slept while another wrote replaces nothing", async (t) => {
  const { machine, files } = await openWorld(t);
  let wake = (): void => undefined;
  const asleep = new Promise<void>((resolve) => (wake = resolve));
  const [a, b] = [
    machine({ write: (...all) => asleep.then(() => files.write(...all)) }),
    machine(),
  ];
  writeCopy(a.folder, copyOf([...good.lines, "old.example"]));
  a.sharing.changed(["ded.list"]);
  const writing = a.sharing.sync();
  writeCopy(b.folder, good);
  b.sharing.changed(["ded.list"]);
  await b.sharing.sync();
  wake();
  await writing;
  await a.sharing.sync();
  assert.equal(a.read("ded.list"), textOf(good));
});

test("a store that is away is one line in the log, and what waited is shared when it is back", async (t) => {
  const { machine, files, clock } = await openWorld(t);
  let isAway = true;
  const versions = (): ReturnType<FeedFiles["versions"]> =>
    isAway ? Promise.reject(new Error("away")) : files.versions();
  const a = machine({ versions });
  writeCopy(a.folder, good);
  a.sharing.changed(["ded.list"]);
  for (let tries = 0; tries < 5; tries += 1) {
    await a.sharing.sync();
    clock.advance(10_000);
  }
  assert.deepEqual(a.log.events, ["feed.share_failed"]);
  isAway = false;
  await a.sharing.sync();
  assert.deepEqual([...(await files.versions()).keys()], ["ded.list"]);
});

test("a folder that takes no file is one line, and the file is there when it does again", async (t) => {
  const { machine, put, clock } = await openWorld(t);
  const b = machine();
  rmSync(b.folder, { recursive: true });
  writeFileSync(b.folder, "in the way");
  await put(await packFile("ded.list", textOf(good), 0));
  for (let tries = 0; tries < 3; tries += 1) {
    await b.sharing.sync();
    clock.advance(10_000);
  }
  assert.deepEqual(b.log.events, ["feed.share_failed"]);
  rmSync(b.folder);
  await b.sharing.sync();
  assert.equal(b.read("ded.list"), textOf(good));
});

const packed = (text: string, name = "ded.list"): Promise<SharedFile> => packFile(name, text, 0);

test("what is not whole or good is not taken, the last good copy stays, and who fetches offers it", async (t) => {
  const { machine, put, files } = await openWorld(t);
  const b = machine();
  writeCopy(b.folder, good);
  b.sharing.changed(["ded.list"]);
  await b.sharing.sync();
  const version = (await files.versions()).get("ded.list");
  await put(await packed(textOf(copyOf([...good.lines, "gmail.com"]))));
  await b.sharing.sync();
  await b.sharing.sync();
  assert.equal(b.read("ded.list"), textOf(good));
  assert.equal(readGeneration(b.folder), "");
  assert.equal(b.log.events.filter((event) => event === "feed.share_invalid").length, 1);
  b.sharing.offer();
  await b.sharing.sync();
  assert.equal((await files.versions()).get("ded.list"), version);
});

test("files of other names are nobody's, and a state or servers of another shape are not taken", async (t) => {
  const { machine, put } = await openWorld(t);
  const b = machine();
  await put(await packed("evil", "../evil"));
  await put(await packed('{"ded":{"askedAtMs":"soon"}}', "state.json"));
  await put(await packed('[["mx.a.example","odd"]]', "learned.json"));
  await b.sharing.sync();
  assert.deepEqual(b.log.events, ["feed.share_invalid", "feed.share_invalid"]);
  assert.throws(() => b.read("../evil"), /ENOENT/);
});

test("what is not whole here is never shared", async (t) => {
  const { machine, files } = await openWorld(t);
  const a = machine();
  writeFileSync(join(a.folder, "ded.list"), textOf(good).slice(0, -40));
  a.sharing.changed(["ded.list"]);
  a.sharing.offer();
  await a.sharing.sync();
  assert.equal((await files.versions()).size, 0);
});
