import { packFile } from "../../src/bulk/lists/list-store.ts";
import type { CleanedOrder } from "../../src/bulk/lists/cleaned-rows.ts";
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
): Promise<Uint8Array> {
  const [order, source] = await listOf(name, file);
  const reader = new ListReader();
  const pieces: Uint8Array[] = [];
  for (let number = 0; ; number += 1) {
    const whole = { ...order, ...wanted, form: "workbook", stream: "s", number } as const;
    const piece = await reader.piece(whole, source);
    if (piece === undefined) return Buffer.concat(pieces);
    pieces.push(piece as Uint8Array);
  }
}

/** The sheet of a workbook with the list, and its rows. */
export async function readRows(
  name: string,
  file: Uint8Array,
): Promise<{ readonly sheet: string; readonly rows: readonly ViewRow[] }> {
  const [order, source] = await listOf(name, file);
  const reader = new ListReader();
  const query = { class: "", why: "", text: "", from: 0, count: 100_000 } as const;
  const { rows } = await reader.rows({ ...order, query }, source);
  const { shape } = await reader.facts(order, source);
  return { sheet: shape.sheet ?? "", rows };
}
