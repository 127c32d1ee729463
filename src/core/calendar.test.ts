import assert from "node:assert/strict";
import { test } from "node:test";
import {
  dayOf,
  httpTime,
  httpTimeMs,
  dayOfDate,
  isoDate,
  isoTime,
  monthStart,
  nextMonthStart,
} from "./calendar.ts";

for (const [name, time, start, next] of [
  ["a leap day ends its February", "2028-02-29T23:59:59.999Z", "2028-02-01", "2028-03-01"],
  ["a common February has 28 days", "2026-02-28T00:00:00.000Z", "2026-02-01", "2026-03-01"],
  ["2100 is not a leap year", "2100-02-28T12:00:00.000Z", "2100-02-01", "2100-03-01"],
  [
    "the last day of December goes on to January",
    "2026-12-31T00:00:00.001Z",
    "2026-12-01",
    "2027-01-01",
  ],
  ["a month of 31 days", "2027-01-31T08:09:10.011Z", "2027-01-01", "2027-02-01"],
  ["before the epoch", "1969-12-31T23:59:59.999Z", "1969-12-01", "1970-01-01"],
] as const) {
  test(name, () => {
    const day = dayOf(Date.parse(time));
    assert.equal(isoDate(monthStart(day)), start);
    assert.equal(isoDate(nextMonthStart(day)), next);
    assert.equal(isoTime(Date.parse(time)), time);
  });
}

const dates = [
  ["1970-01-01", 0],
  ["2026-11-20", 20_777],
  ["2024-02-29", 19_782],
  ["2025-02-29", undefined],
  ["2026-13-01", undefined],
  ["2026-00-10", undefined],
  ["2026-11-31", undefined],
  ["2026-1-1", undefined],
  ["20.11.2026", undefined],
  ["", undefined],
] as const;

for (const [text, want] of dates) {
  test(`"${text}" is day ${String(want)}`, () => {
    assert.equal(dayOfDate(text), want);
  });
}

test("every day of four centuries is read back from its date", () => {
  for (let day = -1_000; day < 146_097; day += 1) assert.equal(dayOfDate(isoDate(day)), day);
});

test("a time of HTTP is read back, and nothing else is", () => {
  const text = "Sun, 06 Nov 1994 08:49:37 GMT";
  assert.equal(httpTimeMs(text), Date.UTC(1994, 10, 6, 8, 49, 37));
  assert.equal(httpTime(httpTimeMs(text)), text);
  for (const other of ["-5", "1994-11-06", "Sunday, 06-Nov-94 08:49:37 GMT", "", `${text} `])
    assert.ok(Number.isNaN(httpTimeMs(other)), other);
});
