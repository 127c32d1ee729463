import { strict as assert } from "node:assert";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { countingIds } from "../../../../test/contracts/stores.ts";
import { keptLog } from "../../../../test/process/kept-log.ts";
import { fileOf, goodNames, listServer, namesOf } from "../../../../test/lists/list-server.ts";
import { manualClock } from "../../../../test/time/manual-clock.ts";
import { realClock } from "../../../../test/time/real-clock.ts";
import { DAY_MS } from "../../../core/calendar.ts";
import type { Datasets } from "../../../core/evidence/datasets.ts";
import { createOutbound } from "../../outbound/outbound.ts";
import { parseRanges } from "../../outbound/public-address.ts";
import { readCopy } from "../files/feed-copy.ts";
import { createFeedRefresher, type FeedRefresher } from "./feed-refresher.ts";
import { unsharedLists } from "./feed-sharing.ts";
import { FETCHED_SOURCES } from "../sources/feed-sources.ts";
import { loadLists } from "../load/load-lists.ts";
import type { LoadedLists } from "../load/pack-lists.ts";
import { noRules } from "../table/operator.ts";
import { attachDatasets } from "../table/shared-datasets.ts";
import { until } from "../../../../test/time/until.ts";

const ranges = parseRanges(["127.0.0.0/8"]);
const allowed = ranges.ok ? ranges.ranges : [];

async function openWorld(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-lists-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = await listServer(t);
  const clock = manualClock();
  const log = keptLog();
  let datasets: Datasets | undefined;
  const swap = ({ shared }: LoadedLists): void => {
    datasets = attachDatasets(shared, noRules);
  };
  const refresher = (more: { timeoutMsOfDed?: number; base?: string } = {}): FeedRefresher => {
    const outbound = createOutbound({
      addresses: () => ({ kind: "absent", why: "noName" }),
      clock: realClock,
      allowed,
    });
    const { timeoutMsOfDed: timeoutMs } = more;
    const made = createFeedRefresher({
      folder,
      urlOf: ({ id }) => `${more.base ?? server.url}/${id}`,
      http: (question) =>
        outbound.http(
          timeoutMs !== undefined && question.url.endsWith("/ded")
            ? { ...question, timeoutMs }
            : question,
        ),
      clock: { nowMs: () => clock.nowMs(), after: (ms, task) => clock.after(ms, task) },
      ids: countingIds(),
      log,
      sharing: unsharedLists,
      loaded: loadLists(folder),
    });
    t.after(() => made.stop());
    return made;
  };
  const sourcesOf = (name: string): readonly string[] => {
    const bits = datasets?.disposable.sourcesOf(name) ?? 0;
    return (datasets?.sources ?? []).flatMap(({ id }, bit) => ((bits >> bit) & 1 ? id : []));
  };
  return { folder, server, clock, log, refresher, swap, sourcesOf, datasets: () => datasets };
}

const whyOf = async (refresher: FeedRefresher, id: string) =>
  (await refresher.status()).find((each) => each.id === id)?.refusal?.why;

test("a first refresh takes every source, in memory and for the next start without a network", async (t) => {
  const world = await openWorld(t);
  const refresher = world.refresher();
  refresher.follow(world.swap);
  const outcomes = await refresher.refresh();
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    FETCHED_SOURCES.map(() => "accepted"),
  );
  assert.deepEqual(
    world.sourcesOf("bad7.example"),
    FETCHED_SOURCES.map(({ id }) => id),
  );
  const again = await world.refresher({ base: "http://127.0.0.1:1" }).status();
  assert.ok(again.every(({ from, names }) => from === "fetch" && names >= 900));
  assert.deepEqual(
    readdirSync(world.folder).filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("an unchanged source is asked on condition and costs no file", async (t) => {
  const { refresher: make, server } = await openWorld(t);
  const refresher = make();
  await refresher.refresh();
  server.asked.length = 0;
  const outcomes = await refresher.refresh();
  assert.ok(outcomes.every(({ kind }) => kind === "unchanged"));
  assert.ok(server.asked.every(({ condition }) => condition === '"1"'));
});

type Server = Awaited<ReturnType<typeof listServer>>;

/** After a good refresh, what "ded" serves next and why it is not taken. */
const bad: readonly (readonly [string, (server: Server) => void, string])[] = [
  ["an empty file", ({ serveNames }) => serveNames("ded", [], '"2"'), "not_a_list"],
  ["half of the list", ({ serveNames }) => serveNames("ded", namesOf(3_600), '"2"'), "below_floor"],
  [
    "a list half as long again",
    ({ serveNames }) => serveNames("ded", namesOf(11_000), '"2"'),
    "size_swing",
  ],
  [
    "a list that was polluted with a provider",
    ({ serveNames }) => serveNames("ded", [...goodNames("ded"), "Gmail.com"], '"2"'),
    "holds_provider",
  ],
  [
    "other names than every list holds",
    ({ serveNames }) => serveNames("ded", goodNames("ded").slice(1), '"2"'),
    "lacks_known",
  ],
  [
    "a tenth of other names",
    ({ serveNames }) =>
      serveNames("ded", [...goodNames("ded").slice(0, 6_500), ...namesOf(700, "new")], '"2"'),
    "many_removed",
  ],
  [
    "an HTML page",
    ({ serve }) =>
      serve("ded", (_, response) =>
        response.end(`<html>${"<p>Sorry, come back later.</p>\n".repeat(8_000)}</html>`),
      ),
    "not_a_list",
  ],
  [
    "a file in a coding that nobody asked for",
    ({ serve }) =>
      serve("ded", (_, response) =>
        response
          .writeHead(200, { "content-encoding": "gzip" })
          .end(gzipSync(fileOf("ded", goodNames("ded")))),
      ),
    "not_a_list",
  ],
  [
    "an error page",
    ({ serve }) => serve("ded", (_, response) => response.writeHead(503).end("busy")),
    "bad_status",
  ],
  [
    "nothing there",
    ({ serve }) => serve("ded", (_, response) => response.writeHead(404).end()),
    "bad_status",
  ],
  [
    "an endless file",
    ({ serve }) =>
      serve("ded", (_, response) => {
        const chunk = "endless.example\n".repeat(65_536);
        const more = (): void => void (response.writableEnded || response.write(chunk, more));
        more();
      }),
    "too_large",
  ],
  [
    "a file that is cut off half-way",
    ({ serve }) =>
      serve("ded", (_, response) => {
        response.writeHead(200, { "content-length": "200000" });
        response.write("half.example\n".repeat(8_000), () => response.destroy());
      }),
    "not_fetched",
  ],
  [
    "a redirect to an address that is not public",
    ({ serve, port }) =>
      serve("ded", (_, response) =>
        response.writeHead(302, { location: `http://127.0.0.1:${String(port)}/castle` }).end(),
      ),
    "not_fetched",
  ],
];

test("a file that is no good is not taken, and the last good copy stays", async (t) => {
  const world = await openWorld(t);
  const refresher = world.refresher();
  refresher.follow(world.swap);
  await refresher.refresh();
  const copy = (): string => readFileSync(join(world.folder, "ded.list"), "utf8");
  const good = copy();
  for (const [name, serve, want] of bad) {
    await t.test(name, async () => {
      const logged = world.log.events.length;
      serve(world.server);
      const outcome = (await refresher.refresh()).find(({ id }) => id === "ded");
      assert.deepEqual([outcome?.kind, outcome?.why], ["refused", want]);
      assert.equal(await whyOf(refresher, "ded"), want);
      assert.equal(copy(), good);
      assert.ok(world.sourcesOf("bad7.example").includes("ded"));
      assert.ok(world.log.events.slice(logged).includes("feed.refused"));
      world.server.serveNames("ded", goodNames("ded"));
      await refresher.refresh();
      assert.equal(await whyOf(refresher, "ded"), undefined);
    });
  }
});

test("the mark that editors put before a text changes nothing", async (t) => {
  const { server, refresher: make, folder } = await openWorld(t);
  for (const id of ["ded", "tompec", "fakefilter"]) {
    const file = fileOf(id, goodNames(id)).replaceAll("\n", "\r\n");
    server.serve(id, (_, response) => response.end(`\u{feff}${file}`));
  }
  const outcomes = await make().refresh();
  assert.ok(outcomes.every(({ kind }) => kind === "accepted"));
  for (const id of ["ded", "tompec", "fakefilter"]) {
    assert.equal(readCopy(folder, id)?.head.names, goodNames(id).length, id);
  }
});

test("a server of HTTP/1.0, and one that says the same under another tag, are as good as any", async (t) => {
  const { server, refresher: make, folder, clock } = await openWorld(t);
  server.serve("ded", (_, { socket }) =>
    socket?.end(`HTTP/1.0 200 OK\r\n\r\n${fileOf("ded", goodNames("ded"))}`),
  );
  const refresher = make();
  await refresher.refresh();
  const first = readCopy(folder, "ded");
  assert.equal(first?.head.names, goodNames("ded").length);
  clock.stepTo(clock.nowMs() + DAY_MS);
  server.serveNames("ded", goodNames("ded"), '"other"');
  const outcomes = await refresher.refresh();
  assert.equal(outcomes.find(({ id }) => id === "ded")?.kind, "accepted");
  const second = readCopy(folder, "ded");
  assert.deepEqual(
    [second?.head.etag, second?.head.baseDay, second?.lines],
    ['"other"', first?.head.baseDay, first?.lines],
  );
});

test("a server that is slow without end is given up", async (t) => {
  const world = await openWorld(t);
  world.server.serve("ded", (_, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write("slow.example\n"), 20);
    response.on("close", () => clearInterval(drip));
  });
  const outcomes = await world.refresher({ timeoutMsOfDed: 500 }).refresh();
  const ded = outcomes.find(({ id }) => id === "ded");
  assert.deepEqual([ded?.why, ded?.detail], ["not_fetched", "timeout"]);
  assert.equal(outcomes.filter(({ kind }) => kind === "accepted").length, 6);
});

test("a source that says again and again that nothing is new confirms the copy, a refusal does not", async (t) => {
  const { server, refresher: make, clock } = await openWorld(t);
  const refresher = make();
  const confirmed = async (): Promise<number | undefined> =>
    (await refresher.status()).find(({ id }) => id === "wesbos")?.confirmedAtMs;
  assert.equal(await confirmed(), undefined);
  const started = clock.nowMs();
  await refresher.refresh();
  clock.advance(40 * DAY_MS);
  await refresher.refresh();
  assert.equal(await confirmed(), started + 40 * DAY_MS);
  server.serve("wesbos", (_, response) => response.writeHead(410).end());
  clock.advance(40 * DAY_MS);
  await refresher.refresh();
  assert.equal(await whyOf(refresher, "wesbos"), "bad_status");
  const other = (await make().status()).find(({ id }) => id === "wesbos");
  assert.deepEqual(
    [await confirmed(), other?.confirmedAtMs, other?.fetchedAtMs],
    [started + 40 * DAY_MS, started + 40 * DAY_MS, started],
  );
});

test("a folder that takes nothing costs a fetch an hour, not one at each look", async (t) => {
  const { server, refresher: make, folder, clock, log } = await openWorld(t);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "no folder");
  const refresher = make();
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
  const refresher = world.refresher();
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
  const { refresher: make, server, folder } = await openWorld(t);
  const refresher = make();
  await refresher.refresh();
  const before = goodNames("wesbos").length;
  server.serveNames("wesbos", namesOf(before * 2), '"2"');
  for (const _ of ["once", "twice"]) {
    await refresher.refresh();
    assert.equal(await whyOf(refresher, "wesbos"), "size_swing");
  }
  const outcomes = await refresher.refresh(["wesbos"]);
  assert.equal(outcomes.find(({ id }) => id === "wesbos")?.kind, "accepted");
  assert.equal(readCopy(folder, "wesbos")?.head.fetchedNames, before * 2);
  assert.equal(await whyOf(refresher, "wesbos"), undefined);
});

test("a rotating list keeps what it showed, however many days pass between two fetches", async (t) => {
  const { server, refresher: make, clock, sourcesOf, swap } = await openWorld(t);
  const refresher = make();
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
  const refresher = make();
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
  const { server, refresher: make, folder } = await openWorld(t);
  await make().refresh();
  const path = join(folder, "ded.list");
  writeFileSync(path, readFileSync(path, "utf8").slice(0, -40));
  server.asked.length = 0;
  const refresher = make();
  const ded = (await refresher.status()).find(({ id }) => id === "ded");
  assert.equal(ded?.from, "package");
  await refresher.refresh();
  assert.equal(server.asked.find(({ id }) => id === "ded")?.condition, undefined);
  assert.equal(readCopy(folder, "ded")?.head.names, goodNames("ded").length);
});

test("what another process fetched is in use at the next look", async (t) => {
  const { refresher: make, clock, swap, sourcesOf, log } = await openWorld(t);
  const serving = make();
  serving.follow(swap);
  await make().refresh();
  assert.deepEqual(sourcesOf("bad7.example"), []);
  const swaps = (): number => log.events.filter((event) => event === "feed.swapped").length;
  const before = swaps();
  clock.advance(2_000);
  await until(() => swaps() > before);
  assert.equal(sourcesOf("bad7.example").length, 7);
});

test("sources are asked soon after the start, after an hour where nobody answered, and daily", async (t) => {
  const { server, refresher: make, clock, swap, log } = await openWorld(t);
  server.serve("castle", (_, response) => response.writeHead(500).end());
  const refresher = make();
  refresher.follow(swap);
  refresher.fetch();
  const count = (event: string): number => log.events.filter((each) => each === event).length;
  clock.advance(10_000);
  await until(() => count("feed.swapped") === 1);
  assert.deepEqual([server.asked.length, count("feed.refused")], [7, 1]);
  const askedAtMs = clock.nowMs();
  // Ten minutes at a time, for what falls due sets the next alarm when it is over.
  await until(() => {
    if (server.asked.length === 7) clock.advance(600_000);
    return count("feed.refused") === 2;
  });
  assert.ok(clock.nowMs() - askedAtMs >= 3_600_000);
  assert.deepEqual(server.asked.map(({ id }) => id).slice(7), ["castle"]);
});

test("the end of the daily fetching waits for no refresh that the operator asked for", async (t) => {
  const { server, refresher: make } = await openWorld(t);
  for (const { id } of FETCHED_SOURCES) server.serve(id, () => undefined);
  const refresher = make();
  const end = refresher.fetch();
  let isOver = false;
  const refreshing = refresher.refresh().finally(() => (isOver = true));
  await until(() => server.asked.length === 1);
  await end();
  assert.equal(isOver, false);
  await refresher.stop();
  assert.deepEqual(await refreshing, []);
});
