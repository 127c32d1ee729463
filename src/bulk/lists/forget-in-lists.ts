import { buffer } from "node:stream/consumers";
import { nextSlice } from "../../base/slices.ts";
import { type ListRow, padded } from "../../core/batch/list-table.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";
import type { SoughtAddress } from "../../core/batch/sought-address.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { kindOfFile } from "../files/file-text.ts";
import { outText } from "../files/out-text.ts";
import {
  type ListOptions,
  type ListPage,
  readListFile,
  type ReadShape,
} from "../files/list-file.ts";
import {
  type AccountList,
  changeStoredList,
  findList,
  forgetList,
  type ListStore,
  packFile,
  partOf,
  readingOf,
} from "./list-store.ts";
import { slicesOf } from "./list-view.ts";
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
      const cut = list && (await withoutAddress(await fileOf(deps, list), readingOf(list), sought));
      if (list === undefined || cut === undefined) break;
      if (!isLook && !(await replace(deps, list, cut, sought))) continue;
      count += cut.gone + cut.changed;
      break;
    }
  }
  return count;
}

async function fileOf(store: ListStore, list: AccountList): Promise<Buffer> {
  const part = (number: number) => partOf(store, list, number);
  return await buffer(slicesOf({ part }));
}

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
  return await changeStoredList(deps, list, change, await packFile([file]));
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

/**
 * A file of a list without the rows whose entry is the address, written anew as a table in its encoding, or as a workbook of
 * the sheet that is read. A file that cannot be read is gone. Undefined when it has nothing of the address.
 */
export async function withoutAddress(
  file: Buffer,
  options: ListOptions,
  sought: SoughtAddress,
): Promise<CutFile | undefined> {
  const texts = isWorkbook(file) ? [] : [file.toString("latin1"), wideText(file)];
  if (texts.length > 0 && !texts.some((text) => sought.mayBeIn(text))) return undefined;
  const read = await readAll(file, options).catch(faultOfTable);
  if (read === undefined) return { file, gone: 1, changed: 0, entries: 0 };
  const kept = read.rows.filter(({ entries }) => !entries.some((entry) => sought.isIn(entry)));
  const gone = read.rows.length - kept.length;
  const has = (text: string): boolean => sought.without(text) !== text;
  const changed = kept.filter(({ cells }) => cells.some(has)).length;
  if (gone + changed === 0 && !texts.some(has)) return undefined;
  return {
    file: await tableFile({ shape: read.shape, rows: kept }, texts.length > 0, sought),
    gone,
    changed: Math.max(changed, gone === 0 ? 1 : 0),
    entries: kept.reduce((sum, row) => sum + row.entries.length, 0),
  };
}

const wideText = (file: Buffer): string => file.toString("utf16le", file[0] === 0xfe ? 1 : 0);

async function readAll(file: Buffer, options: ListOptions): Promise<ListPage> {
  const rows: ListRow[] = [];
  let shape: ReadShape | undefined;
  for await (const page of readListFile(once(file), options)) {
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

async function* once<T>(value: T): AsyncGenerator<T> {
  yield await Promise.resolve(value);
}

async function tableFile(
  { shape, rows }: ListPage,
  isText: boolean,
  sought: SoughtAddress,
): Promise<Buffer> {
  const table = [shape.header, ...rows.map(({ cells }) => padded(cells, shape.header.length))];
  const clean = table.map((cells) => cells.map((cell) => sought.without(cell)));
  if (isText) {
    const { head, encode } = outText(shape, false);
    const quoted = (cell: string): string =>
      /["\r\n,;\t| ]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
    const { delimiter, lineEnd = "\r\n" } = shape;
    const line = (cells: readonly string[]): string => cells.map(quoted).join(delimiter) + lineEnd;
    return Buffer.from(encode(head + clean.map(line).join("")));
  }
  return await buffer(workbookOf(once(clean)));
}
