import { strict as assert } from "node:assert";
import { test } from "node:test";
import { keptLog } from "../../test/process/kept-log.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { CAMPAIGN_EVERY_MS, type Elections, FAILED_REST_MS, startDuties } from "./elections.ts";

/** Longer than any pause of a campaign. */
const LONG_MS = 30_000;

/** How the store answers one process: as it should, with a fault, not at all, or only when the test says so. */
type Line = "whole" | "broken" | "frozen";

const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
};

function openWorld() {
  const clock = manualClock();
  const log = keptLog();
  /** Who has the duty, and whom to tell when it is lost. */
  const held = new Map<string, () => void>();
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
  const electionsOf = (candidate: string): Elections => ({
    take: (_duty, lost) =>
      through(candidate, () => {
        if (held.size === 0) held.set(candidate, lost);
        return Promise.resolve(held.has(candidate));
      }),
    free: () => Promise.resolve([]),
    resign: () => through(candidate, () => Promise.resolve(void held.delete(candidate))),
  });
  /** The session of the holder ends, and with it its lock. */
  const cut = (candidate: string): void => {
    const lost = held.get(candidate);
    lines.set(candidate, "broken");
    lost?.();
    held.delete(candidate);
  };
  const join = async (candidate: string) => {
    const begin = () => {
      if (failing.has(candidate)) return Promise.reject(new Error("no room"));
      story.push(`${candidate} begins`);
      running.add(candidate);
      assert.equal(running.size, 1, "two at a time");
      return Promise.resolve(async () => {
        running.delete(candidate);
        await slowToEnd.get(candidate);
        story.push(`${candidate} ended`);
      });
    };
    const candidacy = startDuties(
      { lists: begin },
      { elections: electionsOf(candidate), clock, log },
    );
    await settled();
    return candidacy;
  };
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      clock.advance(1_000);
      await settled();
    }
  };
  return { log, cut, lines, failing, slowToEnd, story, join, pass };
}

type World = ReturnType<typeof openWorld>;

const cases: readonly (readonly [string, (world: World) => Promise<void>, readonly string[]])[] = [
  ["alone, it is elected at once", async ({ join }) => void (await join("a")), ["a begins"]],
  [
    "a holder keeps the duty",
    async ({ join, pass }) => {
      await join("a");
      await join("b");
      await pass(3 * LONG_MS);
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
      await pass(LONG_MS);
    },
    ["a begins"],
  ],
  [
    "a holder whose session is lost ends at once, and another begins",
    async ({ join, pass, cut, story }) => {
      await join("a");
      await join("b");
      cut("a");
      await settled();
      assert.deepEqual(story, ["a begins", "a ended"]);
      await pass(CAMPAIGN_EVERY_MS);
    },
    ["a begins", "a ended", "b begins"],
  ],
  [
    "a holder whose store does not answer for a while goes on: it still has the lock",
    async ({ join, pass, lines }) => {
      await join("a");
      await join("b");
      lines.set("a", "frozen");
      await pass(LONG_MS);
      lines.set("a", "whole");
      await pass(LONG_MS);
    },
    ["a begins"],
  ],
  [
    "a store that is back elects again",
    async ({ join, pass, cut, lines }) => {
      await join("a");
      cut("a");
      await pass(LONG_MS);
      lines.set("a", "whole");
      await pass(2 * CAMPAIGN_EVERY_MS);
    },
    ["a begins", "a ended", "a begins"],
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
  const { join, pass, cut, log } = openWorld();
  await join("a");
  cut("a");
  await pass(2 * LONG_MS);
  assert.deepEqual(log.events, ["duty.started", "duty.lost", "duty.ended", "election.unreachable"]);
  assert.match(log.text(), /"why":"lost"/);
});
