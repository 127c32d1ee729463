import type { Migration } from "../../../src/store/migrations.ts";

const TABLES = ["jobs", "chunks", "retry_keys", "usage_days", "charges", "accounts", "api_keys"];

/** Versions after this one that the world can be upgraded to. */
export const LATER_MAX = 14;

/** What the next versions change under this one: each gives one table a column, and an index on it. */
export const LATER_MIGRATIONS: readonly Migration[] = Array.from(
  { length: LATER_MAX },
  (_, index) => {
    const table = TABLES[index % TABLES.length] ?? "jobs";
    const column = `later_${String(index)}`;
    const name = `later-${String(index)}`;
    const sql = `
      alter table ${table} add column ${column} integer not null default 0;
      create index ${table}_${column} on ${table} (${column});`;
    return { name, sql };
  },
);
