import { packFile } from "../../src/bulk/lists/list-store.ts";
import type { ReadShape } from "../../src/bulk/files/list-file.ts";
import { outText } from "../../src/bulk/files/out-text.ts";
import type { CleanedOrder, CleanedRows } from "../../src/bulk/lists/cleaned-rows.ts";
import { ListReader } from "../../src/bulk/lists/list-reader.ts";
import type { ListOrder, ListSource, ViewRow } from "../../src/bulk/lists/list-view.ts";

type Listed = readonly [order: ListOrder, source: ListSource];

async function listOf(name: string, file: Uint8Array): Promise<Listed> {
  const parts = await packFile([file]);
  const source = {
    part: (number: number) => Promise.resolve(parts[number]),
    results: () => Promise.resolve(undefined),
    fixes: () => Promise.resolve(new Set<string>()),
  };
  const options = { name };
  return [{ owner: "test", list: name, version: "1", options, octets: 1, sessions: [] }, source];
}

/** The cleaned workbook of a file whose entries are not checked. */
export async function cleaned(
  name: string,
  file: Uint8Array,
  wanted: Pick<CleanedOrder, "classes" | "columns">,
  beforeWriting?: () => void,
): Promise<Uint8Array> {
  const [order, source] = await listOf(name, file);
  const reader = new ListReader();
  await reader.facts(order, source);
  beforeWriting?.();
  const pieces: Uint8Array[] = [];
  for (let number = 0; ; number += 1) {
    const whole = { ...order, ...wanted, form: "workbook", stream: "s", number } as const;
    const piece = await reader.piece(whole, source);
    if (piece === undefined) return Buffer.concat(pieces);
    pieces.push(piece as Uint8Array);
  }
}

/** The cleaned text of such a file, as the dashboard gives it. */
export async function cleanedText(
  name: string,
  file: Uint8Array,
  wanted: Pick<CleanedOrder, "classes" | "columns">,
): Promise<Uint8Array> {
  const [order, source] = await listOf(name, file);
  const reader = new ListReader();
  const { shape } = await reader.facts(order, source);
  const { head, encode, line } = outText(shape, false);
  let text = head;
  for (let number = 0; ; number += 1) {
    const whole = { ...order, ...wanted, form: "rows", stream: "s", number } as const;
    const rows = (await reader.piece(whole, source)) as CleanedRows | undefined;
    if (rows === undefined) return Buffer.from(encode(text));
    text += rows.map(line).join("");
  }
}

/** The shape of a file, and its rows. */
export async function readRows(
  name: string,
  file: Uint8Array,
): Promise<{ readonly shape: ReadShape; readonly rows: readonly ViewRow[] }> {
  const [order, source] = await listOf(name, file);
  const reader = new ListReader();
  const query = { class: "", why: "", text: "", from: 0, count: 100_000 } as const;
  const { rows } = await reader.rows({ ...order, query }, source);
  return { shape: (await reader.facts(order, source)).shape, rows };
}
