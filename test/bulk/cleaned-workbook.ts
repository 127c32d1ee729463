import { packFile } from "../../src/bulk/list-store.ts";
import type { CleanedOrder } from "../../src/bulk/cleaned-rows.ts";
import { ListReader } from "../../src/bulk/list-reader.ts";
import type { ListOrder } from "../../src/bulk/list-view.ts";

/** The cleaned workbook of a file whose entries are not checked. */
export async function cleaned(
  name: string,
  file: Uint8Array,
  wanted: Pick<CleanedOrder, "classes" | "columns">,
): Promise<Uint8Array> {
  const parts = await packFile([file]);
  const source = {
    part: (number: number) => Promise.resolve(parts[number]),
    results: () => Promise.resolve(undefined),
    fixes: () => Promise.resolve(new Set<string>()),
  };
  const options = { name };
  const order = {
    owner: "test",
    list: name,
    version: "1",
    options,
    octets: 1,
    sessions: [],
  } as const;
  const reader = new ListReader();
  const pieces: Uint8Array[] = [];
  for (let number = 0; ; number += 1) {
    const whole: ListOrder & CleanedOrder = { ...order, ...wanted, form: "workbook" } as const;
    const piece = await reader.piece({ ...whole, stream: "s", number }, source);
    if (piece === undefined) return Buffer.concat(pieces);
    pieces.push(piece as Uint8Array);
  }
}
