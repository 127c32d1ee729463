import { addRow, deleteRows, findRow, putRow } from "./rows.ts";
import type { Db } from "./schema.ts";

/** `secret_key`: its fingerprint. `set_up`: until when the link works. `signup`: what an administrator switched. */
type InstallationFact = "secret_key" | "set_up" | "signup";

export async function readFact(db: Db, name: InstallationFact): Promise<string | undefined> {
  return (await findRow(db, "installation", { name }))?.value;
}

/** False when another value holds, or none: of several who drop it one succeeds. */
export async function dropFact(db: Db, name: InstallationFact, value: string): Promise<boolean> {
  return (await deleteRows(db, "installation", { name, value })) === 1;
}

/** The first to say something is right: gives what holds from then on, which may be another's. */
export async function agreeFact(db: Db, name: InstallationFact, value: string): Promise<string> {
  // Read first: a database that is read-only for now must not prevent the start.
  const known = await readFact(db, name);
  if (known !== undefined) return known;
  await addRow(db, "installation", { name, value });
  return (await readFact(db, name)) ?? value;
}

export const replaceFact = (db: Db, name: InstallationFact, value: string): Promise<void> =>
  putRow(db, "installation", { name }, { value });
