import type { AccountTables } from "./tables/accounts.ts";
import type { DashboardTables } from "./tables/dashboard.ts";
import type { UsageTables } from "./tables/usage.ts";

export interface SchemaMigrationRow {
  number: number;
  name: string;
  applied_at_ms: number;
}

/** Every table by its area: an area adds its interface here and its migration to `MIGRATIONS`. */
export interface Database extends AccountTables, DashboardTables, UsageTables {
  schema_migrations: SchemaMigrationRow;
}
