import type { QueryExecutorProvider, SchemaModule } from "kysely";

/** What a migration may use: the schema builder, and raw `sql` for moving rows. */
export interface MigrationDb extends QueryExecutorProvider {
  readonly schema: SchemaModule;
}

/**
 * One step of the schema. It runs unchanged on SQLite and PostgreSQL, inside the transaction of the whole
 * move: `bigint` for counts and milliseconds, 0 or 1 for booleans, text ids, no auto-increment, no JSON
 * type. A released step is never edited; the next one corrects it.
 */
export interface Migration {
  /** As the file is called: "0001-accounts". */
  readonly name: string;
  up(db: MigrationDb): Promise<void>;
}
