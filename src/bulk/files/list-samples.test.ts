import { strict as assert } from "node:assert";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { type ListOptions, readListFile } from "./list-file.ts";

/** Small files as real programs and people make them. */
const FOLDER = new URL("../../../../test/fixtures/lists/", import.meta.url);

interface Read {
  readonly encoding: string;
  readonly column: string;
  readonly sheet: string;
  readonly rows: number;
  readonly entries: readonly string[];
  readonly reasons: readonly string[];
  readonly cells: readonly string[];
}

async function read(name: string, options: ListOptions = {}): Promise<Read> {
  const octets = readFileSync(new URL(name, FOLDER));
  const slices = (async function* () {
    yield await Promise.resolve(octets);
  })();
  const all = [];
  let shape;
  for await (const page of readListFile(slices, { name, ...options })) {
    shape = page.shape;
    all.push(...page.rows);
  }
  const { encoding = "", column = "", sheet = "" } = shape ?? {};
  return {
    encoding,
    column,
    sheet,
    rows: all.length,
    entries: all.flatMap(({ entries }) => entries),
    reasons: all.flatMap(({ reason }) => reason ?? []),
    cells: all.flatMap(({ cells }) => cells),
  };
}

/** `entries` of the mailbox users under good.test, in their order. */
interface Want {
  readonly rows: number;
  readonly users: string;
  readonly column?: string;
  readonly encoding?: string;
  readonly sheet?: string;
  readonly cell?: string;
  readonly options?: ListOptions;
}

const samples: Readonly<Record<string, Want>> = {
  "apostrophe.csv": { rows: 2, users: "jo an" },
  "array-pretty.json": { rows: 2, users: "jo an", column: "email" },
  "contacts3.vcf": { rows: 2, users: "jo jo2 an" },
  "comment.txt": { rows: 4, users: "ops jo jo2 an" },
  "cp1250.csv": { rows: 1, users: "jo", encoding: "windows-1252" },
  "cp1252-quotes.csv": {
    rows: 2,
    users: "jo an",
    encoding: "windows-1252",
    cell: "O\u2019Neil \u20ac 5 \u201cq\u201d \u0178",
  },
  "ctrl-z.csv": { rows: 1, users: "jo" },
  "encoded.txt": { rows: 2, users: "jo an" },
  "g1.csv": { rows: 1, users: "jo an" },
  "g2.csv": { rows: 1, users: "jo an" },
  "g5.txt": { rows: 2, users: "jo an" },
  "gal-line.txt": { rows: 3, users: "jo an el" },
  "gal-lines.txt": { rows: 3, users: "jo an el" },
  "gbk.csv": { rows: 1, users: "jo", encoding: "windows-1252" },
  "googlecontacts.csv": { rows: 2, users: "jo jo.ash jo@work.test an", column: "E-mail 1 - Value" },
  "googlegroups.csv": { rows: 2, users: "jo an", column: "Email address" },
  "hidden-sheet.xlsx": { rows: 2, users: "jo an", sheet: "Sheet" },
  "ideo.txt": { rows: 4, users: "jo an al em" },
  "ids.csv": { rows: 4, users: "a b c d", column: "email", options: { column: "2" } },
  "numbered.txt": { rows: 5, users: "jo an el em us" },
  "outlook-130.txt": {
    rows: 130,
    users: Array.from({ length: 130 }, (_, at) => `u${String(at)}`).join(" "),
  },
  "proxy.csv": { rows: 2, users: "jo jo.ash an", column: "proxyAddresses" },
  "r-rownames.csv": { rows: 3, users: "jo an al", column: "email" },
  "row3.csv": { rows: 3, users: "jo an el" },
  "single-quoted.csv": { rows: 2, users: "jo an", column: "Email" },
  "slash-cell.csv": { rows: 6, users: "jo jo2 an an2 el el2 em em2 us us2 io io2" },
  "smtp1.txt": { rows: 2, users: "jo an" },
  "upper-ss-rel.xlsx": { rows: 2, users: "jo an" },
  "wide600.csv": { rows: 2, users: "jo an" },
  "wider-rows.csv": { rows: 3, users: "a b c", cell: "call back" },
  "workbook2.xlsx": { rows: 2, users: "jo an" },
  "zoom.csv": { rows: 2, users: "jo an", column: "User Email" },
};

for (const [name, { rows, users, options, cell, ...more }] of Object.entries(samples)) {
  test(`a real list is read: ${name}`, async () => {
    const got = await read(name, options);
    assert.deepEqual(
      got.entries,
      users.split(" ").map((user) => (user.includes("@") ? user : `${user}@good.test`)),
    );
    assert.deepEqual([got.rows, got.reasons], [rows, []]);
    for (const [what, value] of Object.entries(more)) assert.equal(got[what as keyof Read], value);
    if (cell !== undefined) assert.ok(got.cells.includes(cell), JSON.stringify(got.cells));
  });
}

const refused: Readonly<Record<string, RegExp>> = {
  "excelize-pass.xlsx": /protected by a password/,
  "formula-nocache.xlsx": /formulas without stored values/,
  "html-table.xls": /HTML.*save it as \.csv/,
  "sjis.csv": /Shift_JIS.*encoding=shift_jis/,
};

for (const [name, reason] of Object.entries(refused)) {
  test(`a file that is no list is refused in words: ${name}`, async () => {
    await assert.rejects(
      read(name),
      (why) => why instanceof TableFault && reason.test(why.message),
    );
  });
}

const encodings: readonly (readonly [name: string, encoding: string, cell: string])[] = [
  ["cp1250.csv", "windows-1250", "\u0141ukasz \u017di\u017eka"],
  ["gbk.csv", "gbk", "\u738b\u5c0f\u660e"],
  ["sjis.csv", "shift_jis", "\u5c71\u7530\u592a\u90ce"],
  ["cp1252-quotes.csv", "latin1", "O\u2019Neil \u20ac 5 \u201cq\u201d \u0178"],
];

for (const [name, encoding, cell] of encodings) {
  test(`an encoding is chosen: ${name} as ${encoding}`, async () => {
    const got = await read(name, { encoding });
    assert.ok(
      got.cells.some((text) => text.includes(cell)),
      JSON.stringify(got.cells),
    );
    assert.equal(got.encoding, new TextDecoder(encoding).encoding);
  });
}

test("an encoding that nobody knows is refused in words", async () => {
  await assert.rejects(read("gbk.csv", { encoding: "x-none" }), /encoding: "x-none" is not known/);
});

const READ = ["jo@good.test", "an@good.test"];

/** Of files that hold other rows than three, of which the third has no address: rows, entries, rows with a reason. */
const OTHERS: Readonly<Record<string, readonly [number, readonly string[], number]>> = {
  "xw-rich.xlsx": [3, [...READ, "el@good.test"], 0],
  "xw-formula.xlsx": [1, ["jo@good.test"], 0],
  "py-formula.xlsx": [3, READ, 1],
};

const REFUSED =
  /\.(?:dif|eth|fods|html|ods|rtf|slk|xls|xlsb|xml)$|^pd-(?:columns|split)\.json$|^populate-pass/;

for (const name of readdirSync(new URL("programs/", FOLDER)).sort()) {
  test(`the same table of another program is read, or refused in words: ${name}`, async () => {
    const got = read(`programs/${name}`);
    if (REFUSED.test(name)) return assert.rejects(got, TableFault);
    const { rows, entries, reasons } = await got;
    const [wantRows, wantEntries, wantReasons] = OTHERS[name] ?? [3, READ, 0];
    assert.deepEqual([rows, entries, reasons.length], [wantRows, wantEntries, wantReasons]);
  });
}

test("each file of the folder has its case", () => {
  const known = [...Object.keys(samples), ...Object.keys(refused)].sort();
  const files = readdirSync(FOLDER).filter((name) => name !== "programs");
  assert.deepEqual(files.sort(), known);
});
