import type { Kysely } from "kysely";
import { changeRows, findRow, insertRow } from "./rows.ts";
import type { Database } from "./schema.ts";

/** `secret_key`: a fingerprint of it, from which the key cannot be had. */
type InstallationFact = "secret_key";

/** The first to say something is right: gives what holds from then on, which may be another's. */
export async function agreeFact(
  db: Kysely<Database>,
  name: InstallationFact,
  value: string,
): Promise<string> {
  // Read first: a database that is read-only for now must not prevent the start.
  const known = await findRow(db, "installation", { name });
  if (known !== undefined) return known.value;
  const inserting = db.insertInto("installation").values({ name, value });
  await inserting.onConflict((conflict) => conflict.column("name").doNothing()).execute();
  return (await findRow(db, "installation", { name }))?.value ?? value;
}

export async function replaceFact(
  db: Kysely<Database>,
  name: InstallationFact,
  value: string,
): Promise<void> {
  const replaced = await changeRows(db, "installation", { name }, { value });
  if (replaced === 0) await insertRow(db, "installation", { name, value });
}
