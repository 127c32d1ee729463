import type { Kysely } from "kysely";
import type { Database } from "./schema.ts";

/** `secret_key`: a fingerprint of it, from which the key cannot be had. */
type InstallationFact = "secret_key";

export interface Installation {
  /** The first to say something is right: gives what holds from then on, which may be another's. */
  agree(fact: InstallationFact, value: string): Promise<string>;
  replace(fact: InstallationFact, value: string): Promise<void>;
}

export function sqlInstallation(db: Kysely<Database>): Installation {
  const read = (name: InstallationFact) =>
    db.selectFrom("installation").select("value").where("name", "=", name).executeTakeFirst();
  return {
    async agree(name, value) {
      // Read first: a database that is read-only for now must not prevent the start.
      const known = await read(name);
      if (known !== undefined) return known.value;
      await db
        .insertInto("installation")
        .values({ name, value })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .execute();
      return (await read(name))?.value ?? value;
    },
    async replace(name, value) {
      await db
        .insertInto("installation")
        .values({ name, value })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
        .execute();
    },
  };
}
