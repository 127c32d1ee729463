import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleaned, cleanedText, readRows } from "../bulk/cleaned-workbook.ts";
import { HOSTILE_LISTS, plainWorkbook } from "../bulk/hostile-lists.ts";
import { Yardstick } from "../bulk/thread-time.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { Refusal } from "../../src/base/refusals.ts";

const root = new URL("../../../", import.meta.url);
const pathOf = (path: string): string => fileURLToPath(new URL(path, root));

/** Those that are refused, whatever is wanted of them. */
const REFUSED = /^(?:populate-pass|formula-nocache|excelize-pass)/;

const WANTED = { classes: ["unchecked"], columns: "verdict" } as const;

test("lists of many programs come back as they were, cell by cell", async (t) => {
  const folder = temporaryFolder();
  const python = spawn("/usr/bin/python3", [pathOf("test/suites/workbooks/compare.py"), folder], {
    env: { ...process.env, PYTHONPATH: pathOf("test/compat-clients/python-packages") },
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => python.kill());
  const lines = createInterface(python.stdout)[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, "made");
  for (const fixtures of ["", "programs/"])
    for (const name of readdirSync(new URL(`test/fixtures/lists/${fixtures}`, root)))
      if (/\.xls[xm]$/.test(name) && !REFUSED.test(name))
        cpSync(new URL(`test/fixtures/lists/${fixtures}${name}`, root), `${folder}/${name}`);
  const names = readdirSync(folder);
  mkdirSync(`${folder}/out`);
  const out: Record<string, readonly [sheetOrDelimiter: string, rows: readonly number[]]> = {};
  for (const name of names) {
    const file = readFileSync(`${folder}/${name}`);
    const { shape, rows } = await readRows(name, file);
    const write = shape.sheet === undefined ? cleanedText : cleaned;
    writeFileSync(`${folder}/out/${name}`, await write(name, file, WANTED));
    const numbers = rows.map(({ line }, at) => (shape.sheet === undefined ? at : line));
    const gone = numbers.filter((_, at) => rows[at]?.class !== "unchecked");
    out[name] = [shape.sheet ?? shape.delimiter, gone];
  }
  writeFileSync(`${folder}/out.json`, JSON.stringify(out));
  assert.ok(names.length >= 70, String(names.length));
  python.stdin.end("cleaned\n");
  const differences: string[] = [];
  for await (const line of { [Symbol.asyncIterator]: () => lines }) differences.push(line);
  if (python.exitCode === null) await once(python, "exit");
  assert.equal(python.exitCode, 0);
  assert.deepEqual(JSON.parse(differences.join("")), {});
});

const writing =
  (file: Uint8Array) =>
  async (begin: () => void): Promise<void> => {
    try {
      await cleaned("a.xlsx", file, { classes: ["unchecked"], columns: "all" }, begin);
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error));
    }
  };

const UNPACKED_OCTETS = 12_500_000;

const plain = new Yardstick(writing(plainWorkbook(UNPACKED_OCTETS)));
/** The slowest takes 1.8 times as long as one of as many octets with an address in each row. */
const TIMES_MOST = 3;

for (const [kind, make] of HOSTILE_LISTS.filter(([name]) => name.startsWith("a workbook"))) {
  test(`a hostile workbook is written as fast as a plain one, or refused: ${kind}`, async () => {
    const file = Buffer.from(make(UNPACKED_OCTETS)).subarray(0, 5_000_000);
    const times = await plain.times(TIMES_MOST, writing(file));
    assert.ok(times <= TIMES_MOST, `${times.toFixed(2)} times as long`);
  });
}
