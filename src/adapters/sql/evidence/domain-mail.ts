import type { Kysely } from "kysely";
import type { DomainMail, DomainMails } from "../../../ports/evidence/domain-mail.ts";
import { pruneRows } from "../engine/prune-rows.ts";
import type { Database } from "../engine/schema.ts";
import type { DomainMailRow } from "../tables/own-traffic.ts";
import { inSlice, type Tx } from "../engine/transaction.ts";
import { WIDE_ROWS, type WideInsert, wideInsert } from "../engine/wide-insert.ts";

const listOf = (text: string): readonly string[] => (text === "" ? [] : text.split(" "));

const mailOf = (row: DomainMailRow): DomainMail => ({
  domain: row.domain,
  hosts: listOf(row.hosts),
  addresses: listOf(row.addresses),
  disposable: row.disposable === 1,
  day: row.day,
});

const rowOf = (mail: DomainMail): DomainMailRow => ({
  domain: mail.domain,
  hosts: mail.hosts.join(" "),
  addresses: mail.addresses.join(" "),
  disposable: mail.disposable ? 1 : 0,
  day: mail.day,
});

async function rowsIn({ sql }: Tx): Promise<number> {
  const { rows } = await sql
    .selectFrom("domain_mail")
    .select((build) => build.fn.countAll().as("rows"))
    .executeTakeFirstOrThrow();
  return Number(rows);
}

const wideSave = (db: Kysely<Database>): WideInsert<DomainMailRow> =>
  wideInsert(db, { domain: "", hosts: "", addresses: "", disposable: 0, day: 0 }, (builder, rows) =>
    builder
      .insertInto("domain_mail")
      .values(rows)
      .onConflict((conflict) =>
        conflict.column("domain").doUpdateSet((build) => ({
          hosts: build.ref("excluded.hosts"),
          addresses: build.ref("excluded.addresses"),
          disposable: build.ref("excluded.disposable"),
          day: build.ref("excluded.day"),
        })),
      ),
  );

async function saveIn(
  tx: Tx,
  mails: readonly DomainMail[],
  {
    domainsMax,
    saveWide,
  }: { readonly domainsMax: number; readonly saveWide: WideInsert<DomainMailRow> },
): Promise<void> {
  let room = domainsMax - (await rowsIn(tx));
  // In order, so that no two processes wait for each other's rows.
  const inOrder = mails.map(rowOf).sort((a, b) => (a.domain < b.domain ? -1 : 1));
  const isWide = inOrder.length === WIDE_ROWS && room >= WIDE_ROWS;
  if (isWide && new Set(inOrder.map(({ domain }) => domain)).size === WIDE_ROWS) {
    await saveWide(tx, inOrder);
    return;
  }
  for (const { domain, ...columns } of inOrder) {
    const { numUpdatedRows } = await tx.sql
      .updateTable("domain_mail")
      .set(columns)
      .where("domain", "=", domain)
      .executeTakeFirst();
    if (numUpdatedRows > 0n || room <= 0) continue;
    await tx.sql
      .insertInto("domain_mail")
      .values({ domain, ...columns })
      .onConflict((conflict) => conflict.column("domain").doUpdateSet(columns))
      .execute();
    room -= 1;
  }
}

/** The first day that may stay, so that at most `keep` rows do; whole days only. */
async function firstKeptDay(db: Kysely<Database>, fromDay: number, keep: number): Promise<number> {
  const days = await db
    .selectFrom("domain_mail")
    .select((build) => ["day", build.fn.countAll().as("rows")])
    .where("day", ">=", fromDay)
    .groupBy("day")
    .orderBy("day", "desc")
    .execute();
  let kept = 0;
  for (const { day, rows } of days) {
    kept += Number(rows);
    // The newest day stays whole: it is bounded by `save`.
    if (kept > keep && day !== days[0]?.day) return day + 1;
  }
  return fromDay;
}

export function sqlDomainMails(db: Kysely<Database>): DomainMails {
  const saveWide = wideSave(db);
  return {
    save: (mails, domainsMax) => inSlice(db, (tx) => saveIn(tx, mails, { domainsMax, saveWide })),
    async page(afterDomain, limit) {
      const rows = await db
        .selectFrom("domain_mail")
        .selectAll()
        .where("domain", ">", afterDomain)
        .orderBy("domain")
        .limit(limit)
        .execute();
      return rows.map(mailOf);
    },
    async prune(fromDay, keep) {
      const before = await firstKeptDay(db, fromDay, keep);
      return pruneRows(db, { table: "domain_mail", key: ["domain"], column: "day", before });
    },
  };
}
