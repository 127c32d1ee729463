import { nextSlice } from "../../base/slices.ts";
import { type ListRow, padded } from "../../core/batch/list-table.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";
import type { SoughtAddress } from "../../core/batch/sought-address.ts";
import { unpackOctets } from "../../store/pack.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { kindOfFile } from "../files/file-text.ts";
import { jsonForm } from "../files/record-rows.ts";
import { type ListOptions, readListFile, type ReadShape } from "../files/list-file.ts";
import {
  type AccountList,
  findList,
  forgetList,
  type ListStore,
  packFile,
  partOf,
  replaceFile,
} from "./list-store.ts";
import { workbookOf } from "../files/write-workbook.ts";

interface ForgetListsDeps extends ListStore {
  readonly jobs: Pick<Jobs, "remove">;
  readonly clock: { readonly nowMs: () => number };
}

/** A list that is changed meanwhile is looked at again. */
const TRIES_MAX = 5;

/**
 * Takes the rows of an address out of the kept lists of every account; what is no entry of a row loses the address alone. A
 * list without other entries goes with its sessions. Each list is changed whole or not at all. Returns how many rows had it.
 */
export async function forgetInLists(
  deps: ForgetListsDeps,
  sought: SoughtAddress,
  isLook: boolean,
): Promise<number> {
  const { db } = deps;
  const rows = await db
    .selectFrom("account_lists")
    .select(["id", "account_id"])
    .where("expires_at_ms", ">", 0)
    .execute();
  let count = 0;
  for (const { id, account_id: accountId } of rows) {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const list = await findList(deps, accountId, id);
      const cut = list && (await withoutAddress(await fileOf(deps, list), optionsOf(list), sought));
      if (list === undefined || cut === undefined) break;
      if (!isLook && !(await replace(deps, list, cut, sought))) continue;
      count += cut.gone + cut.changed;
      break;
    }
  }
  return count;
}

async function fileOf(store: ListStore, list: AccountList): Promise<Buffer> {
  const octets: Buffer[] = [];
  for (let number = 0; ; number += 1) {
    const part = await partOf(store, list, number);
    if (part === undefined) return Buffer.concat(octets);
    octets.push(await unpackOctets(part));
  }
}

const optionsOf = ({ name, choice: { sheet, column } }: AccountList): ListOptions => ({
  name,
  ...(sheet !== undefined && { sheet }),
  ...(column !== undefined && { column }),
});

async function replace(
  deps: ForgetListsDeps,
  list: AccountList,
  { file, gone, entries }: CutFile,
  sought: SoughtAddress,
): Promise<boolean> {
  const { db, jobs, clock } = deps;
  if (entries === 0) {
    for (const session of list.runs) await jobs.remove(session, clock.nowMs());
    await forgetList(db, list.id);
    return true;
  }
  const { sheet, ...choice } = list.choice;
  const fixes = new Set([...list.fixes].filter((key) => !sought.isIn(key)));
  const change = { fixes, rows: list.rows - gone, ...(sheet !== undefined && { choice }) };
  return await replaceFile(deps, list, change, await packFile([file]));
}

const isWorkbook = (file: Uint8Array): boolean => kindOfFile(file.subarray(0, 16)) === "zip";

interface CutFile {
  readonly file: Buffer;
  /** Rows that are not in it any more. */
  readonly gone: number;
  /** Rows, or lines that are no rows, that the address alone left. */
  readonly changed: number;
  /** Entries of what is left. */
  readonly entries: number;
}

interface WholeList {
  readonly shape: ReadShape;
  readonly rows: readonly ListRow[];
}

/**
 * A file of a list without the rows whose entry is the address. Text keeps its other lines as they are; a workbook is
 * written anew with the sheet that is read. A file that cannot be read is gone. Undefined when it has nothing of the address.
 */
export async function withoutAddress(
  file: Buffer,
  options: ListOptions,
  sought: SoughtAddress,
): Promise<CutFile | undefined> {
  const isText = !isWorkbook(file);
  if (isText && !sought.mayBeIn(file.toString("latin1")) && !sought.mayBeIn(wideText(file)))
    return undefined;
  const read = await readAll(file, options).catch(faultOfTable);
  if (read === undefined) return { file, gone: 1, changed: 0, entries: 0 };
  const kept = read.rows.filter(({ entries }) => !entries.some((entry) => sought.isIn(entry)));
  const gone = read.rows.length - kept.length;
  const changed = kept.filter(({ cells }) =>
    cells.some((cell) => sought.without(cell) !== cell),
  ).length;
  const cut = isText ? cutText(file, read, sought) : undefined;
  if (gone + changed === 0 && (cut === undefined || cut.equals(file))) return undefined;
  const entries = kept.reduce((sum, row) => sum + row.entries.length, 0);
  const figures = { gone, changed: Math.max(changed, gone === 0 ? 1 : 0), entries };
  if (cut !== undefined && (entries === 0 || (await hasRows(cut, options, kept))))
    return { file: cut, ...figures };
  const table = { shape: read.shape, rows: kept };
  return { file: await tableFile(table, isText, sought), ...figures };
}

const wideText = (file: Buffer): string => file.toString("utf16le", file[0] === 0xfe ? 1 : 0);

async function readAll(file: Buffer, options: ListOptions): Promise<WholeList> {
  const rows: ListRow[] = [];
  let shape: ReadShape | undefined;
  for await (const page of readListFile(oneSlice(file), options)) {
    shape = page.shape;
    for (const row of page.rows) rows.push(row);
    await nextSlice();
  }
  if (shape === undefined) throw new TableFault("The file is empty.");
  return { shape, rows };
}

function faultOfTable(error: unknown): undefined {
  if (!(error instanceof TableFault)) throw error;
}

async function* oneSlice(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(file);
}

/** Whether a changed file is read as these rows. */
async function hasRows(
  file: Buffer,
  options: ListOptions,
  rows: readonly ListRow[],
): Promise<boolean> {
  const read = await readAll(file, options).catch(faultOfTable);
  const entriesIn = (row: ListRow | undefined): string => JSON.stringify(row?.entries);
  return (
    read?.rows.length === rows.length &&
    rows.every((row, at) => entriesIn(row) === entriesIn(read.rows[at]))
  );
}

/** Text in which each character is an octet, or two of UTF-16. */
interface RawText {
  readonly text: string;
  readonly written: (form: string) => string;
  readonly octets: (text: string) => Buffer;
}

function rawText(file: Buffer, encoding: string): RawText {
  const asIs = (form: string): string => form;
  if (encoding === "utf-16le") {
    const octets = (text: string): Buffer => Buffer.from(text, "utf16le");
    return { text: file.toString("utf16le"), written: asIs, octets };
  }
  if (encoding === "utf-16be") {
    const octets = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();
    const even = file.subarray(0, file.length - (file.length % 2));
    return { text: Buffer.from(even).swap16().toString("utf16le"), written: asIs, octets };
  }
  const written = (form: string): string => Buffer.from(form).toString("latin1");
  const octets = (text: string): Buffer => Buffer.from(text, "latin1");
  return { text: file.toString("latin1"), written, octets };
}

function cutText(file: Buffer, { shape, rows }: WholeList, sought: SoughtAddress): Buffer {
  const { text, written, octets } = rawText(file, shape.encoding);
  const isJson = jsonForm(text.replace(/^(?:\u00ef\u00bb\u00bf|\ufeff)/, "")) !== undefined;
  const left = isJson
    ? jsonText({ shape, rows }, sought)
    : octets(sought.without(cutLines(text, { shape, rows }, sought), written));
  return typeof left === "string" ? Buffer.from(left) : left;
}

/** Lines from the beginning of a row to that of the next are the row's; in a list each line may hold several. */
function cutLines(text: string, { shape, rows }: WholeList, sought: SoughtAddress): string {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const isList = shape.form === "list";
  for (let at = 0; at < rows.length;) {
    const line = rows[at]?.line ?? 1;
    let end = at;
    while (rows[end]?.line === line) end += 1;
    const its = rows.slice(at, end);
    const kept = its.filter(({ entries }) => !entries.some((entry) => sought.isIn(entry)));
    if (kept.length < its.length) {
      const before = lines[line - 1] ?? "";
      const cells = kept.map(({ cells: [cell = ""] }) => cell).join(", ");
      const next = isList ? line + 1 : (rows[end]?.line ?? lines.length + 1);
      lines.fill("", line - 1, next - 1);
      if (kept.length > 0) lines[line - 1] = cells + (/[\r\n]+$/.exec(before)?.[0] ?? "");
    }
    at = end;
  }
  return lines.join("");
}

function jsonText({ shape, rows }: WholeList, sought: SoughtAddress): string {
  const kept = rows.filter(({ entries }) => !entries.some((entry) => sought.isIn(entry)));
  const values = kept.map(
    ({ object, cells }) =>
      object ?? JSON.stringify(shape.form === "objects" ? (cells[shape.at] ?? "") : cells),
  );
  const head = shape.form === "objects" ? [] : [JSON.stringify(shape.header)];
  return `[\n${sought.without([...head, ...values].join(",\n"))}\n]\n`;
}

async function tableFile(
  { shape, rows }: WholeList,
  isText: boolean,
  sought: SoughtAddress,
): Promise<Buffer> {
  const { header, delimiter } = shape;
  const clean = rows.map(({ cells }) =>
    padded(cells, header.length).map((cell) => sought.without(cell)),
  );
  const table = [header, ...clean];
  if (isText) {
    const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
    const line = (cells: readonly string[]): string => cells.map(quoted).join(delimiter);
    return Buffer.from(`${table.map(line).join("\r\n")}\r\n`);
  }
  const octets: Buffer[] = [];
  const pages = (async function* () {
    yield await Promise.resolve(table);
  })();
  for await (const piece of workbookOf(pages)) octets.push(piece as Buffer);
  return Buffer.concat(octets);
}
