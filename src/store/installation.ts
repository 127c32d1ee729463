import type { Kysely } from "kysely";
import { changeRows, deleteRows, findRow, insertRow } from "./rows.ts";
import type { Database } from "./schema.ts";

/** `secret_key`: its fingerprint. `set_up`: until when the link works. `signup`: what an administrator switched. */
type InstallationFact = "secret_key" | "set_up" | "signup";

export async function readFact(
  db: Kysely<Database>,
  name: InstallationFact,
): Promise<string | undefined> {
  return (await findRow(db, "installation", { name }))?.value;
}

/** False when another value holds, or none: of several who drop it one succeeds. */
export async function dropFact(
  db: Kysely<Database>,
  name: InstallationFact,
  value: string,
): Promise<boolean> {
  return (await deleteRows(db, "installation", { name, value })) === 1;
}

/** The first to say something is right: gives what holds from then on, which may be another's. */
export async function agreeFact(
  db: Kysely<Database>,
  name: InstallationFact,
  value: string,
): Promise<string> {
  // Read first: a database that is read-only for now must not prevent the start.
  const known = await readFact(db, name);
  if (known !== undefined) return known;
  const inserting = db.insertInto("installation").values({ name, value });
  await inserting.onConflict((conflict) => conflict.column("name").doNothing()).execute();
  return (await readFact(db, name)) ?? value;
}

export async function replaceFact(
  db: Kysely<Database>,
  name: InstallationFact,
  value: string,
): Promise<void> {
  const replaced = await changeRows(db, "installation", { name }, { value });
  if (replaced === 0) await insertRow(db, "installation", { name, value });
}
