import { strict as assert } from "node:assert";
import { test } from "node:test";
import { CELL_MAX_UNITS, COLUMNS_MAX, CsvReader, detectDelimiter } from "./csv-reader.ts";

function read(text: string, sliceUnits = text.length || 1): readonly (readonly string[])[] {
  const reader = new CsvReader(detectDelimiter(text));
  const rows: (readonly string[])[] = [];
  for (let at = 0; at < text.length; at += sliceUnits) {
    rows.push(...reader.push(text.slice(at, at + sliceUnits)));
  }
  return [...rows, ...reader.end()];
}

const cases = [
  ["an empty text has no row", "", []],
  ["one cell", "a", [["a"]]],
  [
    "a last line with its break",
    "a,b\nc,d\n",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "a last line without it",
    "a,b\nc,d",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "CRLF",
    "a,b\r\nc,d\r\n",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "CR alone",
    "a,b\rc,d\r",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "blank lines are skipped",
    "a,b\n\n\r\n\nc,d\n",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "empty cells",
    ",a,\n,,\n",
    [
      ["", "a", ""],
      ["", "", ""],
    ],
  ],
  ["a trailing delimiter at the end", "a,", [["a", ""]]],
  ["quoted cells", '"a","b c"\n', [["a", "b c"]]],
  ["a quoted empty cell", '"",a', [["", "a"]]],
  ["delimiters and breaks in quotes", '"a,b\r\nc",d\n', [["a,b\r\nc", "d"]]],
  ["a pair of quotes is one", '"say ""hi""",b', [['say "hi"', "b"]]],
  ["only a pair of quotes", '""""', [['"']]],
  ["a quote inside an unquoted cell is text", 'Joe "B" S,b', [['Joe "B" S', "b"]]],
  ["blanks stay", " a , b ", [[" a ", " b "]]],
  [
    "semicolons",
    "a;b\n1,5;2",
    [
      ["a", "b"],
      ["1,5", "2"],
    ],
  ],
  [
    "tabs",
    "a\tb\nc\td",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  ["bars", "a|b", [["a", "b"]]],
  ["a delimiter in quotes does not count", '"a;b;c",d', [["a;b;c", "d"]]],
  ["rows of different length", "a,b,c\nd\n", [["a", "b", "c"], ["d"]]],
] as const;

for (const [name, text, want] of cases) {
  test(`CSV is read: ${name}`, () => {
    assert.deepEqual(read(text), want);
  });
  test(`CSV is read one character at a time: ${name}`, () => {
    assert.deepEqual(read(text, 1), want);
  });
}

const faults = [
  ["an open quote", 'a,b\nc,"d\ne,f\n', "The quote opened on line 2 is not closed."],
  ["text behind a closing quote", 'a,b\r\n"c"d,e\r\n', "Line 2 has text behind a closing quote."],
  ["a blank behind a closing quote", '"a" ,b', "Line 1 has text behind a closing quote."],
  [
    "a cell that is too long",
    `a\nb\n${"c".repeat(CELL_MAX_UNITS + 1)}`,
    "A cell is longer than 32768 characters on line 3.",
  ],
  [
    "an open quote before much text",
    `a\n"${"b\n".repeat(CELL_MAX_UNITS)}`,
    "The quote opened on line 2 is not closed, or its cell is longer than 32768 characters.",
  ],
  ["a million columns", ",".repeat(1_000_000), "Line 1 has more than 500 columns."],
] as const;

for (const [name, text, message] of faults) {
  test(`broken CSV says what and where: ${name}`, () => {
    for (const sliceUnits of [text.length, 1_000]) {
      assert.throws(() => read(text, sliceUnits), { name: "TableFault", message });
    }
  });
}

test("the widest row and the longest cell are read", () => {
  assert.equal(read(",".repeat(COLUMNS_MAX - 1))[0]?.length, COLUMNS_MAX);
  assert.equal(read("a".repeat(CELL_MAX_UNITS))[0]?.[0]?.length, CELL_MAX_UNITS);
});
