import { strict as assert } from "node:assert";
import { test } from "node:test";
import * as refusals from "../../../src/base/refusals.ts";
import { TABLES, withTable } from "./document-tables.ts";
import { readDocument, tableUnder } from "../docs-tables.ts";
import { SHOWN } from "./shown-refusals.ts";

for (const table of TABLES) {
  test(`${table.page} has the table ${table.head.join(", ")} as the code has it (npm run docs)`, () => {
    const text = readDocument(table.page);
    assert.equal(withTable(text, table), text);
  });
}

test("two refusals never share a code or a sentence", () => {
  const all = Object.values(SHOWN);
  assert.equal(new Set(all.map(({ code }) => code)).size, all.length);
  assert.equal(new Set(all.map(({ message }) => message)).size, all.length);
});

test("every refusal and every alert leads to what the reader can do", () => {
  const [refused, alerts] = [
    tableUnder(readDocument("docs/errors.md"), "## Refusals"),
    tableUnder(readDocument("docs/operations/monitoring.md"), "## Alerts"),
  ];
  for (const [code, , , , remedy = ""] of refused) {
    assert.match(remedy, /^\[[\w -]+\]\(operations\/troubleshooting\.md#[\w-]+\)$/, code);
  }
  for (const [alert, remedy] of alerts) assert.notEqual(remedy, "", alert);
});

test("docs/errors.md has the message of faults", () => {
  assert.ok(readDocument("docs/errors.md").includes(`500 \`${refusals.INTERNAL_ERROR_MESSAGE}\``));
});
