import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  columnOf,
  csvLine,
  decodeFile,
  parseRows,
  readPasted,
  readTable,
} from "../../src/dashboard/app/list-file.ts";

const rows = [
  [
    "line ends of all three kinds part rows",
    "a,b\r\nc,d\ne,f\rg,h",
    [
      ["a", "b"],
      ["c", "d"],
      ["e", "f"],
      ["g", "h"],
    ],
  ],
  ["blank lines are no rows", "a\n\n\r\nb\n", [["a"], ["b"]]],
  ["quotes keep delimiters and line ends", '"a,b","c\nd"', [["a,b", "c\nd"]]],
  ["two quotes inside quotes are one", '"a""b"', [['a"b']]],
  ["a quote that is never closed ends with the text", '"a,b\nc', [["a,b\nc"]]],
  ["what follows a closing quote belongs to the cell", '"a"x,b', [["ax", "b"]]],
  [
    "an empty last cell is a cell",
    "a,\nb,",
    [
      ["a", ""],
      ["b", ""],
    ],
  ],
  ["cells are trimmed", " a , b ", [["a", "b"]]],
  ["nothing is no row", "", []],
] as const;

for (const [name, text, want] of rows) {
  test(`a list file: ${name}`, () => {
    assert.deepEqual(parseRows(text, ","), want);
  });
}

test("a list file: a million quotes and a million delimiters are read in linear steps", () => {
  assert.equal(parseRows('"'.repeat(1_000_000), ",").length, 1);
  assert.equal(parseRows(",".repeat(1_000_000), ",").length, 0);
});

const tables = [
  [
    "the column with at signs is the one",
    "name,mail\nAnn,ann@x.example\nBob,bob@x.example",
    ["name", "mail"],
    1,
    2,
  ],
  ["semicolons part columns too", "name;mail\nAnn;ann@x.example", ["name", "mail"], 1, 1],
  ["tabs part columns too", "mail\tname\nann@x.example\tAnn", ["mail", "name"], 0, 1],
  [
    "a file without a header gets numbered columns",
    "ann@x.example,1\nbob@x.example,2",
    ["Column 1", "Column 2"],
    0,
    2,
  ],
  ["a plain list is one column", "ann@x.example\nx.example", ["Column 1"], 0, 2],
  [
    "addresses count more than domains",
    "x.example,ann@x.example\ny.example,bob@y.example",
    ["Column 1", "Column 2"],
    1,
    2,
  ],
  [
    "rows of different lengths make the widest table",
    "h\na@x.example,b,c",
    ["h", "Column 2", "Column 3"],
    0,
    1,
  ],
] as const;

for (const [name, text, header, guess, length] of tables) {
  test(`a list file: ${name}`, () => {
    const table = readTable(text);
    assert.deepEqual([table.header, table.guess, table.rows.length], [header, guess, length]);
  });
}

test("a list file: byte order marks tell UTF-16 and UTF-8", () => {
  const text = "ann@x.example";
  const wide = new Uint8Array(Buffer.from(text, "utf16le"));
  assert.equal(decodeFile(Uint8Array.from([0xff, 0xfe, ...wide])), text);
  assert.equal(decodeFile(new TextEncoder().encode(`\ufeff${text}`)), text);
});

test("a pasted list is parted by commas, semicolons and white space", () => {
  assert.deepEqual(readPasted(" a@x.example, b.example;c\n\td ").rows.flat(), [
    "a@x.example",
    "b.example",
    "c",
    "d",
  ]);
});

test("a column is one entry a line, counted without its doubles and blanks", () => {
  const { text, unique, rowOf } = columnOf(
    readTable("mail\na@x.example\n\nA@X.example\na@x.example"),
    0,
  );
  assert.equal(text, "a@x.example\nA@X.example\na@x.example");
  assert.equal(unique, 1);
  assert.deepEqual(
    [...rowOf],
    [
      ["a@x.example", 0],
      ["A@X.example", 1],
    ],
  );
});

test("a cell with a line break stays one entry", () => {
  assert.equal(columnOf({ header: ["a"], rows: [["a\r\nb"]], guess: 0 }, 0).text, "a b");
});

const cells = [
  ["a formula is disarmed", "=1+1", "'=1+1"],
  ["a plus, a minus and an at sign are too", "@x", "'@x"],
  ["quotes are doubled", 'a"b', '"a""b"'],
  ["a comma is quoted", "a,b", '"a,b"'],
  ["plain text stays as it is", "a@x.example", "a@x.example"],
] as const;

for (const [name, cell, want] of cells) {
  test(`a cell for spreadsheets: ${name}`, () => {
    assert.equal(csvLine([cell]), `${want}\r\n`);
  });
}
