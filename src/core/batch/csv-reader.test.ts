import { strict as assert } from "node:assert";
import { test } from "node:test";
import { CELL_MAX_UNITS, COLUMNS_MAX, CsvReader, type RawRow } from "./csv-reader.ts";

const delimiterOf = (text: string): string =>
  [",", ";", "\t", "|"].find((each) => text.replace(/"[^"]*"/g, "").includes(each)) ?? ",";

function rowsOf(text: string, sliceUnits = text.length || 1): readonly RawRow[] {
  const reader = new CsvReader(delimiterOf(text));
  const rows: RawRow[] = [];
  for (let at = 0; at < text.length; at += sliceUnits) {
    rows.push(...reader.push(text.slice(at, at + sliceUnits)));
  }
  return [...rows, ...reader.end()];
}

const read = (text: string, sliceUnits?: number): readonly (readonly string[])[] =>
  rowsOf(text, sliceUnits).map(({ cells }) => cells);

const TWO = [
  ["a", "b"],
  ["c", "d"],
] as const;

const cases = [
  ["an empty text has no row", "", []],
  ["one cell", "a", [["a"]]],
  ["a last line with its break", "a,b\nc,d\n", TWO],
  ["a last line without it", "a,b\nc,d", TWO],
  ["CRLF", "a,b\r\nc,d\r\n", TWO],
  ["CR alone", "a,b\rc,d\r", TWO],
  ["blank lines are skipped", "a,b\n\n\r\n\nc,d\n", TWO],
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
    "a;b\n15;2",
    [
      ["a", "b"],
      ["15", "2"],
    ],
  ],
  ["tabs", "a\tb\nc\td", TWO],
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

const faults: readonly (readonly [string, string, readonly (readonly [string, string?])[]])[] = [
  [
    "an open quote spoils its line alone",
    'a,b\nc,"d\ne,f\n',
    [["a,b"], ['c,"d', "The quote opened on line 2 is not closed."], ["e,f"]],
  ],
  ["text behind a closing quote belongs to the cell", 'a,b\r\n"c"d,e\r\n', [["a,b"], ["cd,e"]]],
  [
    "a quote that swallows lines and goes on",
    'a,"b\nc,d\ne,"f",g\n',
    [['a,"b', "The quote opened on line 1 is not closed."], ["c,d"], ["e,f,g"]],
  ],
];

for (const [name, text, want] of faults) {
  test(`broken CSV: ${name}`, () => {
    for (const sliceUnits of [text.length, 1, 3]) {
      const got = rowsOf(text, sliceUnits).map(({ cells, fault }) =>
        fault === undefined ? [cells.join(",")] : [cells.join(","), fault],
      );
      assert.deepEqual(got, want);
    }
  });
}

test("a cell that is too long and a million columns are rows with a reason, and reading goes on", () => {
  const long = rowsOf(`a\nb\n${"c".repeat(CELL_MAX_UNITS + 1)}\nd\n`, 1_000);
  assert.deepEqual(
    long.map(({ fault }) => fault),
    [
      undefined,
      undefined,
      `Line 3 has a cell of more than ${String(CELL_MAX_UNITS)} characters.`,
      undefined,
    ],
  );
  const [wide, next] = rowsOf(`${"x,".repeat(1_000_000)}\na,b\n`, 65_536);
  assert.equal(wide?.fault, `Line 1 has more than ${String(COLUMNS_MAX)} columns.`);
  assert.deepEqual(next?.cells, ["a", "b"]);
});

test("an open quote before much text costs one line", () => {
  const rows = rowsOf(`a\n"${"b\n".repeat(CELL_MAX_UNITS)}`, 65_536);
  assert.deepEqual(rows[1]?.fault, "The quote opened on line 2 is not closed.");
  assert.equal(rows.length, CELL_MAX_UNITS + 1);
});

test("the widest row and the longest cell are read", () => {
  assert.equal(read(",".repeat(COLUMNS_MAX - 1))[0]?.length, COLUMNS_MAX);
  assert.equal(read("a".repeat(CELL_MAX_UNITS))[0]?.[0]?.length, CELL_MAX_UNITS);
});
