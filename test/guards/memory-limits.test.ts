import { strict as assert } from "node:assert";
import { test } from "node:test";
import { WORK_BYTES } from "../../src/main/doctor/diagnose.ts";
import { readConfig } from "../../src/main/settings/config.ts";
import { type Resource, RESOURCES } from "../../src/base/resources.ts";
import { readText, readUnit, readYaml } from "./deploy/deploy-files.ts";
import { readDocument, tableUnder } from "./docs-tables.ts";

const MIB = 1_048_576;

/** Part of the sum that is left as room for what the collector has not freed yet. */
const ROOM = 1.5;

const resources: readonly Resource[] = Object.values(RESOURCES);
const bodies = resources
  .filter(({ unit }) => unit === "octets")
  .reduce((octets, { total }) => octets + total, 0);
const parts = [WORK_BYTES / MIB, readConfig({}).cacheMb, bodies / MIB];
const sum = parts.reduce((all, part) => all + part, 0);

test("docs/measurements.md adds up what a process may hold", () => {
  const rows = tableUnder(readDocument("docs/measurements.md"), "### The limit");
  const want = [...parts, sum, Math.ceil(sum * ROOM)];
  assert.deepEqual(
    rows.map((cells) => Number(cells[1])),
    want,
  );
});

/** "1g", "1Gi" or "1G" in MiB. */
function mebibytes(text = ""): number {
  const [, count, unit = ""] = /^(\d+)([gm])i?$/i.exec(text) ?? [];
  return Number(count) * (unit.toLowerCase() === "g" ? 1_024 : 1);
}

interface Limited {
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string } } };
}

const { services } = readYaml<{ readonly services: Readonly<Record<string, Limited>> }>(
  "deploy/compose.yaml",
);
const unitLimit = (file: string): string | undefined =>
  readUnit(readText(`deploy/systemd/${file}`)).get("MemoryMax")?.[0];

for (const [name, limit] of [
  ["compose: api-1", services["api-1"]?.deploy?.resources.limits.memory],
  ["compose: api-2", services["api-2"]?.deploy?.resources.limits.memory],
  ["compose: worker", services["worker"]?.deploy?.resources.limits.memory],
  ["unit: gatepost", unitLimit("gatepost.service")],
  ["unit: gatepost-worker@", unitLimit("gatepost-worker@.service")],
] as const) {
  test(`${name} may use what a process may hold, and half of it again`, () => {
    assert.ok(
      mebibytes(limit) >= sum * ROOM,
      `${String(limit)} is below ${String(sum * ROOM)} MiB`,
    );
  });
}

test("only of the reading threads can one owner have all, for one piece of work", () => {
  const alone = Object.entries(RESOURCES)
    .filter(([, { total, perOwner }]) => perOwner >= total)
    .map(([name]) => name);
  assert.deepEqual(alone, ["texts", "files", "lists", "reading"]);
});
