import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toASCII } from "tr46";
import { readFileSync } from "node:fs";
import { anyCharacter } from "../../../../test/process/any-character.ts";
import { LARGE_PROVIDERS, REAL_NEIGHBOURS } from "../../tables/data.ts";
import { rowsOf } from "../../tables/rows.ts";
import { typoTarget } from "./typo.ts";
import { effort } from "../../../../test/process/effort.ts";

const NOTHING = { free: new Set<string>(), knownGood: new Set<string>() };

/** Distance by the textbook (optimal string alignment), to check the shortcut against. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same, swap));
    }
  }
  return at(a.length, b.length);
}

const TARGETS = [...LARGE_PROVIDERS].filter((name) => name.length >= 8 && name.indexOf(".") >= 5);

/** One to three random edits of a target. */
const edited = fc
  .tuple(
    fc.constantFrom(...TARGETS),
    fc.array(
      fc.record({
        kind: fc.constantFrom("insert", "delete", "replace", "swap"),
        at: fc.nat(30),
        letter: fc.constantFrom(...Array.from("abcdefghijklmnopqrstuvwxyz0123456789-")),
      }),
      { minLength: 0, maxLength: 3 },
    ),
  )
  .map(([target, edits]) =>
    edits.reduce((name, { kind, at, letter }) => {
      const place = at % name.length;
      const [head, here, tail] = [name.slice(0, place), name.charAt(place), name.slice(place + 1)];
      if (kind === "insert") return head + letter + here + tail;
      if (kind === "delete") return head + tail;
      if (kind === "replace") return head + letter + tail;
      return head + tail.charAt(0) + here + tail.slice(1);
    }, target),
  );

test("slips: never another distance than 1, and none of distance 1 missed but by the stated exceptions", () => {
  let slips = 0;
  fc.assert(
    fc.property(edited, (name) => {
      const found = typoTarget(name, NOTHING);
      const near = TARGETS.filter(
        (target) => Math.abs(target.length - name.length) <= 1 && distance(name, target) === 1,
      );
      if (found !== undefined) {
        slips += 1;
        const isOtherGmail = found === "gmail.com" && name.startsWith("gmail.");
        assert.ok(isOtherGmail || distance(name, found) === 1, `${name} is no slip of ${found}`);
        return;
      }
      const label = name.split(".")[0] ?? "";
      const excepted =
        LARGE_PROVIDERS.has(name) || REAL_NEIGHBOURS.has(name) || label.endsWith("cloud");
      const short = near.every((target) => /^(?!gmail|yahoo)[^.]{5}\./.test(target));
      const branches = near.every(
        (target) => target.startsWith(`${label}.`) && /\.[a-z]{2}$/.test(target),
      );
      assert.ok(excepted || branches || short, `${name} was missed`);
    }),
    { numRuns: effort(1_000, 5_000) },
  );
  assert.ok(slips > effort(100, 500), `only ${String(slips)} were slips`);
});

test("slips: total on any text", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40, unit: anyCharacter }), (text) => {
      typoTarget(text, NOTHING);
    }),
    { numRuns: effort(3_000, 20_000) },
  );
});

test("slips: every real neighbour stands beside a target, or the table grew by mistake", () => {
  for (const name of REAL_NEIGHBOURS) {
    assert.ok(
      TARGETS.some((target) => distance(name, target) === 1),
      name,
    );
  }
});

const SLIPS: readonly (readonly [name: string, meant: string | undefined])[] = [
  ["aol.con", "aol.com"],
  ["live.con", "live.com"],
  ["gmx.con", "gmx.com"],
  ["hotmail.couk", "hotmail.co.uk"],
  ["yaho.com", "yahoo.com"],
  ["gmail.co.id", "gmail.com"],
  ["gmail.fr", "gmail.com"],
  ["gmail.com.com", "gmail.com"],
  ["aol.de", undefined],
  ["live.se", undefined],
  ["yahoo.fi", undefined],
  ["qq.xyz", undefined],
  ["gmail.shop.example", undefined],
  ["atinternet.com", undefined],
  ["fptonline.net", undefined],
  ["frontiir.com", undefined],
  ["teliax.com", undefined],
  ["telna.com", undefined],
  ["efrontier.com", undefined],
  ["intevia.pl", undefined],
  ["pocketmail.com", undefined],
  ["bqinternet.com", undefined],
  ["grail.com", undefined],
  ["wahoo.com", undefined],
  ["alive.it", undefined],
  ["tetra.com.br", undefined],
  ["libro.it", undefined],
  ["elia.com", undefined],
];

for (const [name, meant] of SLIPS) {
  test(`slips: ${name} means ${meant ?? "itself"}`, () => {
    assert.equal(typoTarget(name, NOTHING), meant);
  });
}

test("slips: a slip that a list of free providers holds is one all the same", () => {
  assert.equal(typoTarget("yaho.com", { ...NOTHING, free: new Set(["yaho.com"]) }), "yahoo.com");
});

test("slips: each of 60 is recognised, and none of 170 real names near a provider", () => {
  const rows = rowsOf(readFileSync("test/fixtures/provider-slips.txt", "utf8"));
  const wrong = rows.filter(([name = "", meant]) => typoTarget(name, NOTHING) !== meant);
  assert.deepEqual(wrong, []);
  assert.ok(rows.filter(([, meant]) => meant !== undefined).length >= 60);
  assert.ok(rows.filter(([, meant]) => meant === undefined).length >= 170);
});

const READ_AS: readonly (readonly [name: string, target: string])[] = [
  ["grnail.com", "gmail.com"],
  ["gnnail.com", "gmail.com"],
  ["hotrnail.com", "hotmail.com"],
];

test("pairs of letters and letters of other scripts are read as what they look like", () => {
  for (const [name, target] of READ_AS) assert.equal(typoTarget(name, NOTHING), target, name);
  for (const letter of "\u0269\u026a\u0456\u0131") {
    const name = toASCII(`gma${letter}l.com`) ?? "";
    assert.equal(typoTarget(name, NOTHING), "gmail.com", letter);
  }
  const mixed = toASCII("grna\u0269l.com") ?? "";
  assert.equal(typoTarget(mixed, NOTHING), "gmail.com");
  for (const name of ["rnail.org", "cornpany.com", "anna.com", "born.com", "nnn.com"]) {
    assert.equal(typoTarget(name, NOTHING), undefined, name);
  }
});
