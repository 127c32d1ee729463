import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type Resource, RESOURCES } from "../../src/base/resources.ts";
import { readDocument, tableUnder } from "./docs-tables.ts";

const amount = (count: number): string => count.toLocaleString("en-US");

function row(name: string, resource: Resource): readonly string[] {
  const { unit, total, perOwner, atOncePerOwner, queue, queuePerOwner } = resource;
  const atOnce = atOncePerOwner === undefined ? "" : ` (${String(atOncePerOwner)} at once)`;
  const waits =
    queue + queuePerOwner === 0 ? "none" : `${amount(queue)}, ${amount(queuePerOwner)} an owner`;
  return [`\`${name}\``, `${amount(total)} ${unit}`, `${amount(perOwner)}${atOnce}`, waits];
}

test("docs/operations/sizing.md lists every shared resource as the code bounds it", () => {
  const rows = tableUnder(readDocument("docs/operations/sizing.md"), "## Shared resources");
  const want = Object.entries(RESOURCES).map(([name, resource]) => row(name, resource));
  assert.deepEqual(
    rows.map((cells) => cells.slice(0, -1)),
    want,
  );
});

test("only of one resource can one owner have all", () => {
  const alone = Object.entries(RESOURCES)
    .filter(([, { total, perOwner }]) => perOwner >= total)
    .map(([name]) => name);
  // One body at a time; the next owner's turn comes before the second of the same owner.
  assert.deepEqual(alone, ["decoding"]);
});
