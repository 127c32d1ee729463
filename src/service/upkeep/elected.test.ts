import { strict as assert } from "node:assert";
import { test } from "node:test";
import { memoryElections } from "../../adapters/memory/elections.ts";
import { keptLog } from "../../../test/process/kept-log.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { CLOCKS_APART_MS, type Elections } from "../../ports/process/elections.ts";
import { CAMPAIGN_EVERY_MS, FAILED_REST_MS, LEASE_MS, whileElected } from "./elected.ts";

/** How the store answers one process: as it should, with a fault, not at all, or only when the test says so. */
type Line = "whole" | "broken" | "frozen";

const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
};

function openWorld() {
  const clock = manualClock();
  const log = keptLog();
  const store = memoryElections();
  const lines = new Map<string, Line>();
  const failing = new Set<string>();
  const slowToEnd = new Map<string, Promise<void>>();
  /** What happened: "a begins", "a ended", in order. */
  const story: string[] = [];
  const running = new Set<string>();
  const through = async <T>(candidate: string, ask: () => Promise<T>): Promise<T> => {
    const line = lines.get(candidate) ?? "whole";
    if (line === "broken") throw new Error("cut");
    if (line === "frozen") await new Promise<never>(() => undefined);
    return await ask();
  };
  const elections: Elections = {
    hold: (duty, candidate, at) => through(candidate, () => store.hold(duty, candidate, at)),
    resign: (duty, candidate) => through(candidate, () => store.resign(duty, candidate)),
  };
  const join = async (candidate: string) => {
    const deps = { elections, duty: "lists", candidate, clock, log };
    const candidacy = whileElected(deps, () => {
      if (failing.has(candidate)) return Promise.reject(new Error("no room"));
      story.push(`${candidate} begins`);
      running.add(candidate);
      assert.equal(running.size, 1, "two at a time");
      return Promise.resolve(async () => {
        running.delete(candidate);
        await slowToEnd.get(candidate);
        story.push(`${candidate} ended`);
      });
    });
    await settled();
    return candidacy;
  };
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      clock.advance(1_000);
      await settled();
    }
  };
  return { clock, log, store, lines, failing, slowToEnd, story, join, pass };
}

type World = ReturnType<typeof openWorld>;

const cases: readonly (readonly [string, (world: World) => Promise<void>, readonly string[]])[] = [
  ["alone, it is elected at once", async ({ join }) => void (await join("a")), ["a begins"]],
  [
    "a holder keeps the duty as long as it renews",
    async ({ join, pass }) => {
      await join("a");
      await join("b");
      await pass(3 * LEASE_MS);
    },
    ["a begins"],
  ],
  [
    "who stops has ended first and makes room at the next campaign",
    async ({ join, pass }) => {
      const a = await join("a");
      await join("b");
      await a.stop();
      await pass(CAMPAIGN_EVERY_MS);
    },
    ["a begins", "a ended", "b begins"],
  ],
  [
    "who stops without having it disturbs nobody",
    async ({ join, pass }) => {
      await join("a");
      const b = await join("b");
      await b.stop();
      await pass(LEASE_MS);
    },
    ["a begins"],
  ],
  [
    "a holder whose store is cut off goes on for its lease, ends, and only then another begins",
    async ({ join, pass, lines, story }) => {
      await join("a");
      await join("b");
      lines.set("a", "broken");
      await pass(LEASE_MS - 1_000);
      assert.deepEqual(story, ["a begins"]);
      await pass(1_000);
      assert.deepEqual(story, ["a begins", "a ended"]);
      await pass(CLOCKS_APART_MS + CAMPAIGN_EVERY_MS);
    },
    ["a begins", "a ended", "b begins"],
  ],
  [
    "a store that never answers is the same",
    async ({ join, pass, lines }) => {
      await join("a");
      await join("b");
      lines.set("a", "frozen");
      await pass(LEASE_MS + CLOCKS_APART_MS + CAMPAIGN_EVERY_MS);
    },
    ["a begins", "a ended", "b begins"],
  ],
  [
    "a short cut loses nothing",
    async ({ join, pass, lines }) => {
      await join("a");
      await join("b");
      lines.set("a", "broken");
      await pass(LEASE_MS - CAMPAIGN_EVERY_MS - 1_000);
      lines.set("a", "whole");
      await pass(2 * LEASE_MS);
    },
    ["a begins"],
  ],
  [
    "a store that is back after the lease elects again",
    async ({ join, pass, lines }) => {
      await join("a");
      lines.set("a", "frozen");
      await pass(LEASE_MS);
      lines.set("a", "whole");
      await pass(LEASE_MS + 2 * CAMPAIGN_EVERY_MS);
    },
    ["a begins", "a ended", "a begins"],
  ],
  [
    "who finds that another has it ends at once",
    async ({ join, pass, store, clock }) => {
      await join("a");
      await store.resign("lists", "a");
      await store.hold("lists", "b", { nowMs: clock.nowMs(), leaseMs: LEASE_MS });
      await pass(CAMPAIGN_EVERY_MS);
    },
    ["a begins", "a ended"],
  ],
  [
    "who cannot begin makes room, and tries again after a rest",
    async ({ join, pass, failing }) => {
      failing.add("a");
      await join("a");
      const b = await join("b");
      await pass(FAILED_REST_MS);
      failing.delete("a");
      await b.stop();
      await pass(CAMPAIGN_EVERY_MS);
    },
    ["b begins", "b ended", "a begins"],
  ],
  [
    "a stop waits for an end that takes its time, and resigns after it",
    async ({ join, pass, slowToEnd, story }) => {
      let finish = (): void => undefined;
      slowToEnd.set("a", new Promise((resolve) => (finish = resolve)));
      const a = await join("a");
      await join("b");
      const stopping = a.stop();
      await pass(CAMPAIGN_EVERY_MS);
      assert.deepEqual(story, ["a begins"]);
      finish();
      await stopping;
      await pass(CAMPAIGN_EVERY_MS);
    },
    ["a begins", "a ended", "b begins"],
  ],
];

for (const [name, run, want] of cases) {
  test(`elected: ${name}`, async () => {
    const world = openWorld();
    await run(world);
    assert.deepEqual(world.story, want);
  });
}

test("elected: a stop while the store does not answer is over in seconds", async () => {
  const { join, pass, lines, story } = openWorld();
  const a = await join("a");
  lines.set("a", "frozen");
  await pass(CAMPAIGN_EVERY_MS);
  let isOver = false;
  const stopping = a.stop().then(() => (isOver = true));
  await settled();
  await pass(5_000);
  assert.deepEqual([isOver, story], [true, ["a begins", "a ended"]]);
  await stopping;
});

test("elected: an outage is one line in the log, and what is lost says why", async () => {
  const { join, pass, lines, log } = openWorld();
  await join("a");
  lines.set("a", "broken");
  await pass(2 * LEASE_MS);
  assert.deepEqual(log.events, ["duty.started", "election.unreachable", "duty.lost", "duty.ended"]);
  assert.match(log.text(), /"why":"lapsed"/);
});
