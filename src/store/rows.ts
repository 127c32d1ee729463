import type { RawBuilder, SelectQueryBuilder } from "kysely";
import type { Database, Db } from "./schema.ts";

/** `text` inside a LIKE pattern that says `escape '\\'`, standing for itself. */
export const literally = (text: string): string =>
  text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);

export async function countRows<T extends keyof Database>(
  query: SelectQueryBuilder<Database, T, object>,
): Promise<number> {
  const counted = query.select(({ fn }) => fn.countAll().as("rows"));
  return Number((await counted.executeTakeFirstOrThrow()).rows);
}

type Match<Table extends keyof Database> = Readonly<Partial<Database[Table]>>;

/** The builder knows a query by the name of its table; here all tables are alike. */
const ANY = "accounts";

export async function findRow<Table extends keyof Database>(
  db: Db,
  table: Table,
  is: Match<Table>,
): Promise<Database[Table] | undefined> {
  const rows = db.selectFrom(table as typeof ANY).selectAll();
  const row = await rows.where((eb) => eb.and(is as object)).executeTakeFirst();
  return row as Database[Table] | undefined;
}

export async function insertRow<Table extends keyof Database>(
  db: Db,
  table: Table,
  row: Database[Table],
): Promise<void> {
  await db
    .insertInto(table as typeof ANY)
    .values(row as Database[typeof ANY])
    .execute();
}

/** Inserts the row with this key, or sets `columns` of the one that is there. */
export async function putRow<Table extends keyof Database>(
  db: Db,
  table: Table,
  key: Match<Table>,
  columns: Match<Table>,
): Promise<void> {
  const putting = db.insertInto(table as typeof ANY).values({ ...key, ...columns } as never);
  const names = Object.keys(key) as (keyof Database[typeof ANY])[];
  await putting
    .onConflict((conflict) => conflict.columns(names).doUpdateSet(columns as object))
    .execute();
}

/** False, and nothing is written, where a row with its key is there already. */
export async function addRow<Table extends keyof Database>(
  db: Db,
  table: Table,
  row: Database[Table],
): Promise<boolean> {
  const adding = db.insertInto(table as typeof ANY).values(row as Database[typeof ANY]);
  const added = await adding.onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
  return Number(added?.numInsertedOrUpdatedRows) === 1;
}

type Columns<Table extends keyof Database> = {
  readonly [Name in keyof Database[Table]]?: Database[Table][Name] | RawBuilder<unknown>;
};

export async function changeRows<Table extends keyof Database>(
  db: Db,
  table: Table,
  is: Match<Table>,
  columns: Columns<Table>,
): Promise<number> {
  const changing = db.updateTable(table as typeof ANY).set(columns as object);
  const changed = await changing.where((eb) => eb.and(is as object)).executeTakeFirstOrThrow();
  return Number(changed.numUpdatedRows);
}

export async function changeRow<Table extends keyof Database>(
  db: Db,
  table: Table,
  is: Match<Table>,
  columns: Columns<Table>,
): Promise<Database[Table] | undefined> {
  const changing = db.updateTable(table as typeof ANY).set(columns as object);
  const matching = changing.where((eb) => eb.and(is as object));
  const row = await matching.returningAll().executeTakeFirst();
  return row as Database[Table] | undefined;
}

export async function deleteRows<Table extends keyof Database>(
  db: Db,
  table: Table,
  is: Match<Table>,
): Promise<number> {
  const deleting = db.deleteFrom(table as typeof ANY);
  const deleted = await deleting.where((eb) => eb.and(is as object)).executeTakeFirstOrThrow();
  return Number(deleted.numDeletedRows);
}
