import assert from "node:assert/strict";
import { test } from "node:test";
import { checkIn, fieldsIn, NOW_MS } from "../../../test/process/check-run.ts";
import { ageOf } from "./domain-age.ts";

const CASES: readonly [name: string, registered: string, want: ReturnType<typeof ageOf>][] = [
  [
    "years old",
    "1995-08-13T04:00:00Z",
    { registered: "1995-08-13", age_days: 11_422, fresh: false },
  ],
  [
    "29 days and a bit is fresh",
    "2026-10-21T13:00:00Z",
    { registered: "2026-10-21", age_days: 29, fresh: true },
  ],
  [
    "30 days to the moment is not",
    "2026-10-21T12:00:00Z",
    { registered: "2026-10-21", age_days: 30, fresh: false },
  ],
  ["today", "2026-11-20T11:59:59Z", { registered: "2026-11-20", age_days: 0, fresh: true }],
  [
    "a registry whose clock is ahead",
    "2026-11-21T06:00:00Z",
    { registered: "2026-11-21", age_days: 0, fresh: true },
  ],
  ["more than a day ahead is invalid", "2026-11-21T12:00:01Z", undefined],
  [
    "the first registrations of all",
    "1985-01-01T00:00:00Z",
    { registered: "1985-01-01", age_days: 15_298, fresh: false },
  ],
  ["a placeholder of a registry that lost the date", "1970-01-01T00:00:00Z", undefined],
  ["no date at all", "not a date", undefined],
];

for (const [name, registered, want] of CASES) {
  test(`domain age: ${name}`, () => {
    assert.deepEqual(ageOf(Date.parse(registered), NOW_MS), want);
  });
}

test("the registry is asked for the registrable domain", async () => {
  const zone = { "shop.co.uk": { registered: "2026-11-01T00:00:00Z" } };
  const { fields, asked } = await checkIn(zone, "a.b.shop.co.uk", ["domain_age"]);
  assert.deepEqual(asked, ["registration shop.co.uk"]);
  assert.deepEqual(fields.domain_age, { registered: "2026-11-01", age_days: 19, fresh: true });
});

test("a hosted name is as old as what its registry knows", async () => {
  const { asked } = await checkIn({}, "someone.github.io", ["domain_age"]);
  assert.deepEqual(asked, ["registration github.io"]);
});

test("a public suffix, and a name no registry knows, have no age", async () => {
  assert.deepEqual(await fieldsIn({}, "co.uk", ["domain_age"]), {});
  assert.deepEqual(await fieldsIn({}, "shop.example", ["domain_age"]), {});
});
