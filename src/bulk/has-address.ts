import type { Kysely } from "kysely";
import { unpackOctets, unpackText } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import { readListFile } from "./list-file.ts";
import { type ListStore, partOf } from "./list-store.ts";

/** Whether the file of an account's list has the address in any case, in text or in a workbook. */
export async function listHasAddress(
  store: ListStore,
  id: string,
  address: string,
): Promise<boolean> {
  const octets: Buffer[] = [];
  for (let number = 0; ; number += 1) {
    const part = await partOf(store, { id }, number);
    if (part === undefined) break;
    octets.push(await unpackOctets(part));
  }
  const file = Buffer.concat(octets);
  if (!file.toString("latin1", 0, 2).startsWith("PK")) {
    return (["utf8", "utf16le"] as const).some((encoding) =>
      file.toString(encoding).toLowerCase().includes(address),
    );
  }
  for await (const { rows } of readListFile(oneSlice(file), {})) {
    if (rows.some(({ cells }) => cells.join("\n").toLowerCase().includes(address))) return true;
  }
  return false;
}

async function* oneSlice(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(file);
}

export async function sessionHasAddress(
  db: Kysely<Database>,
  session: string,
  address: string,
): Promise<boolean> {
  const chunks = db.selectFrom("chunks").select("number").where("session", "=", session);
  for (const { number } of await chunks.execute()) {
    const chunk = await db
      .selectFrom("chunks")
      .select("content")
      .where("session", "=", session)
      .where("number", "=", number)
      .executeTakeFirst();
    if (chunk === undefined) continue;
    if ((await unpackText(chunk.content)).toLowerCase().includes(address)) return true;
  }
  return false;
}
