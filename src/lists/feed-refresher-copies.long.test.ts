import { strict as assert } from "node:assert";
import { test } from "node:test";
import { goodNames, namesOf } from "../../test/lists/list-server.ts";
import { DAY_MS } from "../core/calendar.ts";
import { until } from "../../test/time/until.ts";
import { openWorld, whyOf } from "../../test/lists/refresher-world.ts";

test("a database that takes nothing costs a fetch an hour, not one at each look", async (t) => {
  const { server, refresher: make, files, clock, log } = await openWorld(t);
  const refresher = await make();
  files.write = () => Promise.reject(new Error("disk full"));
  refresher.fetch();
  const refused = (): number => log.events.filter((each) => each === "feed.refused").length;
  clock.advance(10_000);
  await until(() => refused() === 7);
  assert.equal(await whyOf(refresher, "ded"), "not_kept");
  const askedAtMs = clock.nowMs();
  await until(() => {
    if (server.asked.length === 7) clock.advance(600_000);
    return refused() === 14;
  });
  assert.ok(clock.nowMs() - askedAtMs >= 3_600_000);
});

test("a large removal is believed when the next fetch says so too", async (t) => {
  const world = await openWorld(t);
  const refresher = await world.refresher();
  refresher.follow(world.swap);
  await refresher.refresh();
  const fewer = goodNames("ded").slice(0, 6_600);
  world.server.serveNames("ded", fewer, '"2"');
  await refresher.refresh();
  assert.equal(await whyOf(refresher, "ded"), "many_removed");
  assert.ok(world.sourcesOf("bad7000.example").includes("ded"));
  await refresher.refresh();
  assert.equal(await whyOf(refresher, "ded"), undefined);
  assert.ok(!world.sourcesOf("bad7000.example").includes("ded"));
});

test("a list that really shrank is taken when the operator says so, and daily fetches go on from there", async (t) => {
  const { refresher: make, server, copy } = await openWorld(t);
  const refresher = await make();
  await refresher.refresh();
  const before = goodNames("wesbos").length;
  server.serveNames("wesbos", namesOf(before * 2), '"2"');
  for (const _ of ["once", "twice"]) {
    await refresher.refresh();
    assert.equal(await whyOf(refresher, "wesbos"), "size_swing");
  }
  const outcomes = await refresher.refresh(["wesbos"]);
  assert.equal(outcomes.find(({ id }) => id === "wesbos")?.kind, "accepted");
  assert.equal((await copy("wesbos"))?.head.fetchedNames, before * 2);
  assert.equal(await whyOf(refresher, "wesbos"), undefined);
});

test("a rotating list keeps what it showed, however many days pass between two fetches", async (t) => {
  const { server, refresher: make, clock, sourcesOf, swap } = await openWorld(t);
  const refresher = await make();
  refresher.follow(swap);
  server.serveNames("castle", namesOf(1_000, "old"), '"a"');
  await refresher.refresh();
  const castleHolds = (name: string): boolean => sourcesOf(name).includes("castle");
  clock.stepTo(clock.nowMs() + 100 * DAY_MS);
  server.serveNames("castle", [...namesOf(900, "new"), ...namesOf(100, "old").slice(4)], '"b"');
  await refresher.refresh();
  assert.deepEqual([castleHolds("old990.example"), castleHolds("new5.example")], [true, true]);
  clock.stepTo(clock.nowMs() + 400 * DAY_MS);
  server.serveNames("castle", namesOf(1_000, "newest"), '"c"');
  await refresher.refresh();
  assert.deepEqual(
    ["old990.example", "old5.example", "new5.example", "newest5.example"].map(castleHolds),
    [true, true, true, true],
  );
});

test("every name says since when its list holds it, and lists say when they were fetched", async (t) => {
  const { server, refresher: make, clock, swap, datasets } = await openWorld(t);
  const refresher = await make();
  refresher.follow(swap);
  const first = Date.UTC(2026, 10, 20);
  await refresher.refresh();
  clock.stepTo(clock.nowMs() + 3 * DAY_MS);
  server.serveNames("ded", [...goodNames("ded"), "later.example"], '"2"');
  await refresher.refresh();
  const bit = datasets()?.sources.findIndex(({ id }) => id === "ded") ?? -1;
  assert.equal(datasets()?.history?.sinceMs("bad7.example", bit), first);
  assert.equal(datasets()?.history?.sinceMs("later.example", bit), first + 3 * DAY_MS);
  assert.equal(datasets()?.sources[bit]?.fetchedAtMs, clock.nowMs());
});

test("a damaged copy is as good as none: the package stands in and the whole file is asked for", async (t) => {
  const { db, server, refresher: make, copy } = await openWorld(t);
  await (await make()).refresh();
  const damaged = { content: Uint8Array.from([1, 2, 3]) };
  await db.updateTable("list_files").set(damaged).where("name", "=", "ded.list").execute();
  server.asked.length = 0;
  const refresher = await make();
  const ded = (await refresher.status()).find(({ id }) => id === "ded");
  assert.equal(ded?.from, "package");
  await refresher.refresh();
  assert.equal(server.asked.find(({ id }) => id === "ded")?.condition, undefined);
  assert.equal((await copy("ded"))?.head.names, goodNames("ded").length);
});

test("what another process fetched is in use at the next look", async (t) => {
  const { refresher: make, swap, sourcesOf, log } = await openWorld(t);
  const serving = await make();
  serving.follow(swap);
  await (await make()).refresh();
  assert.deepEqual(sourcesOf("bad7.example"), []);
  const swaps = (): number => log.events.filter((event) => event === "feed.swapped").length;
  const before = swaps();
  await serving.look();
  assert.ok(swaps() > before);
  assert.equal(sourcesOf("bad7.example").length, 7);
});
