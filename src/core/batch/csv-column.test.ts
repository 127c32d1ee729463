import { strict as assert } from "node:assert";
import { test } from "node:test";
import { columnNames, entryOfCell, findColumn, squareRow } from "./csv-column.ts";

const people = [
  ["Name", "E-Mail", "Site"],
  ["Ada", "ada@x.example", "x.example"],
  ["Bob", "not known", "y.example"],
];

/** Name, rows, the column asked for, where it is and whether there is a header. */
const cases = [
  ["addresses win over domains", people, undefined, 1, true],
  ["by name, in any case and with blanks", people, " e-mail ", 1, true],
  ["by number", people, "3", 2, true],
  [
    "a name wins over a number",
    [
      ["3", "b"],
      ["a@x.example", "c"],
    ],
    "3",
    0,
    true,
  ],
  ["an empty name counts as absent", people, "", 1, true],
  [
    "no header",
    [
      ["Ada", "ada@x.example"],
      ["Bob", "b@x.example"],
    ],
    undefined,
    1,
    false,
  ],
  ["no header, by number", [["Ada", "ada@x.example"]], "2", 1, false],
  ["one column of domains", [["x.example"], ["y.example"]], undefined, 0, false],
  ["domains under a header", [["site"], ["y.example"]], undefined, 0, true],
  ["the first of equal columns", [["a@x.example", "b@x.example"]], undefined, 0, false],
  [
    "most addresses",
    [
      ["a@x.example", "b@x.example"],
      ["", "c@x.example"],
    ],
    undefined,
    1,
    false,
  ],
  [
    "an IDN",
    [
      ["n", "bücher.example"],
      ["1", "grün@bücher.example"],
    ],
    undefined,
    1,
    false,
  ],
  [
    "a malformed address is one to look at",
    [["mail"], ["a@@x..example"], ["b@x.example"]],
    undefined,
    0,
    true,
  ],
  [
    "numbers are not domains",
    [
      ["1.5", "x.example"],
      ["2.5", "y.example"],
    ],
    undefined,
    1,
    false,
  ],
] as const;

for (const [name, rows, wanted, index, hasHeader] of cases) {
  test(`the entries are found: ${name}`, () => {
    assert.deepEqual(findColumn(rows, wanted), { index, hasHeader });
  });
}

const NO_COLUMN = "There is no column of that name.";
const NO_ENTRIES = "No column holds addresses or domains; name it with column.";
const faults = [
  ["an unknown name", people, "phone", NO_COLUMN],
  ["a number too high", people, "4", NO_COLUMN],
  ["the number 0", people, "0", NO_COLUMN],
  ["a name like a prototype", people, "__proto__", NO_COLUMN],
  [
    "no entry anywhere",
    [
      ["a", "b"],
      ["c", "d"],
    ],
    undefined,
    NO_ENTRIES,
  ],
  ["a cell longer than any entry", [[`${"a".repeat(400)}@x.example`]], undefined, NO_ENTRIES],
] as const;

for (const [name, rows, wanted, message] of faults) {
  test(`no entries are found: ${name}`, () => {
    assert.throws(() => findColumn(rows, wanted), { name: "TableFault", message });
  });
}

test("columns without names are numbered", () => {
  assert.deepEqual(columnNames(["a", "b"], { index: 0, hasHeader: true }), ["a", "b"]);
  const numbered = columnNames(["a", "b"], { index: 0, hasHeader: false });
  assert.deepEqual(numbered, ["column_1", "column_2"]);
});

test("short rows are filled up, empty cells beyond the columns dropped, others refused", () => {
  assert.deepEqual(squareRow(["a"], 3, 2), ["a", "", ""]);
  assert.deepEqual(squareRow(["a", "b", "", ""], 2, 2), ["a", "b"]);
  assert.throws(() => squareRow(["a", "b", "c"], 2, 7), {
    message: "Row 7 has more cells than the first row.",
  });
});

test("an entry is one line", () => {
  assert.equal(entryOfCell(" a@x.example\r\nb@x.example\n"), "a@x.example b@x.example");
});
