import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readDocument, tableUnder } from "./docs-tables.ts";

const BENCH = fileURLToPath(new URL("../../bench/evidence/mail-servers.js", import.meta.url));

/** Recall and precision by own traffic and listed names, of one table of the bench. */
function measured(table = ""): ReadonlyMap<string, readonly string[]> {
  const rows = table.matchAll(/^\| (none|1 in \d+) \| (\d+) \| ([\d.]+) % \| ([\d.]+) %/gm);
  return new Map(
    [...rows].map(([, traffic = "", listed = "", recall = "", precision = ""]) => [
      `${traffic}, ${listed}`,
      [recall, precision],
    ]),
  );
}

const rounded = (percent: string | undefined): string => String(Number(Number(percent).toFixed(1)));

test("docs/measurements.md says what the bench of mail servers measures", () => {
  const { stdout } = spawnSync(process.execPath, [BENCH], { encoding: "utf8" });
  const [, few, many] = stdout.split(/at most (?:26|60) guests/).map((each) => measured(each));
  assert.ok(few !== undefined && many !== undefined);
  const precision = (from: ReturnType<typeof measured>, listed: string): string =>
    ["none", "1 in 31", "1 in 5"]
      .map((traffic) => rounded(from.get(`${traffic}, ${listed}`)?.[1]))
      .join(" / ");
  const rows = tableUnder(readDocument("docs/measurements.md"), "## Detection").slice(-2);
  for (const [cell = "", ...cells] of rows) {
    const listed = cell.split(" ")[0] ?? "";
    const recall = rounded(few.get(`none, ${listed}`)?.[0]);
    const want: readonly string[] = [recall, precision(few, listed), precision(many, listed)];
    assert.deepEqual(
      cells,
      want.map((each) => `${each} %`),
      listed,
    );
  }
});
