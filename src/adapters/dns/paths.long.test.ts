import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  seeded,
  SimulatedClock,
  type SimulatedPath,
  SimulatedServer,
} from "../../../test/dns/simulated-network.ts";
import { MX } from "./message/records.ts";
import { createResolver, type Resolver } from "./resolver.ts";
import { PATIENCE } from "./flow/patience.ts";
import { SharedCap } from "./flow/shared-cap.ts";
import { TryTimes } from "./flow/try-times.ts";

const SERVER = { host: "192.0.2.53", port: 53 };
const NAMES = 20_000;
/** The last names of a list may be dead ones, which take their 4.8 s whatever else is done. */
const MEASURED = 0.95 * NAMES;
const OWN_MAX = 2_000;
/** Where time is simulated rather than a list. */
const SMALL_MAX = 200;

interface Client {
  readonly resolver: Resolver;
  readonly cap: SharedCap;
}

function openClient(server: SimulatedServer, clock: SimulatedClock, max = OWN_MAX): Client {
  const cap = SharedCap.open(max);
  const resolver = createResolver({
    servers: [SERVER],
    profile: "bulk",
    clock,
    random: (count) => new Uint8Array(count),
    cap,
    openUdp: server.openUdp,
  });
  return { resolver, cap };
}

interface Run {
  /** How many to ask. */
  names: number;
  settled: number;
  /** By when 95 % were settled. */
  measuredMs: number;
  found: number;
  /** Timeouts of names that are not dead cannot be told apart here; they are counted against the dead share. */
  timeouts: number;
  refusals: number;
}

/** Keeps `ahead` questions with the resolver until `names` are settled. */
function start(client: Client, clock: SimulatedClock, names: number, first = 0): Run {
  const run: Run = { names, settled: 0, measuredMs: Infinity, found: 0, timeouts: 0, refusals: 0 };
  let asked = 0;
  const next = (): void => {
    if (asked >= run.names) return;
    const name = `d${String(first + asked)}.example`;
    asked += 1;
    client.resolver.ask({ name, kind: MX }, (reply) => {
      run.settled += 1;
      if (run.settled === Math.floor(names * 0.95)) run.measuredMs = clock.monotonicMs();
      if (reply.kind === "found") run.found += 1;
      else if (reply.kind === "unknown" && reply.why === "timeout") run.timeouts += 1;
      else run.refusals += 1;
      next();
    });
  };
  for (let count = 0; count < 3_000; count += 1) next();
  return run;
}

/** Closes the resolver, which answers what is open; nothing more is asked. */
function end({ resolver }: Client, run: Run): void {
  run.names = 0;
  resolver.close();
}

const mean = ({ medianMs, sigma = 0 }: SimulatedPath): number =>
  medianMs * Math.exp(sigma ** 2 / 2);

/** Of the round trips, in parts of their mean: for half of sigma twice the share of a normal distribution within it. */
const deviationPart = (sigma: number): number =>
  2 * Math.tanh((sigma / 2) * Math.sqrt(2 / Math.PI));

/** How long each try of a client waits that knows the path. */
function triesMs(path: SimulatedPath): readonly number[] {
  const times = new TryTimes(PATIENCE.bulk);
  const deviationMs = deviationPart(path.sigma ?? 0) * mean(path);
  for (let answer = 0; answer < 10_000; answer += 1) {
    times.answered(mean(path) + (answer % 2 === 0 ? deviationMs : -deviationMs));
  }
  return PATIENCE.bulk.triesMs.map((_, at) => times.ofTryMs(at));
}

/** Milliseconds of a place that a name costs who always keeps all places in use and sends nothing in vain. */
function placeMs(path: SimulatedPath): number {
  const { loss = 0, dead = 0, broken = 0 } = path;
  const lost = 1 - (1 - loss) ** 2;
  const tries = triesMs(path);
  const retriedMs = Math.max(1_200, (tries[0] ?? 0) + mean(path));
  const live = (1 - lost) * mean(path) + lost * retriedMs;
  const deadMs = tries.reduce((sum, tryMs) => sum + tryMs, 0);
  return (1 - dead - broken) * live + dead * deadMs + broken * 1_000;
}

const LOSSY = { loss: 0.01, dead: 0.02 };
const constant = [5, 20, 50, 100, 150, 200, 300].map((medianMs): SimulatedPath => ({ medianMs }));
const spread = [30, 80, 150, 250].flatMap((medianMs) =>
  [0.6, 1].map((sigma): SimulatedPath => ({ medianMs, sigma })),
);
const STEADY: readonly SimulatedPath[] = [
  ...constant,
  ...spread,
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
    const idealMs = (MEASURED * placeMs(path)) / client.cap.limit(PATIENCE.bulk.capPart);
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
    const client = openClient(server, clock, SMALL_MAX);
    const run = start(client, clock, 2_000_000);
    clock.run(() => false, 5_000);
    server.path = after;
    clock.run(() => false, 10_000); // questions of the time before end
    const settled = run.settled;
    clock.run(() => false, 16_000);
    const ideal = (6_000 * client.cap.limit(PATIENCE.bulk.capPart)) / placeMs(after);
    const share = (run.settled - settled) / ideal;
    assert.ok(share >= 0.7, `${share.toFixed(2)} of the ideal rate`);
    end(client, run);
  });
}

interface Limited {
  readonly name: string;
  readonly path: SimulatedPath;
  /** Names a second that the resolver can answer for. */
  readonly idealPerSecond: number;
  /** Share of live names that may be unknown in the second half of the run, before a second pass. */
  readonly unknownMax: number;
}

const LIMITED: readonly Limited[] = [
  {
    name: "a resolver that drops what comes while 75 questions wait",
    path: { medianMs: 100, waitingMax: 75 },
    idealPerSecond: 750,
    unknownMax: 0.02,
  },
  {
    name: "a resolver whose limit of 100 fills with dead names",
    path: { medianMs: 20, waitingMax: 100, dead: 0.02 },
    idealPerSecond: 100 / (0.02 * 16 + 0.02),
    unknownMax: 0.04,
  },
  {
    name: "a resolver that refuses more than 150 a second",
    path: { medianMs: 20, refusesAbove: 150 },
    idealPerSecond: 150,
    unknownMax: 0.3,
  },
];

for (const { name, path, idealPerSecond, unknownMax } of LIMITED) {
  test(`${name} is asked about as much as it can take`, () => {
    const clock = new SimulatedClock();
    const server = new SimulatedServer(path, clock, seeded(3));
    const client = openClient(server, clock, SMALL_MAX);
    const run = start(client, clock, 2_000_000);
    clock.run(() => false, 20_000);
    const before = { ...run };
    clock.run(() => false, 40_000);
    const found = run.found - before.found;
    const share = found / (20 * idealPerSecond);
    assert.ok(share >= 0.5, `${share.toFixed(2)} of what it can answer`);
    const settled = run.settled - before.settled;
    const unknown = 1 - found / (settled * (1 - (path.dead ?? 0)));
    assert.ok(unknown <= unknownMax, `${(unknown * 100).toFixed(2)} % of live names unknown`);
    end(client, run);
  });
}

for (const laterMs of [0, 20_000]) {
  test(`two clients of one resolver with its own limit, one ${String(laterMs)} ms later, come to fair shares`, () => {
    const clock = new SimulatedClock();
    const path = { medianMs: 100, waitingMax: 100 };
    const server = new SimulatedServer(path, clock, seeded(4));
    const [one, other] = [
      openClient(server, clock, SMALL_MAX),
      openClient(server, clock, SMALL_MAX),
    ];
    const first = start(one, clock, 2_000_000);
    clock.run(() => false, laterMs);
    const second = start(other, clock, 2_000_000, 2_000_000);
    clock.run(() => false, 60_000);
    const before = [first.found, second.found] as const;
    clock.run(() => false, 90_000);
    const shares = [first.found - before[0], second.found - before[1]] as const;
    const ratio = Math.min(...shares) / Math.max(...shares);
    assert.ok(ratio >= 0.5, `one gets ${ratio.toFixed(2)} of the other`);
    const total = (shares[0] + shares[1]) / (30 * 1_000);
    assert.ok(total >= 0.6, `together ${total.toFixed(2)} of what it can answer`);
    end(one, first);
    end(other, second);
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
  assert.ok(Math.max(...spent.slice(NAMES / 200)) <= 2_700, `${String(Math.max(...spent))} ms`);
  resolver.close();
});

for (const [who, profile, most] of [
  ["a single check's", "interactive", 25],
  ["a second pass's", "again", 12],
] as const) {
  test(`${who} first try goes out at once while bulk fills its places`, () => {
    const clock = new SimulatedClock();
    const server = new SimulatedServer({ medianMs: 200 }, clock, seeded(5));
    const bulk = openClient(server, clock, SMALL_MAX);
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
