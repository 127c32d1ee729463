import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  seeded,
  SimulatedClock,
  type SimulatedPath,
  SimulatedServer,
} from "../../../test/dns/simulated-network.ts";
import { OWN_MAX, SMALL_MAX, openClient, start, end } from "../../../test/dns/path-run.ts";

interface Limited {
  readonly name: string;
  readonly path: SimulatedPath;
  /** The client's maximum, which its window starts with; `SMALL_MAX` unless given. */
  readonly max?: number;
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
  {
    name: "a resolver that drops far below the maximum, while 50 questions wait,",
    path: { medianMs: 100, waitingMax: 50 },
    max: OWN_MAX,
    idealPerSecond: 500,
    unknownMax: 0.12,
  },
  {
    name: "a resolver far below the maximum whose limit of 150 fills with dead names",
    path: { medianMs: 20, waitingMax: 150, dead: 0.02 },
    max: OWN_MAX,
    idealPerSecond: 150 / (0.02 * 16 + 0.02),
    unknownMax: 0.12,
  },
  {
    name: "a resolver far below the maximum that refuses more than 150 a second",
    path: { medianMs: 20, refusesAbove: 150 },
    max: OWN_MAX,
    idealPerSecond: 150,
    unknownMax: 0.3,
  },
];

for (const { name, path, max = SMALL_MAX, idealPerSecond, unknownMax } of LIMITED) {
  test(`${name} is asked about as much as it can take`, () => {
    const clock = new SimulatedClock();
    const server = new SimulatedServer(path, clock, seeded(3));
    const client = openClient(server, clock, { max });
    const run = start(client, clock, 2_000_000);
    clock.run(() => false, 30_000);
    const before = { ...run };
    clock.run(() => false, 45_000);
    const found = run.found - before.found;
    const share = found / (15 * idealPerSecond);
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
      openClient(server, clock, { max: SMALL_MAX }),
      openClient(server, clock, { max: SMALL_MAX }),
    ];
    const first = start(one, clock, 2_000_000);
    clock.run(() => false, laterMs);
    const second = start(other, clock, 2_000_000, 2_000_000);
    clock.run(() => false, 60_000);
    const before = [first.found, second.found] as const;
    clock.run(() => false, 75_000);
    const shares = [first.found - before[0], second.found - before[1]] as const;
    const ratio = Math.min(...shares) / Math.max(...shares);
    assert.ok(ratio >= 0.5, `one gets ${ratio.toFixed(2)} of the other`);
    const total = (shares[0] + shares[1]) / (15 * 1_000);
    assert.ok(total >= 0.6, `together ${total.toFixed(2)} of what it can answer`);
    end(one, first);
    end(other, second);
  });
}
