import { sql } from "kysely";
import { hasRivals } from "../engine/transaction.ts";
import type { Migration } from "./migration.ts";

/**
 * Locks replace the table of elections. `counters`: requests and units of each owner, counted by all servers together. It is unlogged:
 * after a crash of the server it is empty, and its rows are made anew from `usage_days`. One process alone has none.
 */
export const countersMigration: Migration = {
  name: "0016-counters",
  async up(db) {
    await db.schema.dropTable("elections").execute();
    if (!hasRivals(db)) return;
    await sql`
      create unlogged table counters (
        owner text primary key,
        seen_ms bigint not null,
        opened_ms bigint not null,
        used integer not null,
        day integer not null,
        in_day bigint not null,
        in_month bigint not null,
        passed integer not null,
        taken integer not null,
        times integer not null,
        rate integer,
        units integer,
        daily bigint,
        monthly bigint
      ) with (fillfactor = 50)`.execute(db);
  },
};
