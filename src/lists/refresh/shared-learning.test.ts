import { strict as assert } from "node:assert";
import { test } from "node:test";
import { openStores } from "../../../test/contracts/stores.ts";
import { keptLog } from "../../../test/process/kept-log.ts";
import type { LearningRound } from "../files/learning-file.ts";
import { sqlFeedFiles } from "../feed-files.ts";
import { packFile } from "../table/lists-file.ts";
import { sharedLearning } from "./shared-learning.ts";

const round = (lastName: string): LearningRound => ({
  day: 20_700,
  isOver: false,
  lastName,
  sightings: [{ domain: lastName, listed: true, hosts: ["mx.example"], addresses: ["192.0.2.1"] }],
});

test("a round goes on on another machine, and who was left behind writes no more", async (t) => {
  const { sql, clock } = await openStores(t);
  const files = sqlFeedFiles(sql.db);
  const log = keptLog();
  const [a, b] = [sharedLearning(files, { clock, log }), sharedLearning(files, { clock, log })];
  assert.equal(await a.read(), undefined);
  await a.save(round("a.example"));
  await a.save(round("b.example"));
  assert.deepEqual(await b.read(), round("b.example"));
  await b.save(round("c.example"));
  await assert.rejects(a.save(round("x.example")), /another machine learns/);
  assert.deepEqual(await a.read(), round("c.example"));
  await a.save(round("c.example"));
  await a.save(round("d.example"));
  assert.deepEqual(await b.read(), round("d.example"));
});

test("a round that is none is said so, and the next one replaces it", async (t) => {
  const { sql, clock } = await openStores(t);
  const files = sqlFeedFiles(sql.db);
  const log = keptLog();
  await files.write(await packFile("learning.json", '{"day":1}', 0), undefined);
  const store = sharedLearning(files, { clock, log });
  assert.equal(await store.read(), undefined);
  assert.deepEqual(log.events, ["learning.round_invalid"]);
  await store.save(round("a.example"));
  assert.deepEqual(await store.read(), round("a.example"));
});
