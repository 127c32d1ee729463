import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ListRow } from "../../src/dashboard/api/shapes.ts";
import { cleanedCsv, listCsv } from "../../src/dashboard/lists/list-csv.ts";
import { columnOf, readTable } from "../../src/dashboard/lists/list-file.ts";
import { filterRows, reasonsOf } from "../../src/dashboard/words/list-row.ts";

const row = (entry: string, fate: ListRow["fate"], ...signals: ListRow["signals"]): ListRow => ({
  entry,
  fate,
  confidence: fate === "disposable" ? 97 : 0,
  signals,
  code: "",
  meant: "",
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

const HEADER = "name;mail;verdict;confidence;signals;reason;suggestion";
const LISTED = "Disposable;97;blacklist_exact;On the lists of disposable domains.;";

const files = [
  [
    "every row of the file has its verdict, those without an entry an empty one",
    { source, rows: ROWS },
    undefined,
    [
      HEADER,
      "Ann;ann@good.example;Good;0;;;",
      "Nobody;;;;;;",
      `Bob;bob@bad.example;${LISTED}`,
      `Bo;bob@bad.example;${LISTED}`,
      "Eve;eve@bad.example;Disposable;97;blacklist_mx;Its mail server is known for disposable mail.;",
      "Sam;sam@silent.example;Could not tell;0;dns_indeterminate;Its name servers gave no usable answer. Worth another try.;",
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
    ["Entry,verdict,confidence,signals,reason,suggestion", "ann@good.example,Good,0,,,", ""],
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

const TYPO = { ...row("tom@gmial.com", "valid", "typo_domain"), meant: "tom@gmail.com" };
const slips = readTable(
  "name,mail\nAnn,ann@good.example\nTom,tom@gmial.com\nTom,tom@gmial.com\nBob,bob@bad.example\n",
);
const SLIPS = {
  source: { table: slips, column: columnOf(slips, 1), at: 1 },
  rows: [ANN, TYPO, BOB],
};
const ALL = { good: true, fixed: true, unsure: true, rest: true };
const MISSPELT = "The domain looks like a misspelling.";

const cleaned = [
  [
    "a fixed entry is written as suggested, with its original, once",
    { ...ALL, rest: false },
    new Set([TYPO.entry]),
    ["Ann,ann@good.example,Good,,", `Tom,tom@gmail.com,Misspelt,${MISSPELT},tom@gmial.com`],
  ],
  [
    "an entry that is not fixed is among the rest",
    { ...ALL, good: false },
    new Set<string>(),
    [
      `Tom,tom@gmial.com,Misspelt,${MISSPELT},`,
      "Bob,bob@bad.example,Disposable,On the lists of disposable domains.,",
    ],
  ],
] as const;

for (const [name, choice, fixes, want] of cleaned) {
  test(`a cleaned list: ${name}`, () => {
    const lines = cleanedCsv(SLIPS, choice, fixes).join("").split("\r\n");
    assert.deepEqual(lines, ["name,mail,verdict,reason,original", ...want, ""]);
  });
}
