import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { CAMPAIGN_EVERY_MS, type Elections, whileElected } from "../../src/store/elections.ts";
import { FeedRefresher } from "../../src/lists/feed-refresher.ts";
import { FETCHED_SOURCES } from "../../src/lists/feed-sources.ts";
import type { LoadedLists } from "../../src/lists/load-lists.ts";
import { noRules } from "../../src/lists/shared-datasets.ts";
import { attachDatasets } from "../../src/lists/shared-datasets.ts";
import { createOutbound } from "../../src/outbound/outbound.ts";
import { parseRanges } from "../../src/outbound/public-address.ts";
import { openEmbedded } from "../../src/store/database.ts";
import { sqlFeedFiles } from "../../src/lists/feed-files.ts";
import { DAY_MS } from "../../src/core/calendar.ts";
import { keptLog } from "../process/kept-log.ts";
import { goodNames, listServer, namesOf } from "../lists/list-server.ts";
import { manualClock } from "../time/manual-clock.ts";
import { realClock } from "../time/real-clock.ts";
import { until } from "../time/until.ts";

const ranges = parseRanges(["127.0.0.0/8"]);
const allowed = ranges.ok ? ranges.ranges : [];

const temporary = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-machines-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Machines with one database, one mirror of the sources and one clock. */
async function openWorld(t: TestContext) {
  const server = await listServer(t);
  const clock = manualClock();
  const database = temporary(t);
  const outbound = createOutbound({
    addresses: () => ({ kind: "absent", why: "noName" }),
    clock: realClock,
    allowed,
  });
  /** Who has the lock of the duty. */
  let holder: string | undefined;
  const machine = async (name: string) => {
    // By the manual clock: an election must not wait for the real disk.
    const sql = await openEmbedded(database, 0, { waitsForDisk: false });
    const log = keptLog();
    let isCut = false;
    /** A killed machine sends nothing. */
    const reach = async <T>(ask: () => Promise<T>): Promise<T> => {
      if (isCut) throw new Error("killed");
      return await ask();
    };
    const rows = sqlFeedFiles(sql.db);
    const refresher = await FeedRefresher.open({
      files: {
        versions: () => reach(() => rows.versions()),
        read: (...names) => reach(() => rows.read(...names)),
        write: (file, replaces) => reach(() => rows.write(file, replaces)),
      },
      urlOf: ({ id }) => `${server.url}/${id}`,
      http: (question) => outbound.http(question),
      clock,
      log,
    });
    let datasets = attachDatasets(refresher.loaded.shared, noRules);
    refresher.follow(({ shared }: LoadedLists) => {
      datasets = attachDatasets(shared, noRules);
    });
    let lost = (): void => undefined;
    const elections: Elections = {
      hold: (_duty, tell) => {
        lost = tell;
        return reach(() => Promise.resolve((holder ??= name) === name));
      },
      resign: () =>
        reach(() => {
          if (holder === name) holder = undefined;
          return Promise.resolve();
        }),
    };
    const candidate = async () => {
      const candidacy = whileElected({ elections, duty: "list_refresh", clock, log }, () =>
        Promise.resolve(refresher.fetch()),
      );
      t.after(() => candidacy.stop());
      await settled();
      return candidacy;
    };
    t.after(async () => {
      await refresher.stop();
      await sql.close();
    });
    const has = (event: string): number => log.events.filter((each) => each === event).length;
    return {
      refresher,
      log,
      has,
      join: candidate,
      kill: () => {
        isCut = true;
        if (holder === name) holder = undefined;
        lost();
      },
      look: () => refresher.look(),
      sourcesOf: (of: string): readonly string[] => {
        const bits = datasets.disposable.sourcesOf(of);
        return datasets.sources.flatMap(({ id }, bit) => ((bits >> bit) & 1 ? id : []));
      },
      since: (of: string, id: string): number | undefined =>
        datasets.history?.sinceMs(
          of,
          datasets.sources.findIndex((each) => each.id === id),
        ),
    };
  };
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      clock.advance(1_000);
      await settled();
    }
  };
  return { server, clock, machine, pass };
}

const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
};

test("what the elected machine fetched is on every machine, and was fetched once", async (t) => {
  const { server, machine, pass, clock } = await openWorld(t);
  const [a, b] = [await machine("a"), await machine("b")];
  await a.join();
  await b.join();
  await pass(10_000);
  await until(() => a.has("feed.swapped") === 1);
  assert.deepEqual(b.sourcesOf("bad7.example"), []);
  await b.look();
  assert.deepEqual(b.sourcesOf("bad7.example"), a.sourcesOf("bad7.example"));
  assert.equal(b.sourcesOf("bad7.example").length, FETCHED_SOURCES.length);
  assert.deepEqual(await b.refresher.status(), await a.refresher.status());
  assert.equal(server.asked.length, FETCHED_SOURCES.length);

  const c = await machine("c");
  assert.equal(c.sourcesOf("bad7.example").length, FETCHED_SOURCES.length, "before it listens");
  clock.stepTo(clock.nowMs() + 60_000);
  server.serveNames("ded", [...goodNames("ded"), "gmail.com"], '"2"');
  await c.refresher.refresh();
  assert.equal(
    (await c.refresher.status()).find(({ id }) => id === "ded")?.refusal?.why,
    "holds_provider",
  );
  server.serveNames("ded", [...goodNames("ded"), "later.example"], '"3"');
  await c.refresher.refresh();
  for (const each of [a, b]) await each.look();
  for (const each of [a, b, c]) {
    assert.deepEqual(
      ["later.example", "gmail.com"].map((name) => each.sourcesOf(name).length),
      [1, 0],
    );
  }
});

test("when the elected machine is killed, the next continues with its refusals and its rotating list", async (t) => {
  const { server, machine, pass, clock } = await openWorld(t);
  server.serveNames("castle", namesOf(1_000, "old"), '"a"');
  const [a, b] = [await machine("a"), await machine("b")];
  await a.join();
  await b.join();
  await pass(10_000);
  await until(() => a.has("feed.swapped") === 1);
  const firstDayMs = clock.nowMs() - (clock.nowMs() % DAY_MS);
  await a.refresher.refresh(); // or waits for the running one
  server.serveNames("ded", goodNames("ded").slice(0, 6_600), '"2"');
  const refused = (await a.refresher.refresh()).find(({ id }) => id === "ded");
  assert.equal(refused?.why, "many_removed");
  await b.look();
  assert.ok(b.sourcesOf("bad7000.example").includes("ded"));

  a.kill();
  await pass(CAMPAIGN_EVERY_MS);
  assert.equal(b.has("duty.started"), 1);
  server.asked.length = 0;
  clock.stepTo(clock.nowMs() + DAY_MS);
  server.serveNames("castle", namesOf(1_000, "new"), '"b"');
  const swaps = b.has("feed.swapped");
  for (let seconds = 0; seconds < 700 && server.asked.length === 0; seconds += 1) await pass(1_000);
  await until(() => b.has("feed.swapped") > swaps);
  assert.ok(!b.sourcesOf("bad7000.example").includes("ded"), "the second fetch confirms it");
  assert.ok(b.sourcesOf("old990.example").includes("castle"));
  assert.equal(b.since("old990.example", "castle"), firstDayMs);
  assert.equal(server.asked.length, FETCHED_SOURCES.length);
  assert.equal(server.asked.find(({ id }) => id === "tompec")?.condition, '"1"');
});

test("a stopping machine hands over at once, and its open fetch has no effect", async (t) => {
  const { server, machine, pass } = await openWorld(t);
  server.serve("fakefilter", () => undefined);
  const [a, b] = [await machine("a"), await machine("b")];
  const candidacy = await a.join();
  await b.join();
  await pass(10_000);
  await until(() => server.asked.length === 1);
  await candidacy.stop();
  assert.equal(server.asked.length, 1);
  server.serveNames("fakefilter", goodNames("fakefilter"));
  await pass(CAMPAIGN_EVERY_MS + 10_000);
  await until(() => b.has("feed.swapped") === 1);
  assert.equal(server.asked.length, 1 + FETCHED_SOURCES.length);
  assert.equal(a.has("feed.fetched"), 0);
});
