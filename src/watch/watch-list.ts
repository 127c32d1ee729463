import { setImmediate } from "node:timers/promises";
import { DAY_MS, dayOf, isoDate, isoTime } from "../core/calendar.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { readEntry } from "../core/address/address.ts";
import { tooManyWatched } from "../base/refusals.ts";
import { reportedDomainOf } from "../gate/traffic-marks.ts";
import { countRows, deleteRows } from "../store/rows.ts";
import { lockName } from "../store/locks.ts";
import { pruneRows } from "../store/prune.ts";
import type { Db } from "../store/schema.ts";
import type { WatchedRow, WatchEventRow } from "../store/tables/watch.ts";
import { inTransaction } from "../store/transaction.ts";

export interface WatchListDeps {
  readonly db: Db;
  readonly datasets: () => Pick<Datasets, "free" | "knownGood" | "operator">;
  readonly clock: { readonly nowMs: () => number };
  /** Of 0 to 1: where in the day a new domain is asked. */
  readonly random: () => number;
}

export interface RefusedDomain {
  readonly domain: string;
  readonly why: "malformed" | "shared";
}

const WATCH_PAGE = 1_000;
const CHANGES_SHOWN = 20;
const EVENTS_MS = 90 * DAY_MS;

/** One transaction and one turn of the event loop. */
const NAMES_AT_ONCE = 200;

/** The domains that accounts have watched. */
export class WatchList {
  readonly #deps: WatchListDeps;

  constructor(deps: WatchListDeps) {
    this.#deps = deps;
  }

  /** Those already watched keep what is known of them. Throws the `Refusal` of more than `most`. */
  async add(accountId: string, names: readonly string[], most: number | null) {
    const refused: RefusedDomain[] = [];
    for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
      const read = this.#read(names.slice(at, at + NAMES_AT_ONCE));
      refused.push(...read.refused);
      await this.#insert(accountId, read.domains, most ?? Infinity);
      await setImmediate();
    }
    return { watched: await this.count(accountId), refused };
  }

  /** Those that are not named are watched no more. */
  async replace(accountId: string, names: readonly string[], most: number | null) {
    const kept = new Set(this.#read(names).domains);
    if (kept.size > (most ?? Infinity)) throw tooManyWatched(most ?? 0);
    const gone: string[] = [];
    for (let after: string | undefined = ""; after !== undefined;) {
      const page = await this.#rows(accountId, after);
      gone.push(...page.map(({ domain }) => domain).filter((name) => !kept.has(name)));
      after = page.length < WATCH_PAGE ? undefined : page.at(-1)?.domain;
    }
    await this.remove(accountId, gone);
    return await this.add(accountId, names, most);
  }

  async remove(accountId: string, names: readonly string[]): Promise<number> {
    for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
      const some = names
        .slice(at, at + NAMES_AT_ONCE)
        .flatMap((name) => domainNamed(name)?.name ?? []);
      if (some.length > 0) await this.#delete(accountId, some);
      await setImmediate();
    }
    return this.count(accountId);
  }

  async clear(accountId: string): Promise<void> {
    await deleteRows(this.#deps.db, "watched", { account_id: accountId });
    await deleteRows(this.#deps.db, "watch_events", { account_id: accountId });
  }

  count(accountId: string): Promise<number> {
    const { db } = this.#deps;
    return countRows(db.selectFrom("watched").where("account_id", "=", accountId));
  }

  /** By name, up to 1,000; `next` goes into `after`. */
  async page(accountId: string, after: string) {
    const rows = await this.#rows(accountId, after);
    const domains = rows.map((row) => ({
      domain: row.domain,
      mail: row.mail,
      since: isoTime(Number(row.mail_since_ms)),
      registered: row.registered_ms === null ? null : isoDate(dayOf(Number(row.registered_ms))),
      disposable: row.disposable < 0 ? null : row.disposable === 1,
    }));
    return { domains, next: rows.length < WATCH_PAGE ? null : (rows.at(-1)?.domain ?? null) };
  }

  /** The last 20, newest first. */
  async changes(accountId: string) {
    const rows = await this.#deps.db
      .selectFrom("watch_events")
      .select(["domain", "kind", "at_ms"])
      .where("account_id", "=", accountId)
      .orderBy("at_ms", "desc")
      .limit(CHANGES_SHOWN)
      .execute();
    return rows.map(({ domain, kind, at_ms }) => ({ domain, kind, at: isoTime(Number(at_ms)) }));
  }

  #read(names: readonly string[]) {
    const datasets = this.#deps.datasets();
    const domains = new Set<string>();
    const refused: RefusedDomain[] = [];
    for (const name of names) {
      const domain = domainNamed(name);
      if (domain === undefined) refused.push({ domain: name.slice(0, 253), why: "malformed" });
      else if (reportedDomainOf(domain, datasets) === undefined)
        refused.push({ domain: domain.name, why: "shared" });
      else domains.add(domain.name);
    }
    return { domains: [...domains], refused };
  }

  async #insert(accountId: string, domains: readonly string[], most: number): Promise<void> {
    if (domains.length === 0) return;
    const { db, clock, random } = this.#deps;
    const nowMs = clock.nowMs();
    const rows = domains.map((domain): WatchedRow => ({
      account_id: accountId,
      domain,
      next_ms: nowMs + Math.floor(random() * DAY_MS),
      mail: "unknown",
      mail_since_ms: nowMs,
      no_days: 0,
      no_ms: 0,
      disposable: -1,
      registered_ms: null,
    }));
    const isFull = await inTransaction(db, async (tx) => {
      await lockName(tx, `watch ${accountId}`);
      const adding = tx.sql.insertInto("watched").values(rows);
      await adding.onConflict((conflict) => conflict.doNothing()).execute();
      const own = tx.sql.selectFrom("watched").where("account_id", "=", accountId);
      const full = most !== Infinity && (await countRows(own)) > most;
      if (full) tx.abandon();
      return full;
    });
    if (isFull) throw tooManyWatched(most);
  }

  async #delete(accountId: string, domains: readonly string[]): Promise<void> {
    for (const table of ["watched", "watch_events"] as const)
      await this.#deps.db
        .deleteFrom(table)
        .where("account_id", "=", accountId)
        .where("domain", "in", domains)
        .execute();
  }

  #rows(accountId: string, after: string): Promise<readonly WatchedRow[]> {
    return this.#deps.db
      .selectFrom("watched")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("domain", ">", after)
      .orderBy("domain")
      .limit(WATCH_PAGE)
      .execute();
  }
}

function domainNamed(name: string) {
  const entry = readEntry(name, "domain");
  return entry.kind === "domain" ? entry.domain : undefined;
}

export const pruneWatchEvents = (db: Db, nowMs: number): Promise<number> =>
  pruneRows(db, {
    table: "watch_events",
    key: ["account_id", "domain", "kind", "at_ms"],
    column: "at_ms",
    before: nowMs - EVENTS_MS,
  });

export type WatchKind = WatchEventRow["kind"];

export type WatchedPage = Awaited<ReturnType<WatchList["page"]>>;
