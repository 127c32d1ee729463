import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { ListSubject } from "../core/evidence/rule.ts";
import type { MailHosts } from "../core/mail/mail-hosts.ts";
import { countRows, literally, pruneRows, type Upsert, upsert, withinRoom } from "../store/rows.ts";
import type { Database, DomainMailRow, VerdictCountRow } from "../store/schema.ts";
import { inSlice, type Tx } from "../store/transaction.ts";

/** What checks leave behind by domain: never an address, never who asked. */

/** Rows are written in this order, so that no two processes wait for each other's. */
const byDomain = (a: { readonly domain: string }, b: { readonly domain: string }): number =>
  a.domain < b.domain ? -1 : 1;

const NO_COUNTS = { disposable: 0, other: 0, no_mail: 0, no_answer: 0 };

export const VERDICT_COUNTS = ["disposable", "other", "no_mail", "no_answer"] as const;

const ADDED = Object.fromEntries(
  VERDICT_COUNTS.map((name) => [name, sql.raw(`verdict_counts.${name} + excluded.${name}`)]),
);

/** A disposable domain without mail counts as disposable: a domain's checks are nearly always all of one kind. */
const besideDisposable = (column: "no_mail" | "no_answer") =>
  sql<number>`coalesce(sum(case when ${sql.ref(column)} > disposable
    then ${sql.ref(column)} - disposable else 0 end), 0)`.as(column);

/** How often each domain was checked on a UTC day, by verdict. Rules: `test/contracts/evidence/verdict-counts.ts`. */
export class VerdictCounts {
  readonly #db: Kysely<Database>;
  readonly #save: Upsert<VerdictCountRow>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
    this.#save = upsert(db, { day: 0, domain: "", ...NO_COUNTS }, (builder, rows) =>
      builder
        .insertInto("verdict_counts")
        .values(rows)
        .onConflict((conflict) => conflict.columns(["day", "domain"]).doUpdateSet(ADDED)),
    );
  }

  /** All or nothing; no domain twice for one day. New domains of a day beyond `domainsMax` are left out. */
  add(counts: readonly VerdictCountRow[], domainsMax: number): Promise<void> {
    return inSlice(this.#db, async (tx) => {
      for (const day of new Set(counts.map((count) => count.day).sort((a, b) => a - b))) {
        const ofDay = counts.filter((count) => count.day === day).sort(byDomain);
        const there = tx.sql.selectFrom("verdict_counts").where("day", "=", day);
        const room = domainsMax - (await countRows(there));
        await this.#save(tx, await withinRoom(ofDay, room, there.select("domain")));
      }
    });
  }

  /** Sums by domain from `fromDay` on, in the order of names after `afterDomain`; at most `limit`. */
  async page(
    fromDay: number,
    afterDomain: string,
    limit: number,
  ): Promise<readonly Omit<VerdictCountRow, "day">[]> {
    const rows = await this.#db
      .selectFrom("verdict_counts")
      .select("domain")
      .select(({ fn }) => VERDICT_COUNTS.map((name) => fn.sum(name).as(name)))
      .where("day", ">=", fromDay)
      .where("domain", ">", afterDomain)
      .groupBy("domain")
      .orderBy("domain")
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      domain: row.domain,
      disposable: Number(row.disposable),
      other: Number(row.other),
      no_mail: Number(row.no_mail),
      no_answer: Number(row.no_answer),
    }));
  }

  /** Checks by what came of them, since `fromDay`. Each is in one class. */
  async sums(
    fromDay: number,
  ): Promise<Record<"good" | "disposable" | "no_mail" | "no_answer", number>> {
    const found = await this.#db
      .selectFrom("verdict_counts")
      .select(({ fn }) => [fn.sum("disposable").as("disposable"), fn.sum("other").as("other")])
      .select([besideDisposable("no_mail"), besideDisposable("no_answer")])
      .where("day", ">=", fromDay)
      .executeTakeFirstOrThrow();
    const [no_mail, no_answer] = [Number(found.no_mail), Number(found.no_answer)];
    const good = Number(found.other) - no_mail - no_answer;
    return { good, disposable: Number(found.disposable), no_mail, no_answer };
  }

  /** How many checks a rule about this subject would have met: of the name and those below it, or of a mail host's domains. */
  async checksOf(subject: ListSubject, fromDay: number): Promise<number> {
    if (subject.kind !== "domain" && subject.kind !== "mailHost") return 0;
    const below = `%.${literally(subject.name)}`;
    const exact = subject.below ? "" : subject.name;
    const hosts = sql`' ' || replace(hosts, ' ', '  ') || ' '`;
    const found = await this.#db
      .selectFrom("verdict_counts")
      .select(({ fn }) => [fn.sum("disposable").as("disposable"), fn.sum("other").as("other")])
      .where("day", ">=", fromDay)
      .where(
        subject.kind === "domain"
          ? sql<boolean>`(domain = ${exact} or domain like ${below} escape '\\')`
          : sql<boolean>`domain in (select domain from domain_mail where ${hosts} like ${`% ${literally(exact || " ")} %`} escape '\\'
              or ${hosts} like ${`${below} %`} escape '\\')`,
      )
      .executeTakeFirstOrThrow();
    return Number(found.disposable) + Number(found.other);
  }

  prune(fromDay: number): Promise<number> {
    const pruned = { table: "verdict_counts", key: ["day", "domain"], column: "day" } as const;
    return pruneRows(this.#db, { ...pruned, before: fromDay });
  }
}

/** Where the mail of a domain that was checked went. */
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

/** Rules: `test/contracts/evidence/domain-mail.ts`. */
export class DomainMails {
  readonly #db: Kysely<Database>;
  readonly #save: (tx: Tx, rows: readonly DomainMailRow[]) => Promise<void>;

  constructor(db: Kysely<Database>) {
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

  /** In the order of domains after `afterDomain`; at most `limit`. */
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

/** Domains between two turns of the event loop: 3 to 4 ms of a back-test. */
const TESTED_PAGE = 100;

export interface CheckedDomains {
  readonly counts: Pick<VerdictCounts, "page">;
  readonly mails: Pick<DomainMails, "page">;
}

interface CheckedDomain {
  readonly count: Omit<VerdictCountRow, "day">;
  readonly mail: MailHosts | undefined;
}

/** Every domain that was checked since `fromDay`, for a back-test. Where mail went is known as far as it was noted: some ten megabytes at the most. */
export async function* checkedDomains(
  { counts, mails }: CheckedDomains,
  fromDay: number,
): AsyncGenerator<CheckedDomain> {
  const known = new Map<string, MailHosts>();
  for await (const page of pagesOf((after, limit) => mails.page(after, limit), TESTED_PAGE)) {
    for (const { domain, hosts, addresses } of page) {
      known.set(domain, { kind: "hosts", implicit: false, hosts, addresses });
    }
  }
  const page = (after: string, limit: number) => counts.page(fromDay, after, limit);
  for await (const some of pagesOf(page, TESTED_PAGE)) {
    for (const count of some) yield { count, mail: known.get(count.domain) };
  }
}
