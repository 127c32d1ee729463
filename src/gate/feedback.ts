import type { FeedbackOutcome } from "../core/policy/outcomes.ts";
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { readEntry } from "../core/address/address.ts";
import { dayOf } from "../core/calendar.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { parseDomain } from "../core/name/domain.ts";
import type { FeedbackFacts } from "../core/policy/policy.ts";
import { type Clock, inTime } from "../base/clock.ts";
import { growingIds, type Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { badParameter } from "../base/refusals.ts";
import type { Db } from "../store/schema.ts";
import type { FeedbackRow } from "../store/tables/policy.ts";
import { inTransaction } from "../store/transaction.ts";
import { deleteRows } from "../store/rows.ts";
import { keepNewest, pruneRows } from "../store/prune.ts";
import { lockAccount } from "../store/locks.ts";
import { type AccountHash, mailboxId, reportedDomainOf } from "./traffic-marks.ts";

/** Other servers write too. */
const BELIEVED_MS = 1_000;

const NAMES_IN_MEMORY = 200_000;

/** Clocks of several servers differ, and what began first may be stored last. */
const OVERLAP_MS = 60_000;

interface Names {
  readonly all: Set<string>;
  readonly readMs: number;
  readonly atMs: number;
}

class ReportedNames {
  readonly #db: Db;
  readonly #clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly #known = new LRUCache<string, Names>({
    maxSize: NAMES_IN_MEMORY,
    sizeCalculation: ({ all }) => all.size + 1,
  });
  readonly #reading = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(db: Db, clock: Pick<Clock, "nowMs" | "monotonicMs">) {
    this.#db = db;
    this.#clock = clock;
  }

  /** What was taken back or forgotten lately may be among them; another `day` begins anew. */
  of(accountId: string, day: number): Awaitable<ReadonlySet<string>> {
    const place = `${accountId} ${String(day)}`;
    const known = this.#known.get(place);
    if (known && this.#clock.monotonicMs() - known.atMs < BELIEVED_MS) return known.all;
    const begun = this.#reading.get(place);
    if (begun !== undefined) return begun;
    const reading = this.#read(accountId, place, known).finally(() => this.#reading.delete(place));
    this.#reading.set(place, reading);
    return reading;
  }

  async #read(accountId: string, place: string, known?: Names): Promise<ReadonlySet<string>> {
    const [readMs, atMs] = [this.#clock.nowMs(), this.#clock.monotonicMs()];
    const since = known === undefined ? "" : String(known.readMs - OVERLAP_MS).padStart(14, "0");
    const rows = await this.#db
      .selectFrom("feedback")
      .select(["mailbox", "domain"])
      .distinct()
      .where("account_id", "=", accountId)
      .where("id", ">", since)
      .where("outcome", "<>", "fine")
      .execute();
    const all = known?.all ?? new Set();
    for (const { mailbox, domain } of rows) all.add(mailbox).add(domain);
    this.#known.set(place, { all, readMs, atMs });
    return all;
  }

  add(accountId: string, day: number, names: readonly string[]): void {
    const known = this.#known.get(`${accountId} ${String(day)}`);
    for (const name of names) known?.all.add(name);
  }
}

const FEEDBACK_DAYS = 90;

const ROWS_MAX = 20_000;
const ROWS_AT_ONCE = 500;

/** A store that takes longer has not said anything: the facts are unknown. */
const ANSWER_MS = 300;

export interface NewFeedback {
  /** An address as it signed up, or the id of a mailbox. */
  readonly about: { readonly email: string } | { readonly mailbox: string };
  readonly outcome: FeedbackOutcome;
  readonly note: string;
}

interface Reported {
  readonly mailboxId: string;
  /** Undefined or "" where the domain's mailboxes belong to strangers. */
  readonly domain: string | undefined;
}

export interface FeedbackDeps {
  readonly db: Db;
  readonly datasets: () => Datasets;
  readonly hash: AccountHash;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "after">;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Pick<Log, "error">;
  readonly counted: (outcome: FeedbackOutcome) => void;
}

export class Feedback {
  readonly #deps: FeedbackDeps;
  /** Ids grow, so that a `fine` is behind what it takes back. */
  readonly #nextId: (nowMs: number) => string;
  readonly #names: ReportedNames;

  constructor(deps: FeedbackDeps) {
    this.#deps = deps;
    this.#nextId = growingIds(deps.ids);
    this.#names = new ReportedNames(deps.db, deps.clock);
  }

  /** Stored when this returns. Throws a `Refusal` for what is no address. */
  async record(accountId: string, { about, outcome, note }: NewFeedback): Promise<void> {
    const { clock } = this.#deps;
    const { mailboxId: mailbox, domain = "" } =
      "email" in about
        ? this.#ofAddress(accountId, about.email)
        : await this.#ofMailbox(accountId, about.mailbox);
    const nowMs = clock.nowMs();
    await this.#save(accountId, [
      this.#rowOf(accountId, { nowMs, mailbox, domain, outcome, note }),
    ]);
  }

  #rowOf(
    accountId: string,
    {
      nowMs,
      ...said
    }: Pick<FeedbackRow, "mailbox" | "domain" | "outcome" | "note"> & { readonly nowMs: number },
  ): FeedbackRow {
    const id = this.#nextId(nowMs);
    const unread = { account_proposal: "", operator_proposal: "" } as const;
    return { id, account_id: accountId, day: dayOf(nowMs), ...said, ...unread };
  }

  async #save(accountId: string, rows: readonly FeedbackRow[]): Promise<void> {
    await inTransaction(this.#deps.db, async (tx) => {
      await lockAccount(tx, accountId);
      for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
        const some = rows.slice(from, from + ROWS_AT_ONCE);
        await tx.sql.insertInto("feedback").values(some).execute();
      }
      await keepNewest(tx, "feedback", accountId, ROWS_MAX);
    });
    const names = rows.flatMap(({ mailbox, domain }) => [mailbox, domain]);
    this.#names.add(accountId, this.#firstDay(), names);
    for (const { outcome } of rows) this.#deps.counted(outcome);
  }

  marks(accountId: string, of: readonly string[]): Promise<ReadonlyMap<string, FeedbackOutcome>> {
    return lastSaid(this.#deps.db, accountId, of);
  }

  /** Says the same of many mailboxes, each with its domain. The ids of the first and the last report take them back. */
  async recordAll(
    accountId: string,
    mailboxes: ReadonlyMap<string, string | null>,
    outcome: FeedbackOutcome,
  ): Promise<{ readonly first: string; readonly last: string }> {
    const nowMs = this.#deps.clock.nowMs();
    const rows = [...mailboxes].map(([mailbox, domain]) =>
      this.#rowOf(accountId, { nowMs, mailbox, domain: this.#reported(domain), outcome, note: "" }),
    );
    await this.#save(accountId, rows);
    const ids = rows.map(({ id }) => id).toSorted();
    return { first: ids[0] ?? "", last: ids.at(-1) ?? "" };
  }

  async takeBackAll(accountId: string, first: string, last: string): Promise<void> {
    await inTransaction(this.#deps.db, async (tx) => {
      await lockAccount(tx, accountId);
      await tx.sql
        .deleteFrom("feedback")
        .where("account_id", "=", accountId)
        .where("id", ">=", first)
        .where("id", "<=", last)
        .execute();
    });
  }

  /** Takes back what was said last of a mailbox; false where nothing was. */
  async takeBack(accountId: string, mailbox: string): Promise<boolean> {
    return await inTransaction(this.#deps.db, async (tx) => {
      await lockAccount(tx, accountId);
      const last = await tx.sql
        .selectFrom("feedback")
        .select(({ fn }) => fn.max("id").as("id"))
        .where("account_id", "=", accountId)
        .where("mailbox", "=", mailbox)
        .executeTakeFirstOrThrow();
      if (last.id === null) return false;
      return (await deleteRows(tx.sql, "feedback", { account_id: accountId, id: last.id })) === 1;
    });
  }

  facts(accountId: string, about: Reported, timeoutMs: number): Awaitable<FeedbackFacts> {
    const names = this.#names.of(accountId, this.#firstDay());
    const isClear = !(names instanceof Promise) && !isAmong(names, about);
    return isClear ? factsOf([], about, 0) : this.#readFacts(accountId, about, timeoutMs);
  }

  #firstDay(): number {
    return dayOf(this.#deps.clock.nowMs()) - FEEDBACK_DAYS;
  }

  #ofAddress(accountId: string, email: string): Reported {
    const { hash, datasets } = this.#deps;
    const entry = readEntry(email, "address");
    if (entry.kind !== "address") throw badParameter("email", "an email address");
    return {
      mailboxId: mailboxId(hash, accountId, entry.address),
      domain: reportedDomainOf(entry.domain, datasets()),
    };
  }

  async #ofMailbox(accountId: string, mailbox: string): Promise<Reported> {
    const logged = await this.#deps.db
      .selectFrom("decisions")
      .select("domain")
      .where("account_id", "=", accountId)
      .where("mailbox", "=", mailbox)
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    return { mailboxId: mailbox, domain: this.#reported(logged?.domain ?? null) };
  }

  #reported(domain: string | null): string {
    const parsed = parseDomain(domain ?? "");
    return (parsed.ok && reportedDomainOf(parsed.value, this.#deps.datasets())) || "";
  }

  async #readFacts(accountId: string, about: Reported, timeoutMs: number): Promise<FeedbackFacts> {
    const { clock, log } = this.#deps;
    try {
      const limit = { timeoutMs: Math.min(timeoutMs, ANSWER_MS), late: undefined, clock };
      const facts = await inTime(this.#count(accountId, about), limit);
      if (facts === undefined && timeoutMs >= ANSWER_MS)
        throw new Error("the store does not answer in time");
      return facts ?? {};
    } catch (fault) {
      log.error("feedback.read_failed", fault);
      return {};
    }
  }

  async #count(accountId: string, about: Reported): Promise<FeedbackFacts> {
    const firstDay = this.#firstDay();
    if (!isAmong(await this.#names.of(accountId, firstDay), about)) return factsOf([], about, 0);
    const { mailboxId: id, domain = id } = about;
    const { rows } = await reportsOf(accountId, id, domain, firstDay).execute(this.#deps.db);
    return factsOf(rows, about, dayOf(this.#deps.clock.nowMs()) - DOMAIN_DAYS);
  }
}

export async function lastSaid(
  db: Db,
  accountId: string,
  of?: readonly string[],
): Promise<ReadonlyMap<string, FeedbackOutcome>> {
  if (of?.length === 0) return new Map();
  const query = db
    .selectFrom("feedback")
    .select(["mailbox", "outcome"])
    .where("account_id", "=", accountId)
    .orderBy("id");
  const said = await (of === undefined ? query : query.where("mailbox", "in", of)).execute();
  return new Map(said.map(({ mailbox, outcome }) => [mailbox, outcome]));
}

const isAmong = (names: ReadonlySet<string>, { mailboxId: id, domain }: Reported): boolean =>
  names.has(id) || (domain !== undefined && names.has(domain));

function factsOf(
  rows: readonly Reports[],
  { mailboxId: id, domain }: Reported,
  since: number,
): FeedbackFacts {
  const times = (outcome: FeedbackOutcome): number =>
    Number(rows.find((row) => row.mailbox === id && row.outcome === outcome)?.times ?? 0);
  const mailboxes = (outcome: FeedbackOutcome): number | undefined =>
    domain === undefined
      ? undefined
      : rows.filter(
          (row) => row.domain === domain && row.outcome === outcome && Number(row.last_day) > since,
        ).length;
  return {
    mailbox_abused: times("abuse"),
    mailbox_bounced: times("bounce"),
    mailbox_complained: times("complaint"),
    domain_abused: mailboxes("abuse"),
    domain_bounced: mailboxes("bounce"),
  };
}

const DOMAIN_DAYS = 30;

interface Reports {
  readonly mailbox: string;
  readonly domain: string;
  readonly outcome: FeedbackOutcome;
  readonly times: number;
  readonly last_day: number;
}

/** A `fine` takes back what was said of the same mailbox before. */
const reportsOf = (
  accountId: string,
  mailbox: string,
  domain: string,
  firstDay: number,
) => sql<Reports>`
  select mailbox, domain, outcome, count(*) as times, max(day) as last_day from feedback as said
  where account_id = ${accountId} and day > ${firstDay} and outcome <> 'fine'
    and (mailbox = ${mailbox} or domain = ${domain}) and not exists (
      select 1 from feedback as later where later.account_id = said.account_id
        and later.mailbox = said.mailbox and later.outcome = 'fine' and later.id > said.id)
  group by mailbox, domain, outcome`;

export const pruneFeedback = (db: Db, nowMs: number): Promise<number> =>
  pruneRows(db, {
    table: "feedback",
    key: ["account_id", "id"],
    column: "day",
    before: dayOf(nowMs) - FEEDBACK_DAYS + 1,
  });
