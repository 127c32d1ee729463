import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleaned, readRows } from "../bulk/cleaned-workbook.ts";
import { HOSTILE_LISTS } from "../bulk/hostile-lists.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { Refusal } from "../../src/base/refusals.ts";

const root = new URL("../../../", import.meta.url);
const PACKAGES = fileURLToPath(new URL("test/compat-clients/python-packages", root));

const python = (script: string, folder: string): string =>
  execFileSync(
    "/usr/bin/python3",
    [fileURLToPath(new URL(`test/suites/workbooks/${script}`, root)), folder],
    {
      env: { ...process.env, PYTHONPATH: PACKAGES },
      encoding: "utf8",
    },
  );

/** Those that are refused, whatever is wanted of them. */
const REFUSED = /^(?:populate-pass|formula-nocache|excelize-pass)/;

test("workbooks of many programs come back as they were, cell by cell", async () => {
  const folder = temporaryFolder();
  python("make.py", folder);
  for (const fixtures of ["", "programs/"])
    for (const name of readdirSync(new URL(`test/fixtures/lists/${fixtures}`, root)))
      if (/\.xls[xm]$/.test(name) && !REFUSED.test(name))
        cpSync(new URL(`test/fixtures/lists/${fixtures}${name}`, root), `${folder}/${name}`);
  mkdirSync(`${folder}/out`);
  const out: Record<string, readonly [sheet: string, lines: readonly number[]]> = {};
  for (const name of readdirSync(folder).filter((each) => /\.xls[xm]$/.test(each))) {
    const file = readFileSync(`${folder}/${name}`);
    const { sheet, rows } = await readRows(name, file);
    const kept = await cleaned(name, file, { classes: ["unchecked"], columns: "verdict" });
    writeFileSync(`${folder}/out/${name}`, kept);
    out[name] = [sheet, rows.flatMap((row) => (row.class === "unchecked" ? [] : row.line))];
  }
  writeFileSync(`${folder}/out.json`, JSON.stringify(out));
  const count = Object.keys(out).length;
  assert.ok(count >= 60, String(count));
  assert.deepEqual(JSON.parse(python("compare.py", folder)), {});
});

/** As much as the reading thread gives one piece of a cleaned file. */
const LIMIT_MS = 10_000;

for (const [kind, make] of HOSTILE_LISTS.filter(([name]) => name.startsWith("a workbook"))) {
  test(`a hostile workbook is written or refused in the time of a thread: ${kind}`, async () => {
    const file = Buffer.from(make(100_000_000)).subarray(0, 20_000_000);
    const start = process.cpuUsage();
    try {
      await cleaned("a.xlsx", file, { classes: ["unchecked"], columns: "all" });
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error));
    }
    const { user, system } = process.cpuUsage(start);
    assert.ok((user + system) / 1_000 < LIMIT_MS, `${String((user + system) / 1_000)} ms`);
  });
}
