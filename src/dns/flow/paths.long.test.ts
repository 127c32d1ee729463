import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  seeded,
  SimulatedClock,
  type SimulatedPath,
  SimulatedServer,
} from "../../../test/dns/simulated-network.ts";
import { MX } from "../message/records.ts";
import { createResolver } from "../resolver.ts";
import { QUERY_TIMEOUTS } from "../query.ts";
import {
  SERVER,
  OWN_MAX,
  SMALL_MAX,
  openClient,
  type Run,
  start,
  end,
} from "../../../test/dns/path-run.ts";

const NAMES = 20_000;
/** The last names of a list may be dead ones, which take their 3 s whatever else is done. */
const MEASURED = 0.95 * NAMES;

const mean = ({ medianMs, sigma = 0 }: SimulatedPath): number =>
  medianMs * Math.exp(sigma ** 2 / 2);

/** Milliseconds of a place that a name costs who always keeps all places in use and sends nothing in vain. */
function placeMs(path: SimulatedPath): number {
  const { loss = 0, dead = 0, broken = 0 } = path;
  const lost = 1 - (1 - loss) ** 2;
  const tries = QUERY_TIMEOUTS.bulk.triesMs;
  const retriedMs = Math.max(1_200, (tries[0] ?? 0) + mean(path));
  const live = (1 - lost) * mean(path) + lost * retriedMs;
  const deadMs = tries.reduce((sum, tryMs) => sum + tryMs, 0);
  return (1 - dead - broken) * live + dead * deadMs + broken * 1_000;
}

const LOSSY = { loss: 0.01, dead: 0.02 };
const constant = [5, 20, 100, 300].map((medianMs): SimulatedPath => ({ medianMs }));
const spread = [30, 80, 150, 250].flatMap((medianMs) =>
  [0.6, 1].map((sigma): SimulatedPath => ({ medianMs, sigma })),
);
const STEADY: readonly SimulatedPath[] = [
  ...constant,
  ...spread.slice(-2),
  ...spread.map((path) => ({ ...path, ...LOSSY })),
  { medianMs: 20, loss: 0.01 },
  { medianMs: 20, dead: 0.02 },
  { medianMs: 150, loss: 0.01 },
  { medianMs: 150, dead: 0.1 },
  { medianMs: 20, broken: 0.02 },
  { medianMs: 80, broken: 0.2 },
];

const textOf = (path: SimulatedPath): string =>
  Object.entries(path)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(", ");

/** What was found must be all there was to find, but for one name in 10,000. */
function assertNoneLost(run: Run, { dead = 0, broken = 0 }: SimulatedPath): void {
  const live = NAMES * (1 - dead - broken);
  assert.ok(run.found >= live * 0.995, `${String(run.found)} of about ${String(live)} found`);
  assert.ok(run.timeouts <= NAMES * dead * 1.1 + 2, `${String(run.timeouts)} time-outs`);
}

for (const path of STEADY) {
  test(`${textOf(path)}: 20,000 names at 0.8 of the ideal rate, and the cap holds`, () => {
    const clock = new SimulatedClock();
    const server = new SimulatedServer(path, clock, seeded(1));
    const client = openClient(server, clock);
    const run = start(client, clock, NAMES);
    clock.run(() => run.settled === NAMES, 3_600_000);
    assert.equal(run.settled, NAMES);
    const idealMs = (MEASURED * placeMs(path)) / client.cap.limit(QUERY_TIMEOUTS.bulk.capPart);
    const share = idealMs / run.measuredMs;
    assert.ok(share >= 0.8, `${share.toFixed(2)} of the ideal rate`);
    assert.ok(server.mostWaiting <= OWN_MAX, `${String(server.mostWaiting)} at the server at once`);
    assert.equal(client.cap.underWay > 0, client.resolver.stats().underWay > 0);
    assertNoneLost(run, path);
  });
}

interface Change {
  readonly name: string;
  readonly before: SimulatedPath;
  readonly after: SimulatedPath;
}

const CHANGES: readonly Change[] = [
  { name: "20 ms become 200", before: { medianMs: 20 }, after: { medianMs: 200 } },
  { name: "200 ms become 20", before: { medianMs: 200 }, after: { medianMs: 20 } },
  {
    name: "answers begin to scatter",
    before: { medianMs: 20 },
    after: { medianMs: 150, sigma: 1 },
  },
  { name: "5 % loss begins", before: { medianMs: 50 }, after: { medianMs: 50, loss: 0.025 } },
  { name: "10 % loss ends", before: { medianMs: 50, loss: 0.05 }, after: { medianMs: 50 } },
  { name: "an outage ends", before: { medianMs: 50, dead: 1 }, after: { medianMs: 50 } },
];

for (const { name, before, after } of CHANGES) {
  test(`${name} after 5 s: what follows runs at 0.7 of the ideal rate`, () => {
    const clock = new SimulatedClock();
    const server = new SimulatedServer(before, clock, seeded(2));
    const client = openClient(server, clock, { max: SMALL_MAX });
    const run = start(client, clock, 2_000_000);
    clock.run(() => false, 5_000);
    server.path = after;
    clock.run(() => false, 10_000); // questions of the time before end
    const settled = run.settled;
    clock.run(() => false, 16_000);
    const ideal = (6_000 * client.cap.limit(QUERY_TIMEOUTS.bulk.capPart)) / placeMs(after);
    const share = (run.settled - settled) / ideal;
    assert.ok(share >= 0.7, `${share.toFixed(2)} of the ideal rate`);
    end(client, run);
  });
}

test("a dead name at the end of a list is given up as soon as one in its middle", () => {
  const clock = new SimulatedClock();
  const server = new SimulatedServer({ medianMs: 20, ...LOSSY }, clock, seeded(6));
  const { resolver } = openClient(server, clock);
  const spent: number[] = [];
  let settled = 0;
  for (let at = 0; at < NAMES; at += 1) {
    resolver.ask({ name: `d${String(at)}.example`, kind: MX }, (reply, spentMs) => {
      settled += 1;
      if (reply.kind === "unknown") spent.push(spentMs);
    });
  }
  clock.run(() => settled === NAMES, 3_600_000);
  assert.ok(Math.max(...spent.slice(NAMES / 200)) <= 3_100, `${String(Math.max(...spent))} ms`);
  resolver.close();
});

for (const [who, profile, most] of [
  ["a single check's", "interactive", 25],
  ["a second pass's", "again", 12],
] as const) {
  test(`${who} first try goes out at once while bulk fills its places`, () => {
    const clock = new SimulatedClock();
    const server = new SimulatedServer({ medianMs: 200 }, clock, seeded(5));
    const bulk = openClient(server, clock, { max: SMALL_MAX });
    const run = start(bulk, clock, 2_000_000);
    clock.run(() => false, 1_000);
    const other = createResolver({
      servers: [SERVER],
      profile,
      clock,
      random: (count) => new Uint8Array(count),
      cap: bulk.cap,
      openUdp: server.openUdp,
    });
    const tookMs: number[] = [];
    for (let count = 0; count < most; count += 1) {
      const askedMs = clock.monotonicMs();
      other.ask({ name: `d${String(count)}.example`, kind: MX }, () => {
        tookMs.push(clock.monotonicMs() - askedMs);
      });
    }
    clock.run(() => false, 2_000);
    assert.equal(tookMs.length, most);
    assert.equal(Math.max(...tookMs), 200);
    assert.ok(server.mostWaiting <= SMALL_MAX);
    end(bulk, run);
    other.close();
  });
}
