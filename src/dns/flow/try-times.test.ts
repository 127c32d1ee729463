import { strict as assert } from "node:assert";
import { test } from "node:test";
import { seeded } from "../../../test/dns/simulated-network.ts";
import { PATIENCE } from "./patience.ts";
import { TryTimes } from "./tries.ts";

/** What answers take in milliseconds, given a number from 0 to 1. */
type Path = (draw: () => number) => number;

const constant =
  (ms: number): Path =>
  () =>
    ms;
/** Twelve draws are nearly a normal distribution. */
const lognormal =
  (medianMs: number, sigma: number): Path =>
  (draw) => {
    let sum = -6;
    for (let count = 0; count < 12; count += 1) sum += draw();
    return medianMs * Math.exp(sigma * sum);
  };
const mixed =
  (share: number, one: Path, other: Path): Path =>
  (draw) =>
    draw() < share ? one(draw) : other(draw);

function after(path: Path, times = new TryTimes(PATIENCE.bulk)): TryTimes {
  const draw = seeded(1);
  for (let answer = 0; answer < 5_000; answer += 1) times.answered(path(draw));
  return times;
}

const tries = (times: TryTimes): readonly number[] =>
  PATIENCE.bulk.triesMs.map((_, at) => Math.round(times.ofTryMs(at)));

const cases: readonly (readonly [string, Path, readonly number[]])[] = [
  ["1 ms waits the least", constant(1), [400, 600, 700, 900]],
  ["20 ms waits the least", constant(20), [400, 600, 700, 900]],
  ["300 ms waits for its answer", constant(300), [400, 600, 900, 1_200]],
  ["2 s waits the most", constant(2_000), [1_200, 1_200, 1_200, 1_200]],
];

for (const [name, path, want] of cases) {
  test(`times of tries: ${name}`, () => assert.deepEqual(tries(after(path)), want));
}

test("times of tries: nothing is known at the start, and it waits the most", () => {
  assert.deepEqual(tries(new TryTimes(PATIENCE.bulk)), [1_200, 1_200, 1_200, 1_200]);
});

test("times of tries: a profile without the least has its own whatever answers take", () => {
  for (const profile of ["interactive", "again", "probe"] as const) {
    const times = new TryTimes(PATIENCE[profile]);
    const want = [...PATIENCE[profile].triesMs];
    assert.deepEqual(
      want.map((_, at) => times.ofTryMs(at)),
      want,
    );
    after(constant(1), times);
    assert.deepEqual(
      want.map((_, at) => times.ofTryMs(at)),
      want,
    );
  }
});

test("times of tries: they follow a path that changes within 2,000 answers", () => {
  const times = after(constant(20));
  const draw = seeded(2);
  for (let answer = 0; answer < 2_000; answer += 1) times.answered(lognormal(250, 1)(draw));
  assert.ok(times.ofTryMs(0) > 900, String(times.ofTryMs(0)));
  for (let answer = 0; answer < 2_000; answer += 1) times.answered(20);
  assert.equal(times.ofTryMs(0), 400);
});

const spreads: readonly (readonly [string, Path])[] = [
  ["a long tail", lognormal(80, 1)],
  ["a longer tail", lognormal(30, 1.5)],
  ["one cold name in ten", mixed(0.1, lognormal(400, 0.5), constant(1))],
  ["one cold name in two", mixed(0.5, constant(600), constant(1))],
];

for (const [name, path] of spreads) {
  test(`times of tries: at most one answer in eight takes longer than its try: ${name}`, () => {
    const times = after(path);
    const draw = seeded(3);
    let late = 0;
    for (let answer = 0; answer < 10_000; answer += 1) if (path(draw) > times.ofTryMs(0)) late += 1;
    assert.ok(late <= 1_250, `${String(late)} of 10,000`);
  });
}
