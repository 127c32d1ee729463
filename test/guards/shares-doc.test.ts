import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type Resource, RESOURCES } from "../../src/base/resources.ts";
import { readDocument, tableUnder } from "./docs-tables.ts";

const amount = (count: number): string => count.toLocaleString("en-US");

function row(name: string, resource: Resource): readonly string[] {
  const { unit, total, perOwner, queue, queuePerOwner } = resource;
  const waits =
    queue + queuePerOwner === 0 ? "none" : `${amount(queue)}, ${amount(queuePerOwner)} an owner`;
  return [`\`${name}\``, `${amount(total)} ${unit}`, amount(perOwner), waits];
}

test("docs/operations/sizing.md lists every shared resource as the code bounds it", () => {
  const rows = tableUnder(readDocument("docs/operations/sizing.md"), "## Shared resources");
  const want = Object.entries(RESOURCES).map(([name, resource]) => row(name, resource));
  assert.deepEqual(
    rows.map((cells) => cells.slice(0, -1)),
    want,
  );
});

test("only of the reading threads can one owner have all, for one piece of work", () => {
  const alone = Object.entries(RESOURCES)
    .filter(([, { total, perOwner }]) => perOwner >= total)
    .map(([name]) => name);
  assert.deepEqual(alone, ["texts", "files", "lists"]);
});
