import { strict as assert } from "node:assert";
import { test } from "node:test";
import { fileOf, goodNames, namesOf } from "../../test/lists/list-server.ts";
import { BEST_KNOWN_PROVIDERS, LARGE_PROVIDERS } from "../core/tables/data.ts";
import { type Fetched, assessFeed } from "./assess-feed.ts";
import { type FeedCopy, namesOfCopy } from "./assess-feed.ts";
import { castleDays, FETCHED_SOURCES, type FetchedSource } from "./feed-sources.ts";
import { namesOfPackage } from "./packages.ts";

const sourceOf = (id: string) => {
  const source = FETCHED_SOURCES.find((each) => each.id === id);
  assert.ok(source);
  return source;
};

const fetched = (id: string, names: readonly string[], more: Partial<Fetched> = {}): Fetched => ({
  text: fileOf(id, names),
  fetchedAtMs: Date.UTC(2026, 10, 20),
  validators: {},
  removalSeen: false,
  isConfirmed: false,
  ...more,
});

for (const { id } of FETCHED_SOURCES) {
  test(`a good file of ${id} is taken`, () => {
    const assessment = assessFeed(sourceOf(id), fetched(id, goodNames(id)), undefined);
    assert.ok(assessment.kind === "accepted");
    assert.equal(assessment.copy.head.fetchedNames, goodNames(id).length);
  });
}

const odd = [
  ["two lines in a hundred that are no names", 140, "accepted"],
  ["three lines in a hundred that are no names", 220, "not_a_list"],
] as const;

for (const [name, count, want] of odd) {
  test(`${name}: ${want}`, () => {
    const junk = Array.from({ length: count }, (_, n) => `not a name ${String(n)}`);
    const assessment = assessFeed(
      sourceOf("ded"),
      fetched("ded", [...namesOf(7_100), ...junk]),
      undefined,
    );
    assert.equal(assessment.kind === "accepted" ? assessment.kind : assessment.why, want);
  });
}

test("remarks, blank lines, upper case and U-labels are read as people write them", () => {
  const text = `# remark\r\n\r\n${goodNames("ded").join("\r\n").toUpperCase()}\r\nb\u00fccher.example\n`;
  const assessment = assessFeed(sourceOf("ded"), { ...fetched("ded", []), text }, undefined);
  assert.ok(assessment.kind === "accepted");
  assert.ok(assessment.copy.lines.includes("xn--bcher-kva.example"));
  assert.ok(assessment.copy.lines.includes("mailinator.com"));
});

for (const text of ["", "{}", "[1,2]", '{"domains":[]}', "null", "\u0000".repeat(1_000)]) {
  test(`no list: ${JSON.stringify(text).slice(0, 20)}`, () => {
    for (const source of FETCHED_SOURCES) {
      const assessment = assessFeed(source, { ...fetched(source.id, []), text }, undefined);
      assert.equal(assessment.kind, "refused");
    }
  });
}

test("no bundled list holds a large provider", () => {
  assert.ok(BEST_KNOWN_PROVIDERS.length >= 80);
  for (const { bundled } of FETCHED_SOURCES) {
    if (bundled === undefined) continue;
    const names = new Set(namesOfPackage(bundled));
    assert.deepEqual(
      [...LARGE_PROVIDERS].filter((name) => names.has(name)),
      [],
    );
  }
});

/** What "wesbos" becomes when 40,000 names were taken before, and whether the operator's word helps. */
const changes = [
  ["a shrink to three quarters", namesOf(30_000), "size_swing", "accepted"],
  ["growth by half", namesOf(60_000), "size_swing", "accepted"],
  ["a tenth of the names gone", namesOf(36_000), "many_removed", "accepted"],
  ["fewer names than the list ever had", namesOf(19_000), "below_floor", "below_floor"],
  ["a provider among them", [...namesOf(30_000), "gmail.com"], "holds_provider", "holds_provider"],
  ["the names that every list holds are gone", others(30_000), "lacks_known", "lacks_known"],
] as const;

for (const [name, names, alone, confirmed] of changes) {
  test(`${name}: ${alone}, and with the operator's word ${confirmed}`, () => {
    const source = sourceOf("wesbos");
    const first = assessFeed(source, fetched("wesbos", namesOf(40_000)), undefined);
    assert.ok(first.kind === "accepted");
    for (const isConfirmed of [false, true]) {
      const assessed = assessFeed(source, fetched("wesbos", names, { isConfirmed }), first.copy);
      const came = assessed.kind === "accepted" ? assessed.kind : assessed.why;
      assert.equal(came, isConfirmed ? confirmed : alone);
      const isNamed =
        assessed.kind === "refused" && /lists refresh --accept wesbos/.test(assessed.detail ?? "");
      assert.equal(isNamed, !isConfirmed && confirmed === "accepted");
    }
  });
}

function others(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `other${String(n)}.example`);
}

const DAY = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 10, 20);

/** castle with less to hold: no names of the release, and a floor of fifty. */
const small = { ...sourceOf("castle"), seed: () => [], floor: 50 };

/** Fetches the names of `source` on each of `days`, one fetch after the other; the first ever has one name more. */
function copyAfter(
  source: FetchedSource,
  days: readonly number[],
  names: readonly string[],
  first?: FeedCopy,
) {
  let copy = first;
  for (const day of days) {
    const fetch = fetched("castle", copy === undefined ? [...names, "rare.example"] : names, {
      fetchedAtMs: FIRST_DAY + day * DAY,
    });
    const assessment = assessFeed(source, fetch, copy);
    assert.ok(assessment.kind === "accepted");
    copy = assessment.copy;
  }
  return copy ?? assert.fail("no day");
}

const isRareHeld = (copy: FeedCopy): boolean =>
  Array.from(namesOfCopy(copy), ({ name }) => name).includes("rare.example");

const daily = (count: number): readonly number[] => Array.from({ length: count }, (_, day) => day);

test("a rotating list keeps a name for 179 fetches without it, and drops it with the next", () => {
  const names = namesOf(60);
  const last = copyAfter(small, daily(180), names);
  assert.ok(isRareHeld(last));
  assert.ok(!isRareHeld(copyAfter(small, [180], names, last)));
});

test("days without a fetch do not age a rotating list", () => {
  assert.ok(isRareHeld(copyAfter(sourceOf("castle"), [0, 400, 800], goodNames("castle"))));
});

test("the first fetch of a rotating list goes on from the names of the release", () => {
  const assessment = assessFeed(
    sourceOf("castle"),
    fetched("castle", goodNames("castle")),
    undefined,
  );
  assert.ok(assessment.kind === "accepted");
  const held = new Map(Array.from(namesOfCopy(assessment.copy), (each) => [each.name, each]));
  const bundled = castleDays();
  assert.ok(bundled.length > 7_000);
  for (const each of bundled) assert.equal(held.get(each.name)?.sinceDay, each.sinceDay, each.name);
});
