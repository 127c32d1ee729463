import { strict as assert } from "node:assert";
import { test } from "node:test";
import { eventDateMs, retryAfterMs } from "./domain-answer.ts";

const read = [
  ["UTC", "1997-09-15T04:00:00Z", "1997-09-15T04:00:00Z"],
  ["an offset east", "1997-09-15T04:00:00+02:00", "1997-09-15T02:00:00Z"],
  ["an offset west over midnight", "1997-12-31T20:00:00-05:00", "1998-01-01T01:00:00Z"],
  ["an offset without colon", "2001-02-03T04:05:06+0530", "2001-02-02T22:35:06Z"],
  ["fractions, dropped", "2020-02-29T23:59:59.999999Z", "2020-02-29T23:59:59Z"],
  ["lower case and a blank", "2020-02-29 23:59:59z", "2020-02-29T23:59:59Z"],
  ["no zone", "2020-02-29T01:00:00", "2020-02-29T01:00:00Z"],
  ["a date alone", "2000-02-29", "2000-02-29T00:00:00Z"],
  ["a leap second", "2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"],
  ["a year before the epoch", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
  ["the last year", "9999-12-31T00:00:00Z", "9999-12-31T00:00:00Z"],
] as const;

for (const [name, text, want] of read) {
  test(`event date: ${name}`, () => {
    assert.equal(eventDateMs(text), Date.parse(want));
  });
}

const refused = [
  ["29 February of a common year", "2023-02-29T00:00:00Z"],
  ["29 February of a century", "1900-02-29T00:00:00Z"],
  ["month 13", "2023-13-01T00:00:00Z"],
  ["month 0", "2023-00-01T00:00:00Z"],
  ["day 0", "2023-01-00"],
  ["day 31 of April", "2023-04-31"],
  ["hour 24", "2023-01-01T24:00:00Z"],
  ["minute 60", "2023-01-01T00:60:00Z"],
  ["year 0", "0000-01-01T00:00:00Z"],
  ["nothing", ""],
  ["words", "yesterday"],
  ["something behind it", "2023-01-01T00:00:00Z<script>"],
  ["a very long fraction", `2023-01-01T00:00:00.${"1".repeat(100)}Z`],
] as const;

for (const [name, text] of refused) {
  test(`event date refused: ${name}`, () => {
    assert.equal(eventDateMs(text), undefined);
  });
}

const now = Date.UTC(2026, 10, 20, 12);
const waits = [
  ["seconds", "120", 120_000],
  ["a date", "Fri, 20 Nov 2026 12:01:00 GMT", 60_000],
  ["a date that is past", "Fri, 20 Nov 2026 11:00:00 GMT", 0],
  ["words", "soon", undefined],
  ["a negative number", "-5", undefined],
  ["a number without end", "9".repeat(40), undefined],
  ["no header", undefined, undefined],
] as const;

for (const [name, header, want] of waits) {
  test(`Retry-After: ${name}`, () => {
    assert.equal(retryAfterMs(header, now), want);
  });
}
