import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import { AnswerCache, type LookupOutcome } from "./cache.ts";

const found = (ttlSeconds: number): LookupOutcome<string> => ({
  kind: "found",
  records: ["x"],
  ttlSeconds,
});
const absent = (ttlSeconds: number | undefined): LookupOutcome<string> => ({
  kind: "absent",
  why: "noData",
  ttlSeconds,
});
const unknown: LookupOutcome<string> = { kind: "unknown", why: "timeout" };

/** Of one with a short name and record. */
const ENTRY_OCTETS = 384;

function world({ entriesMax = 100 } = {}) {
  const clock = manualClock();
  const sizeOctets = (text: string): number => text.length;
  return {
    clock,
    cache: new AnswerCache<string>({ octetsMax: entriesMax * ENTRY_OCTETS, clock, sizeOctets }),
  };
}

const lives = [
  ["found lives for its TTL", found(300), 300_000],
  ["found with TTL 0 lives for 30 s", found(0), 30_000],
  ["found with TTL 29 lives for 30 s", found(29), 30_000],
  ["found with a week's TTL lives for 24 h", found(604_800), 86_400_000],
  ["absent lives for its negative TTL", absent(120), 120_000],
  ["absent lives for an hour at most", absent(86_400), 3_600_000],
  ["absent without a SOA lives for 5 s", absent(undefined), 5_000],
  ["unknown lives for 5 s", unknown, 5_000],
] as const;

for (const [name, outcome, lifeMs] of lives) {
  test(name, () => {
    const { clock, cache } = world();
    const { expiresAtMs } = cache.put("a.example", outcome);
    assert.equal(expiresAtMs, clock.nowMs() + lifeMs);
    clock.advance(lifeMs - 1);
    assert.equal(cache.get("a.example")?.answer.kind, outcome.kind);
    clock.advance(1);
    assert.equal(cache.get("a.example"), undefined);
  });
}

test("absent with a TTL of 0 is not kept at all", () => {
  const { cache } = world();
  cache.put("a.example", absent(0));
  assert.equal(cache.get("a.example"), undefined);
});

test("unknown lives twice as long each time in a row, up to 30 s, and starts over after an answer", () => {
  const { clock, cache } = world();
  const lifeMs = (outcome: LookupOutcome<string>): number => {
    const { expiresAtMs = 0 } = cache.put("a.example", outcome);
    const leftMs = expiresAtMs - clock.nowMs();
    clock.advance(leftMs);
    return leftMs;
  };
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => lifeMs(unknown)),
    [5e3, 10e3, 20e3, 30e3, 30e3],
  );
  assert.equal(lifeMs(found(60)), 60_000);
  assert.equal(lifeMs(unknown), 5_000);
});

test("unknown does not take the place of an answer that has not ended, and does of one that has", () => {
  const { clock, cache } = world();
  cache.put("a.example", found(60));
  assert.equal(cache.put("a.example", unknown).kind, "unknown");
  assert.equal(cache.get("a.example")?.answer.kind, "found");
  clock.advance(60_000);
  cache.put("a.example", unknown);
  assert.equal(cache.get("a.example")?.answer.kind, "unknown");
});

test("a calendar that steps makes no answer live longer or shorter", () => {
  const { clock, cache } = world();
  cache.put("a.example", found(60));
  clock.stepTo(0);
  clock.advance(59_999);
  assert.equal(cache.get("a.example")?.answer.kind, "found");
  clock.advance(1);
  assert.equal(cache.get("a.example"), undefined);
});

test("an answer read three times is due when under a tenth of its life is left, once", () => {
  const { clock, cache } = world();
  const due = (): boolean | undefined => cache.get("a.example")?.isDue;
  cache.put("a.example", found(100));
  assert.deepEqual([due(), due()], [false, false]);
  clock.advance(90_001);
  assert.deepEqual([due(), due(), due()], [true, false, false]);
});

test("an answer read twice is not worth asking for again", () => {
  const { clock, cache } = world();
  cache.put("a.example", found(100));
  cache.get("a.example");
  clock.advance(95_000);
  assert.equal(cache.get("a.example")?.isDue, false);
});

test("the oldest goes when there is no more room, unless it was read", () => {
  const { cache } = world({ entriesMax: 3 });
  for (const name of ["a", "b", "c"]) cache.put(name, found(100));
  cache.get("a");
  cache.put("d", found(100));
  const held = ["a", "b", "c", "d"].filter((name) => cache.get(name) !== undefined);
  assert.deepEqual(held, ["a", "c", "d"]);
  assert.equal(cache.size, 3);
});

test("one that was read but has ended goes too", () => {
  const { clock, cache } = world({ entriesMax: 2 });
  cache.put("a", found(30));
  cache.get("a");
  cache.put("b", found(300));
  clock.advance(31_000);
  cache.put("c", found(300));
  assert.equal(cache.size, 2);
  assert.equal(cache.get("b")?.answer.kind, "found");
});

test("a long answer takes the room of many short ones", () => {
  const { cache } = world({ entriesMax: 10 });
  for (let index = 0; index < 5; index += 1) cache.put(`n${index}`, found(100));
  const records = ["x".repeat(ENTRY_OCTETS * 7)];
  cache.put("long", { kind: "found", records, ttlSeconds: 100 });
  assert.equal(cache.size, 3);
  cache.put("long", found(100));
  for (let index = 0; index < 7; index += 1) cache.put(`m${index}`, found(100));
  assert.equal(cache.size, 10);
});

test("a full cache takes a new answer at no more cost than an empty one", () => {
  const { cache } = world({ entriesMax: 20_000 });
  // Were the oldest searched for among what was deleted before it, this would take minutes.
  for (let index = 0; index < 400_000; index += 1) cache.put(`n${index}`, found(100));
  assert.equal(cache.size, 20_000);
  assert.equal(cache.get("n379999"), undefined);
  assert.notEqual(cache.get("n380000"), undefined);
});

test("an answer with many records weighs more than their text", () => {
  const { cache } = world({ entriesMax: 10 });
  const records = Array.from({ length: 60 }, () => "a");
  cache.put("small.example", found(300));
  cache.put("many.example", { kind: "found", records, ttlSeconds: 300 });
  assert.equal(cache.size, 1); // 60 records of 64 octets beside their text
});
