import { setImmediate as nextTurn } from "node:timers/promises";
import type { Kysely } from "kysely";
import { countRows, pruneRows, type Upsert, upsert, withinRoom } from "../store/rows.ts";
import type { Database, DomainMailRow } from "../store/schema.ts";
import { type Tx, inSlice } from "../store/transaction.ts";

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

const saving = (db: Kysely<Database>): Upsert<DomainMailRow> =>
  upsert(db, { domain: "", hosts: "", addresses: "", disposable: 0, day: 0 }, (builder, rows) =>
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

/** The rows that are kept, in order, so that no two processes wait for each other's. */
async function keptOf(
  tx: Tx,
  mails: readonly DomainMail[],
  domainsMax: number,
): Promise<readonly DomainMailRow[]> {
  const rows = mails.map(rowOf).sort((a, b) => (a.domain < b.domain ? -1 : 1));
  const room = domainsMax - (await countRows(tx.sql.selectFrom("domain_mail")));
  return withinRoom(rows, room, async () => {
    const names = rows.map(({ domain }) => domain);
    const query = tx.sql.selectFrom("domain_mail").select("domain").where("domain", "in", names);
    return new Set((await query.execute()).map(({ domain }) => domain));
  });
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
  const saveRows = saving(db);
  return {
    save: (mails, domainsMax) =>
      inSlice(db, async (tx) => saveRows(tx, await keptOf(tx, mails, domainsMax))),
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

/** All rows in the order of domains. Requests go on between two pages: the embedded database works on this thread. */
export async function* pagesOf<Row extends { readonly domain: string }>(
  page: (afterDomain: string, limit: number) => Promise<readonly Row[]>,
  limit: number,
): AsyncGenerator<readonly Row[]> {
  for (let after = ""; ; await nextTurn()) {
    const rows = await page(after, limit);
    yield rows;
    if (rows.length < limit) return;
    after = rows.at(-1)?.domain ?? "";
  }
}

/** Where the mail of a domain that was checked went. Never an address of a person, never who asked. */
export interface DomainMail {
  readonly domain: string;
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  readonly disposable: boolean;
  readonly day: number;
}

export interface DomainMails {
  /** Replaces, all or nothing; no domain twice. New domains beyond `domainsMax` are left out. */
  save(mails: readonly DomainMail[], domainsMax: number): Promise<void>;
  /** In the order of domains after `afterDomain`; at most `limit`. */
  page(afterDomain: string, limit: number): Promise<readonly DomainMail[]>;
  /** Deletes what was seen before `fromDay`, then the oldest days as long as more than `keep` are left; how many. */
  prune(fromDay: number, keep: number): Promise<number>;
}
