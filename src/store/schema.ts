import type { AccountTables } from "./tables/accounts.ts";
import type { BulkTables } from "./tables/bulk.ts";
import type { DashboardTables } from "./tables/dashboard.ts";
import type { DutyTables } from "./tables/duties.ts";
import type { InstallationTables } from "./tables/installation.ts";
import type { ListTables } from "./tables/lists.ts";
import type { OwnTrafficTables } from "./tables/own-traffic.ts";
import type { PolicyTables } from "./tables/policy.ts";
import type { RegistrationTables } from "./tables/registrations.ts";
import type { UsageTables } from "./tables/usage.ts";
import type { WebhookTables } from "./tables/webhooks.ts";

interface SchemaMigrationRow {
  number: number;
  name: string;
  applied_at_ms: number;
}

/** Every table by its area: an area adds its interface here and its tables to `migrate.ts`. */
export interface Database
  extends
    AccountTables,
    BulkTables,
    DashboardTables,
    UsageTables,
    WebhookTables,
    RegistrationTables,
    ListTables,
    OwnTrafficTables,
    DutyTables,
    InstallationTables,
    PolicyTables {
  schema_migrations: SchemaMigrationRow;
}
