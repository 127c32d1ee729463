import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  columnOf,
  csvLine,
  decodeFile,
  entryOf,
  firstEntries,
  partsOf,
  parseRows,
  readPasted,
  readTable,
  seemsWrong,
  unwrapped,
} from "../../src/dashboard/lists/list-file.ts";

const rows = [
  [
    "all three kinds of line end separate rows",
    "a,b\r\nc,d\ne,f\rg,h",
    [
      ["a", "b"],
      ["c", "d"],
      ["e", "f"],
      ["g", "h"],
    ],
  ],
  ["a blank line is a row of one empty cell", "a\n\n\r\nb\n", [["a"], [""], [""], ["b"]]],
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
  ["an empty text has no rows", "", []],
] as const;

for (const [name, text, want] of rows) {
  test(`a list file: ${name}`, () => {
    assert.deepEqual(parseRows(text, ","), want);
  });
}

test("a list file: a million quotes and a million delimiters are read in linear steps", () => {
  assert.equal(parseRows('"'.repeat(1_000_000), ",").length, 1);
  assert.equal(parseRows(",".repeat(1_000_000), ",").length, 1);
});

const tables = [
  [
    "the column with at signs is chosen",
    "name,mail\nAnn,ann@x.example\nBob,bob@x.example",
    ["name", "mail"],
    1,
    2,
  ],
  ["semicolons separate columns too", "name;mail\nAnn;ann@x.example", ["name", "mail"], 1, 1],
  ["tabs separate columns too", "mail\tname\nann@x.example\tAnn", ["mail", "name"], 0, 1],
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

const octets = (text: string, encoding: "utf16le" | "utf8" | "latin1"): Uint8Array =>
  new Uint8Array(Buffer.from(text, encoding));

const files = [
  [
    "a byte order mark shows UTF-16",
    octets("\ufeffJosé,ann@x.example", "utf16le"),
    "José,ann@x.example",
  ],
  [
    "without a mark the NULs of ASCII show UTF-16",
    octets("a@x.example,José", "utf16le"),
    "a@x.example,José",
  ],
  [
    "the mark of UTF-8 is not part of the text",
    octets("\ufeffann@x.example", "utf8"),
    "ann@x.example",
  ],
  ["without a mark it is UTF-8", octets("José", "utf8"), "José"],
  [
    "a file that is not UTF-8 is read as the code page of western Europe",
    octets("José;Müller", "latin1"),
    "José;Müller",
  ],
  [
    "a spreadsheet's own format is refused",
    octets("PK\u0003\u0004\u0014\0\0\0", "latin1"),
    undefined,
  ],
] as const;

for (const [name, bytes, want] of files) {
  test(`a list file: ${name}`, () => {
    assert.equal(decodeFile(bytes), want);
  });
}

test("a list file: rows keep their places among headers and blank lines, as spreadsheets count", () => {
  const { rows, places } = readTable("mail\n\na@x.example\n,,\n\nb@x.example\n");
  assert.deepEqual(
    [rows.flat(), places],
    [
      ["a@x.example", "b@x.example"],
      [3, 6],
    ],
  );
});

test("a list file: a first line with the delimiter is used and is not a row", () => {
  const { header, rows, places, delimiter } = readTable(
    "sep=;\r\nname, all;mail\r\nA, B;a@x.example",
  );
  assert.deepEqual([header, rows], [["name, all", "mail"], [["A, B", "a@x.example"]]]);
  assert.deepEqual([places, delimiter], [[3], ";"]);
});

test("cells of a spreadsheet that are pasted are a table with columns to choose from", () => {
  const { header, rows, guess } = readPasted("Name\tMail\nAnn, Dr.\tann@x.example\n");
  assert.deepEqual([header, rows, guess], [["Name", "Mail"], [["Ann, Dr.", "ann@x.example"]], 1]);
  assert.equal(readPasted("a@x.example\tb@x.example").rows.length, 2, "one row is a list");
});

test("a pasted list is split at commas, semicolons and white space", () => {
  assert.deepEqual(readPasted(" a@x.example, b.example;c\n\td ").rows.flat(), [
    "a@x.example",
    "b.example",
    "c",
    "d",
  ]);
});

test("a column is one entry a line, counted without duplicates and blanks", () => {
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
  const table = readTable('h,mail\nx,"a@x\r\n.example"');
  assert.equal(columnOf(table, 1).text, "a@x .example");
  assert.equal(entryOf(table.rows[0] ?? [], 1), "a@x .example");
});

const columns = [
  ["addresses and domains", "mail\na@x.example\nx.example", false],
  ["names of people", "name,mail\nAnn,a@x.example\nBob Stone,b@x.example", true],
  ["addresses with a few mistakes", "mail\na@x.example\nnobody\nb@x.example", false],
] as const;

for (const [name, text, want] of columns) {
  test(`a column of ${name} ${want ? "is asked about" : "is taken as it is"}`, () => {
    assert.equal(seemsWrong(columnOf(readTable(text), 0)), want);
  });
}

const cells = [
  ["a formula is disarmed", "=1+1", "'=1+1"],
  ["an at sign is too", "@x", "'@x"],
  ["a formula behind a mark of direction is too", "\u202e=1+1", "'\u202e=1+1"],
  ["a plus with a function is too", "+SUM(A1)", "'+SUM(A1)"],
  ["a minus with a command is too", "-2+cmd|' /C calc'!A0", "'-2+cmd|' /C calc'!A0"],
  ["a telephone number stays as it was", "+49 (170) 123-45", "+49 (170) 123-45"],
  ["a negative figure stays as it was", "-12.50", "-12.50"],
  ["a semicolon is quoted", "a;b", '"a;b"'],
  ["quotes are doubled", 'a"b', '"a""b"'],
  ["a comma is quoted", "a,b", '"a,b"'],
  ["plain text stays as it is", "a@x.example", "a@x.example"],
] as const;

for (const [name, cell, want] of cells) {
  test(`a cell for spreadsheets: ${name}`, () => {
    assert.equal(csvLine([cell]), `${want}\r\n`);
  });
}

test("a line for spreadsheets keeps the file's delimiter", () => {
  assert.equal(csvLine(["a", "b,c", "d;e"], ";"), 'a;"b,c";"d;e"\r\n');
});

const wrapped = [
  ["mailto:jo@x.example", "jo@x.example"],
  ["MAILTO:jo@x.example?subject=Hi", "jo@x.example"],
  ["Jo Doe <jo@x.example>", "jo@x.example"],
  ['"Doe, Jo" < jo@x.example >', "jo@x.example"],
  ["jo@x.example", "jo@x.example"],
  ["a < b", "a < b"],
] as const;

for (const [text, entry] of wrapped) {
  test(`the entry of ${text} is ${entry}`, () => assert.equal(unwrapped(text), entry));
}

test("what mail programs put around addresses is counted", () => {
  const column = columnOf(readTable("mail\nmailto:a@x.example\nB <b@x.example>\nc@x.example\n"), 0);
  assert.deepEqual([column.text, column.unwrapped], ["a@x.example\nb@x.example\nc@x.example", 2]);
});

test("the first entries of a column are different ones, with what repeats them", () => {
  const column = columnOf(readTable("a@x.example\nA@x.example\nb@x.example\na@x.example\n"), 0);
  const first = firstEntries(column, 1);
  assert.deepEqual([first.text, first.unique], ["a@x.example\nA@x.example\na@x.example", 1]);
});

test("a long list is sent in parts that are cut between entries", () => {
  const lines = Array.from(
    { length: 60_000 },
    (_, at) => `${"a".repeat(40)}@d${String(at)}.example`,
  );
  const text = lines.join("\n");
  const parts = partsOf(text);
  assert.equal(parts.length, 2);
  assert.equal(parts.join("\n"), text);
  for (const part of parts) assert.ok(part.length < 2_000_000);
});
