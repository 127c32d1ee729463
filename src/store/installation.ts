import type { Kysely } from "kysely";
import type { Installation, InstallationFact } from "./installation-id.ts";
import type { Database } from "./schema.ts";

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
