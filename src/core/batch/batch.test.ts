import fc from "fast-check";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  CHUNK_ENTRIES,
  chunkEntries,
  entryAt,
  entryClassOf,
  splitBatch,
  splitText,
  tally,
  unpackChunk,
} from "./batch-chunk.ts";
import { type Batch, EntryReader, piecesOf } from "./batch.ts";
import { finish } from "../../../test/bulk/finish.ts";
import { entryKey, readEntry } from "../address/address.ts";

function read(text: string): Batch {
  const reader = new EntryReader();
  for (const piece of piecesOf(text)) if (piece !== undefined) reader.take(piece);
  const batch = reader.batch();
  assert.ok("spellings" in batch);
  return batch;
}

const splits: readonly (readonly [string, string, readonly string[], number, number])[] = [
  [
    "commas, blanks, tabs, CR and LF separate",
    "a.co,b.co c.co\td.co\r\ne.co",
    "a.co b.co c.co d.co e.co".split(" "),
    5,
    5,
  ],
  ["empty pieces are ignored", ",, \r\n a.co ,,", ["a.co"], 1, 1],
  ["separators alone hold no entry", " ,\t\r\n,", [], 0, 0],
  ["an empty text holds no entry", "", [], 0, 0],
  ["a repeated spelling counts in total only", "a@b.co a@b.co", ["a@b.co"], 2, 1],
  ["case makes another spelling, not another entry", "A@B.co a@b.co", ["A@B.co", "a@b.co"], 2, 1],
  [
    "a key spelled later is a spelling",
    "A@b.co a@b.co A@b.co a@B.CO",
    ["A@b.co", "a@b.co", "a@B.CO"],
    4,
    1,
  ],
  [
    "U-label and A-label are one domain",
    "bücher.de xn--bcher-kva.de",
    ["bücher.de", "xn--bcher-kva.de"],
    2,
    1,
  ],
  ["a trailing dot of a domain is dropped", "b.co. b.co", ["b.co.", "b.co"], 2, 1],
  ["unparsable texts differ by case", "Foo foo", ["Foo", "foo"], 2, 2],
  [
    "names of Object's own are names",
    "__proto__ constructor toString __proto__",
    ["__proto__", "constructor", "toString"],
    4,
    3,
  ],
  ["quotes hold nothing together", '"a b"@c.co', ['"a', 'b"@c.co'], 2, 2],
  [
    "NUL and other white space are characters",
    "a\u0000b.co\u00a0c.co",
    ["a\u0000b.co\u00a0c.co"],
    1,
    1,
  ],
  ["an address and its domain are two entries", "a@b.co b.co", ["a@b.co", "b.co"], 2, 2],
  ["a byte order mark in front is dropped", "\ufeffa@b.co,c.co", ["a@b.co", "c.co"], 2, 2],
  ["a byte order mark inside is a character", "a.co,\ufeffb.co", ["a.co", "\ufeffb.co"], 2, 2],
  ["half a surrogate pair survives", "\ud800@b.co", ["\ud800@b.co"], 1, 1],
];

for (const [name, text, spellings, total, unique] of splits) {
  test(name, () => {
    const batch = read(text);
    assert.deepEqual(batch.spellings, spellings);
    assert.deepEqual([batch.total, batch.unique], [total, unique]);
    const split = finish(splitBatch(batch));
    assert.ok("chunks" in split);
    const again = split.chunks.flatMap(({ content }) => unpackChunk(content).spellings);
    assert.deepEqual(again, spellings, "packing keeps every spelling");
  });
}

test("the entry of any piece is the one that parsing finds", () => {
  const letters = fc.constantFrom(..."abz09.-_+@A%é。".split(""));
  const label = fc.oneof(
    fc.string({ unit: letters, maxLength: 9 }),
    fc.constantFrom("xn--bcher-kva", "xn--", "co", "."),
  );
  const piece = fc.array(label, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      fc.array(
        piece.filter((text) => text !== ""),
        { minLength: 1, maxLength: 12 },
      ),
      (pieces) => {
        const batch = read(pieces.join(","));
        const keys = new Set(pieces.map((text) => entryKey(readEntry(text, "either"), text)));
        assert.equal(batch.unique, keys.size);
      },
    ),
    { numRuns: 3_000 },
  );
});

/** Name, texts, the most entries, their numbers and how many are too many; of one allowed entry 1,002 spellings are parsed. */
const readings: readonly (readonly [string, readonly string[], number, number | undefined])[] = [
  ["as many as are allowed", ["a.co", "b.co", "A.co"], 2, undefined],
  ["one more is counted by entries", ["a.co", "b.co", "A.co"], 1, 2],
  ["far too many are counted by spellings", numbered(2_000), 1, 2_000],
  ["a spelling beyond them counts once", [...numbered(2_000), ...numbered(2_000)], 1, 2_000],
];

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) =>
    at % 2 === 0 ? `a${String(at)}` : `B${String(at)}`,
  );
}

for (const [name, texts, uniqueMax, count] of readings) {
  test(`too many: ${name}`, () => {
    const reader = new EntryReader(uniqueMax);
    for (const text of texts) reader.take(text);
    const batch = reader.batch();
    assert.equal("count" in batch ? batch.count : undefined, count);
  });
}

test("400,000 tiny entries are read in slices of bounded size", () => {
  const text = Array.from({ length: 400_000 }, (_, at) => at.toString(36)).join(",");
  const slices = splitText(text);
  let steps = 0;
  let step = slices.next();
  for (; step.done !== true; step = slices.next()) steps += 1;
  assert.ok("unique" in step.value);
  assert.equal(step.value.unique, 400_000);
  assert.ok(steps >= 780, `${String(steps)} pauses`);
});

test("one entry of 2 MB is one entry and read in slices too", () => {
  const slices = splitText("!".repeat(2_000_000));
  let steps = 0;
  let step = slices.next();
  for (; step.done !== true; step = slices.next()) steps += 1;
  assert.ok("unique" in step.value);
  assert.deepEqual([step.value.total, step.value.unique], [1, 1]);
  assert.ok(steps >= 30, `${String(steps)} pauses`);
});

test("chunks hold their own entries once and earlier ones' spellings in place", () => {
  const texts = Array.from({ length: CHUNK_ENTRIES + 2 }, (_, at) => `u${String(at)}@b.co`);
  const batch = read(
    [...texts.slice(0, CHUNK_ENTRIES + 1), "U0@b.co", ...texts.slice(-1)].join(","),
  );
  const split = finish(splitBatch(batch));
  assert.ok("chunks" in split);
  const packed = split.chunks;
  assert.deepEqual(
    packed.map(({ entries }) => entries),
    [CHUNK_ENTRIES, 2],
  );
  const chunks = packed.map(({ content }) => unpackChunk(content));
  assert.deepEqual(chunks.flatMap(chunkEntries), texts);
  const last = chunks[1];
  assert.ok(last !== undefined);
  assert.deepEqual(
    last.spellings.map((_, at) => entryAt(last, at)),
    [CHUNK_ENTRIES, 0, CHUNK_ENTRIES + 1],
  );
});

const kinds = [
  [
    "a bad format comes before all else",
    { format: false, disposable: true, dns: true },
    "invalidFormat",
  ],
  ["disposable comes before dns", { format: true, disposable: true, dns: false }, "disposable"],
  ["no mail DNS", { format: true, disposable: false, dns: false }, "invalidDns"],
  ["the rest is valid", { format: true, disposable: false, dns: true }, "valid"],
] as const;

for (const [name, result, want] of kinds) {
  test(name, () => assert.equal(entryClassOf(result), want));
}

test("the four counters sum up to the entries", () => {
  const counts = tally(kinds.map(([, result]) => entryClassOf(result)));
  assert.deepEqual(counts, { invalidFormat: 1, disposable: 1, invalidDns: 1, valid: 1 });
});
