import { strict as assert } from "node:assert";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { fileOf, goodNames, type listServer, namesOf } from "../../test/lists/list-server.ts";
import { DAY_MS } from "../core/calendar.ts";
import { FETCHED_SOURCES } from "./feed-sources.ts";
import { until } from "../../test/time/until.ts";
import { openWorld, whyOf } from "../../test/lists/refresher-world.ts";

test("a first refresh takes every source, in memory and for the next start without a network", async (t) => {
  const world = await openWorld(t);
  const refresher = await world.refresher();
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
  const again = await (await world.refresher({ base: "http://127.0.0.1:1" })).status();
  assert.ok(again.every(({ from, names }) => from === "fetch" && names >= 900));
});

test("an unchanged source is asked on condition and costs no file", async (t) => {
  const { refresher: make, server } = await openWorld(t);
  const refresher = await make();
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
  const refresher = await world.refresher();
  refresher.follow(world.swap);
  await refresher.refresh();
  const good = await world.copy("ded");
  for (const [name, serve, want] of bad) {
    await t.test(name, async () => {
      const logged = world.log.events.length;
      serve(world.server);
      const outcome = (await refresher.refresh()).find(({ id }) => id === "ded");
      assert.deepEqual([outcome?.kind, outcome?.why], ["refused", want]);
      assert.equal(await whyOf(refresher, "ded"), want);
      assert.deepEqual(await world.copy("ded"), good);
      assert.ok(world.sourcesOf("bad7.example").includes("ded"));
      assert.ok(world.log.events.slice(logged).includes("feed.refused"));
      world.server.serveNames("ded", goodNames("ded"));
      await refresher.refresh();
      assert.equal(await whyOf(refresher, "ded"), undefined);
    });
  }
});

test("the mark that editors put before a text changes nothing", async (t) => {
  const { server, refresher: make, copy } = await openWorld(t);
  for (const id of ["ded", "tompec", "fakefilter"]) {
    const file = fileOf(id, goodNames(id)).replaceAll("\n", "\r\n");
    server.serve(id, (_, response) => response.end(`\u{feff}${file}`));
  }
  const outcomes = await (await make()).refresh();
  assert.ok(outcomes.every(({ kind }) => kind === "accepted"));
  for (const id of ["ded", "tompec", "fakefilter"]) {
    assert.equal((await copy(id))?.head.names, goodNames(id).length, id);
  }
});

test("a server of HTTP/1.0, and one that says the same under another tag, are as good as any", async (t) => {
  const { server, refresher: make, copy, clock } = await openWorld(t);
  server.serve("ded", (_, { socket }) =>
    socket?.end(`HTTP/1.0 200 OK\r\n\r\n${fileOf("ded", goodNames("ded"))}`),
  );
  const refresher = await make();
  await refresher.refresh();
  const first = await copy("ded");
  assert.equal(first?.head.names, goodNames("ded").length);
  clock.stepTo(clock.nowMs() + DAY_MS);
  server.serveNames("ded", goodNames("ded"), '"other"');
  const outcomes = await refresher.refresh();
  assert.equal(outcomes.find(({ id }) => id === "ded")?.kind, "accepted");
  const second = await copy("ded");
  assert.deepEqual(
    [second?.head.validators.etag, second?.head.baseDay, second?.lines],
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
  const outcomes = await (await world.refresher({ timeoutMsOfDed: 500 })).refresh();
  const ded = outcomes.find(({ id }) => id === "ded");
  assert.deepEqual([ded?.why, ded?.detail], ["not_fetched", "timeout"]);
  assert.equal(outcomes.filter(({ kind }) => kind === "accepted").length, 6);
});

test("a source that says again and again that nothing is new confirms the copy, a refusal does not", async (t) => {
  const { server, refresher: make, clock } = await openWorld(t);
  const refresher = await make();
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
  const other = (await (await make()).status()).find(({ id }) => id === "wesbos");
  assert.deepEqual(
    [await confirmed(), other?.confirmedAtMs, other?.fetchedAtMs],
    [started + 40 * DAY_MS, started + 40 * DAY_MS, started],
  );
});

test("sources are asked soon after the start, after an hour where nobody answered, and daily", async (t) => {
  const { server, refresher: make, clock, swap, log } = await openWorld(t);
  server.serve("castle", (_, response) => response.writeHead(500).end());
  const refresher = await make();
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
  const refresher = await make();
  const end = refresher.fetch();
  let isOver = false;
  const refreshing = refresher.refresh().finally(() => (isOver = true));
  await until(() => server.asked.length === 1);
  await end();
  assert.equal(isOver, false);
  await refresher.stop();
  assert.deepEqual(await refreshing, []);
});
