import { sql } from "kysely";
import type { Migration } from "./migration.ts";

export const progressMigration: Migration = {
  name: "0013-progress",
  async up(db) {
    await db.schema.alterTable("chunks").addColumn("answered", "text").execute();
    const index = db.schema.createIndex("chunks_answered").on("chunks").column("session");
    await index.where(sql.ref("answered"), "is not", null).execute();
  },
};
