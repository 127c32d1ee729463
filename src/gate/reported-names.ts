import type { Kysely } from "kysely";
import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import type { Database } from "../store/schema.ts";

/** Mailboxes and domains that accounts reported, so that a decision on any other asks no store. */

/** Other servers write too. */
const BELIEVED_MS = 1_000;

const NAMES_IN_MEMORY = 200_000;

/** Clocks of several servers differ, and what began first may be stored last. */
const OVERLAP_MS = 60_000;

interface Names {
  readonly all: Set<string>;
  /** By the clock of the rows, and by the one that never goes back. */
  readonly readMs: number;
  readonly atMs: number;
}

export class ReportedNames {
  readonly #db: Kysely<Database>;
  readonly #clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly #known = new LRUCache<string, Names>({
    maxSize: NAMES_IN_MEMORY,
    sizeCalculation: ({ all }) => all.size + 1,
  });
  readonly #reading = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(db: Kysely<Database>, clock: Pick<Clock, "nowMs" | "monotonicMs">) {
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

  /** This process stored a report. */
  add(accountId: string, day: number, names: readonly string[]): void {
    const known = this.#known.get(`${accountId} ${String(day)}`);
    for (const name of names) known?.all.add(name);
  }
}
