import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { OwnerKey } from "../../base/owner.ts";
import {
  lotOfNumber,
  seeded,
  SimulatedClock,
  type SimulatedPath,
  SimulatedServer,
} from "../../../test/dns/simulated-network.ts";
import { openClient } from "../../../test/dns/path-run.ts";
import { MX } from "../message/records.ts";

const DEAD = 0.5;
/** Names without an answer that one caller has under way: as many as `questions` lets an owner have. */
const SILENT = 1_000;
const CHECK_EVERY_MS = 20;

/** Numbers of names that are dead, or that are not. */
function* numbers(areDead: boolean): Generator<number, never> {
  for (let n = 1; ; n += 1) if (lotOfNumber(n) < DEAD === areDead) yield n;
}

interface Seen {
  readonly waitedMs: number[];
  unknown: number;
}

const FROM_MS = 1_000;
const UNTIL_MS = 31_000;

/** One caller asks for silent names all the time, another checks 50 live names a second. Counts those from `fromMs` on. */
function besideSilentNames(path: SimulatedPath, fromMs: number): Seen {
  const clock = new SimulatedClock();
  const server = new SimulatedServer({ ...path, dead: DEAD }, clock, seeded(7));
  const { resolver } = openClient(server, clock, { profile: "interactive" });
  const [dead, live] = [numbers(true), numbers(false)];
  const ask = (from: typeof dead, by: OwnerKey, done: (isFound: boolean) => void): void => {
    const name = `d${String(from.next().value)}.example`;
    resolver.ask({ name, kind: MX, by }, ({ kind }) => done(kind === "found"));
  };
  const askSilent = (): void => ask(dead, "bucket:192.0.2.1", askSilent);
  for (let n = 0; n < SILENT; n += 1) askSilent();
  const seen: Seen = { waitedMs: [], unknown: 0 };
  const check = (): void => {
    const sinceMs = clock.monotonicMs();
    ask(live, "bucket:192.0.2.2", (isFound) => {
      if (sinceMs < fromMs) return;
      if (isFound) seen.waitedMs.push(clock.monotonicMs() - sinceMs);
      else seen.unknown += 1;
    });
    clock.after(CHECK_EVERY_MS, check);
  };
  clock.after(FROM_MS, check);
  clock.run(() => false, UNTIL_MS);
  return seen;
}

/** Finding a limit takes some epochs of the window. */
const FOUND_MS = 16_000;

interface Row {
  readonly name: string;
  readonly path: SimulatedPath;
  readonly fromMs?: number;
  /** Share of checks that take longer than 120 ms. */
  readonly slowMax?: number;
}

const ROWS: readonly Row[] = [
  { name: "a resolver that takes all", path: { medianMs: 20 }, fromMs: FROM_MS },
  {
    // 91 tries in an epoch are too few for one more trial.
    name: "a resolver that drops what comes while 100 wait",
    path: { medianMs: 20, waitingMax: 100 },
    slowMax: 0.3,
  },
  {
    name: "a resolver that answers SERVFAIL while 100 wait",
    path: { medianMs: 20, waitingMax: 100, isFrank: true },
  },
  {
    name: "a resolver that refuses more than 200 a second",
    path: { medianMs: 20, refusesAbove: 200 },
  },
];

for (const { name, path, fromMs = FOUND_MS, slowMax = 0 } of ROWS) {
  test(`silent names of one caller take no answer from another through ${name}`, () => {
    const { waitedMs, unknown } = besideSilentNames(path, fromMs);
    assert.equal(unknown, 0);
    assert.ok(waitedMs.length >= 700, `${String(waitedMs.length)} checks`);
    const slow = waitedMs.filter((ms) => ms > 120).length / waitedMs.length;
    assert.ok(slow <= slowMax, `${slow.toFixed(2)} are slow`);
  });
}

test("of one caller 1,000 questions wait, and what it asks beyond them could not be told", async () => {
  const clock = new SimulatedClock();
  const server = new SimulatedServer({ medianMs: 20, dead: 1 }, clock, seeded(7));
  const { resolver } = openClient(server, clock, { profile: "interactive" });
  const asked = { "bucket:192.0.2.1": 1_500, "bucket:192.0.2.2": 1 };
  const refused: string[] = [];
  for (const [by, count] of Object.entries(asked)) {
    for (let n = 0; n < count; n += 1) {
      resolver.ask({ name: `d${String(n)}.example`, kind: MX, by }, (reply) => {
        if (reply.kind === "unknown" && reply.why === "deadline") refused.push(by);
      });
    }
  }
  await Promise.resolve();
  // An eighth of the 2,000 places is theirs before any answer.
  assert.deepEqual(refused, Array<string>(250).fill("bucket:192.0.2.1"));
});
