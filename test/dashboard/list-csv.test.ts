import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ListRow } from "../../src/dashboard/api/shapes.ts";
import { listCsv } from "../../src/dashboard/app/list-csv.ts";
import { columnOf, readTable } from "../../src/dashboard/app/list-file.ts";
import { filterRows, reasonsOf } from "../../src/dashboard/words/list-row.ts";

const row = (entry: string, fate: ListRow["fate"], ...signals: ListRow["signals"]): ListRow => ({
  entry,
  fate,
  confidence: fate === "disposable" ? 97 : 0,
  signals,
});

const ANN = row("ann@good.example", "valid");
const BOB = row("bob@bad.example", "disposable", "blacklist_exact");
const EVE = row("eve@bad.example", "disposable", "blacklist_mx");
const SAM = row("sam@silent.example", "invalidDns", "dns_indeterminate");
const ROWS = [ANN, BOB, EVE, SAM];

const table = readTable(
  "name;mail\nAnn;ann@good.example\nNobody;\nBob;bob@bad.example\nBo;bob@bad.example\nEve;eve@bad.example\nSam;sam@silent.example\n",
);
const source = { table, column: columnOf(table, 1), at: 1 };

const HEADER = "name;mail;verdict;confidence;signals;reason";
const LISTED = "Disposable;97;blacklist_exact;On the lists of disposable domains.";

const files = [
  [
    "every row of the file has its verdict, those without an entry an empty one",
    { source, rows: ROWS },
    undefined,
    [
      HEADER,
      "Ann;ann@good.example;Valid;0;;",
      "Nobody;;;;;",
      `Bob;bob@bad.example;${LISTED}`,
      `Bo;bob@bad.example;${LISTED}`,
      "Eve;eve@bad.example;Disposable;97;blacklist_mx;Its mail server is known for disposable mail.",
      "Sam;sam@silent.example;Could not tell;0;dns_indeterminate;Its name servers gave no usable answer. Worth another try.",
      "",
    ],
  ],
  [
    "a selection of entries gives all their rows, and no other",
    { source, rows: ROWS },
    [BOB],
    [HEADER, `Bob;bob@bad.example;${LISTED}`, `Bo;bob@bad.example;${LISTED}`, ""],
  ],
  [
    "without the file only the entries are written",
    { source: undefined, rows: ROWS },
    [ANN],
    ["Entry,verdict,confidence,signals,reason", "ann@good.example,Valid,0,,", ""],
  ],
] as const;

for (const [name, list, only, want] of files) {
  test(`CSV: ${name}`, () => {
    assert.deepEqual(listCsv(list, only).join("").split("\r\n"), want);
  });
}

const sought = [
  ["an empty filter keeps all", {}, ROWS],
  ["by verdict", { filter: "disposable" }, [BOB, EVE]],
  ["by reason", { reason: "Its mail server is known for disposable mail." }, [EVE]],
  ["by text, in any case", { text: " BAD.Example " }, [BOB, EVE]],
  ["by all of them", { filter: "disposable", text: "bob", reason: "elsewhere" }, []],
  ["an unknown mail server does not count as missing", { filter: "dns" }, []],
] as const;

for (const [name, what, want] of sought) {
  test(`rows: ${name}`, () => {
    assert.deepEqual(filterRows(ROWS, what), want);
  });
}

test("reasons are counted, most frequent first; entries without a reason are not", () => {
  assert.deepEqual(reasonsOf([ANN, EVE, BOB, BOB]), [
    ["On the lists of disposable domains.", 2],
    ["Its mail server is known for disposable mail.", 1],
  ]);
});
