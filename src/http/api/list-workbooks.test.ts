import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { folder } from "../../../test/bulk/bulk-folder.ts";
import { bulkServer, sessionIn } from "../../../test/bulk/bulk-http.ts";
import { OWNER, upload } from "../../../test/bulk/upload.ts";
import { Workbook } from "../../bulk/files/workbook.ts";
import { workbookOf } from "../../bulk/files/write-workbook.ts";
import { CsvReader } from "../../core/batch/csv-reader.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";

type Cells = readonly (readonly string[])[];

/** The rows of a sheet, and the names of all sheets. */
async function read(octets: Uint8Array, sheet = 0): Promise<readonly [Cells, readonly string[]]> {
  const workbook = await Workbook.open(Buffer.from(octets));
  const rows: (readonly string[])[] = [];
  const chosen = workbook.sheets[sheet];
  assert.ok(chosen !== undefined);
  for await (const some of workbook.rows(chosen)) rows.push(...some.map(({ cells }) => cells));
  return [rows, workbook.sheets.map(({ name }) => name)];
}

const NOTES = ["+49 171 1234567", "-5", "@eva", "=1+1", "@SUM(A1)", "a & <b> \u0001 _x0041_", ""];
const ODD = /^(?:=|@SUM)/;
const FILE = ["Mail;Note", ...NOTES.map((note, at) => `u${String(at)}@good.test;${note}`)].join(
  "\n",
);

const unguarded = (cells: Cells): Cells =>
  cells.map((row) => row.map((cell) => cell.replace(/^'(?=[=@])/, "")));

/** Spreadsheets write TRUE, and no blank cells at the end of a row. */
const comparable = (cells: Cells): Cells =>
  cells.map((row) =>
    row
      .map((cell) => (/^(?:TRUE|FALSE)$/.test(cell) ? cell.toLowerCase() : cell))
      .slice(0, row.findLastIndex((cell) => cell !== "") + 1),
  );

const trimmed = (cells: Cells): Cells =>
  cells.map(([mail = "", note = "", status = ""]) => [mail, note, status]);

const WANT = [
  ["Mail", "Note", "status"],
  ...NOTES.map((note, at) => [`u${String(at)}@good.test`, note, "valid"]),
];

test("a batch as workbook holds what its CSV holds, and no formula", async (t) => {
  const server = await bulkServer(t);
  const view = `/api/view/${sessionIn(await upload(server, FILE))}`;
  const octets = new Uint8Array(await (await server.open(`${view}/xlsx`, OWNER)).arrayBuffer());
  const [cells] = await read(octets);
  const csv = new CsvReader(";");
  const { body } = await server.ask(`${view}/csv`, OWNER);
  const lines = [...csv.push(body), ...csv.end()].map((row) => row.cells);
  for (const [at, note] of NOTES.entries())
    assert.equal(
      lines[at + 1]?.[1],
      ODD.test(note) ? `'${note}` : note,
      "only formulas are guarded",
    );
  assert.deepEqual(comparable(cells), comparable(unguarded(lines)));
  assert.deepEqual(trimmed(cells), WANT);
});

test("the command writes the same workbook", async (t) => {
  const { path, put, run } = await folder(t);
  const file = await put("in.csv", FILE);
  for (const [name, words] of [
    ["named.xlsx", []],
    ["asked.xlsx", ["--format", "xlsx"]],
  ] as const) {
    const { code, err } = await run([file, "--out", path(name), ...words]);
    assert.equal(code, 0, err);
    assert.deepEqual(trimmed((await read(await readFile(path(name))))[0]), WANT);
  }
});

test("rows beyond what a sheet holds are on further sheets", async () => {
  const rows = Array.from({ length: 7 }, (_, at) => [`u${String(at)}@good.test`, at, true]);
  async function* pages() {
    yield await Promise.resolve([["Mail", "Number", "Is"], ...rows.slice(0, 4)]);
    yield rows.slice(4);
  }
  const octets = await buffer(workbookOf(pages(), 3));
  const shown = rows.map(([mail, number]) => [mail, String(number), "TRUE"]);
  const [first, names] = await read(octets);
  assert.deepEqual(names, ["Sheet1", "Sheet2", "Sheet3"]);
  assert.deepEqual(first, [["Mail", "Number", "Is"], ...shown.slice(0, 2)]);
  for (const [sheet, from] of [
    [1, 2],
    [2, 5],
  ] as const) {
    const [more] = await read(octets, sheet);
    assert.deepEqual(more, shown.slice(from, from + 3));
  }
});

test("a source of rows that fails ends the workbook", async () => {
  async function* pages() {
    yield await Promise.resolve([["a"]]);
    throw new TableFault("the source is away");
  }
  await assert.rejects(buffer(workbookOf(pages())), /the source is away/);
});
