import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { countRows } from "../store/rows.ts";
import { pruneRows } from "../store/prune.ts";
import { upsert, withinRoom } from "../store/upserts.ts";
import type { Db, DomainMailRow } from "../store/schema.ts";
import { inSlice, type Tx } from "../store/transaction.ts";

/** Rows are written in this order, so that no two processes wait for each other's. */
const byDomain = (a: { readonly domain: string }, b: { readonly domain: string }): number =>
  a.domain < b.domain ? -1 : 1;

export interface DomainMail {
  readonly domain: string;
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  readonly disposable: boolean;
  readonly day: number;
}

const listOf = (text: string): readonly string[] => (text === "" ? [] : text.split(" "));

const rowOf = (mail: DomainMail): DomainMailRow => ({
  domain: mail.domain,
  hosts: mail.hosts.join(" "),
  addresses: mail.addresses.join(" "),
  disposable: mail.disposable ? 1 : 0,
  day: mail.day,
});

const REPLACED = Object.fromEntries(
  ["hosts", "addresses", "disposable", "day"].map((name) => [name, sql.raw(`excluded.${name}`)]),
);

export class DomainMails {
  readonly #db: Db;
  readonly #save: (tx: Tx, rows: readonly DomainMailRow[]) => Promise<void>;

  constructor(db: Db) {
    this.#db = db;
    const sample = { domain: "", hosts: "", addresses: "", disposable: 0, day: 0 };
    this.#save = upsert(db, sample, (builder, rows) =>
      builder
        .insertInto("domain_mail")
        .values(rows)
        .onConflict((conflict) => conflict.column("domain").doUpdateSet(REPLACED)),
    );
  }

  /** Replaces, all or nothing; no domain twice. New domains beyond `domainsMax` are left out. */
  save(mails: readonly DomainMail[], domainsMax: number): Promise<void> {
    const rows = mails.map(rowOf).sort(byDomain);
    return inSlice(this.#db, async (tx) => {
      const all = tx.sql.selectFrom("domain_mail");
      const room = domainsMax - (await countRows(all));
      await this.#save(tx, await withinRoom(rows, room, all.select("domain")));
    });
  }

  async page(afterDomain: string, limit: number): Promise<readonly DomainMail[]> {
    const after = this.#db.selectFrom("domain_mail").where("domain", ">", afterDomain);
    const rows = await after.selectAll().orderBy("domain").limit(limit).execute();
    return rows.map(({ hosts, addresses, disposable, ...row }) => ({
      ...row,
      hosts: listOf(hosts),
      addresses: listOf(addresses),
      disposable: disposable === 1,
    }));
  }

  /** Deletes what was seen before `fromDay`, then the oldest days as long as more than `keep` are left; how many. */
  async prune(fromDay: number, keep: number): Promise<number> {
    const days = this.#db.selectFrom("domain_mail").select("day").orderBy("day", "desc").limit(1);
    const newest = await days.executeTakeFirst();
    const over = await days.offset(keep).executeTakeFirst();
    // Whole days, and never the newest: it is bounded by `save`.
    const kept = over && newest ? Math.min(over.day + 1, newest.day) : fromDay;
    const before = Math.max(fromDay, kept);
    return pruneRows(this.#db, { table: "domain_mail", key: ["domain"], column: "day", before });
  }
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
