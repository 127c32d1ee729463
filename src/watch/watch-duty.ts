import { accountKey, type OwnerKey } from "../base/owner.ts";
import { type End, every } from "../base/every.ts";
import { DAY_MS, dayOf } from "../core/calendar.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import { findMailHosts } from "../core/mail/mail-hosts.ts";
import { registrableOf } from "../core/name/domain.ts";
import { changeRows } from "../store/rows.ts";
import type { WatchedRow } from "../store/tables/watch.ts";
import { inTransaction } from "../store/transaction.ts";
import type { AnnounceDeps } from "../webhooks/dispatcher.ts";
import { tell } from "../webhooks/tell.ts";
import type { WatchKind } from "./watch-list.ts";

const ROUND_MS = 10_000;
/** Twenty a second at most, whatever waits after a pause: 17 accounts with 100,000 domains each. */
const ROUND_DOMAINS = 200;
const AT_ONCE = 20;
const DEAD_DAYS = 7;
/** Two looks that are nearer are of one day, as after a pause of the service. */
const NEXT_DAY_MS = 18 * 3_600_000;
const TOLD_DOMAINS = 1_000;

interface WatchDutyDeps extends AnnounceDeps {
  /** A client of its own, so that it holds up no check. */
  readonly lookup: Pick<Lookup, "mx" | "addresses"> & {
    readonly registration: (domain: string, by: OwnerKey) => ReturnType<Lookup["registration"]>;
  };
  /** Whether a list or rule has the domain. */
  readonly isDisposable: (domain: string) => boolean;
}

interface Look {
  readonly mail: WatchedRow["mail"];
  readonly registeredMs: number | undefined;
  readonly isDisposable: boolean;
}

/** Asks each watched domain once a day, spread over the day, and tells accounts what changed. */
export class WatchDuty {
  readonly #deps: WatchDutyDeps;

  constructor(deps: WatchDutyDeps) {
    this.#deps = deps;
  }

  start(): End {
    const { clock, log } = this.#deps;
    const failed = (fault: unknown): void => log.error("watch.failed", fault);
    return every({ ms: ROUND_MS, clock, failed }, () => this.round());
  }

  async round(): Promise<void> {
    const rows = await this.#claim();
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const some = rows.slice(at, at + AT_ONCE);
      const looks = await Promise.all(some.map((row) => this.#look(row)));
      await this.#note(some.map((row, index) => [row, looks[index]] as const));
    }
    await this.#tell();
  }

  /** Those whose time has come. A process that is killed now asks none of them twice: their next time is tomorrow. */
  async #claim(): Promise<readonly WatchedRow[]> {
    const { db, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const due = db.selectFrom("watched").selectAll().where("next_ms", "<=", nowMs);
    const rows = await due.orderBy("next_ms").limit(ROUND_DOMAINS).execute();
    if (rows.length === 0) return [];
    await inTransaction(db, async ({ sql }) => {
      for (const { account_id, domain, next_ms } of rows) {
        const late = (nowMs - Number(next_ms)) % DAY_MS;
        const next = { next_ms: nowMs - late + DAY_MS };
        await changeRows(sql, "watched", { account_id, domain }, next);
      }
    });
    return rows;
  }

  /** Undefined after a fault: the day says nothing. */
  async #look({ account_id, domain }: WatchedRow): Promise<Look | undefined> {
    const { lookup, isDisposable, log } = this.#deps;
    const registrable = registrableOf(domain);
    try {
      const [hosts, registration] = await Promise.all([
        findMailHosts(domain, lookup, true),
        registrable === undefined
          ? undefined
          : lookup.registration(registrable, accountKey(account_id)),
      ]);
      const [first] = registration?.kind === "found" ? registration.records : [];
      const mail = ({ hosts: "yes", none: "no", unknown: "unknown" } as const)[hosts.kind];
      return { mail, registeredMs: first?.registeredAtMs, isDisposable: isDisposable(domain) };
    } catch (fault) {
      log.error("watch.failed", fault);
      return undefined;
    }
  }

  async #note(looked: readonly (readonly [WatchedRow, Look | undefined])[]): Promise<void> {
    const { db, clock } = this.#deps;
    const at_ms = clock.nowMs();
    await inTransaction(db, async ({ sql }) => {
      for (const [row, look] of looked) {
        if (look === undefined) continue;
        const { account_id, domain } = row;
        const { change, kinds } = changesOf(row, look, at_ms);
        const isThere = await changeRows(sql, "watched", { account_id, domain }, change);
        if (isThere === 0 || kinds.length === 0) continue; // it is watched no more, or nothing happened
        const events = kinds.map((kind) => ({ account_id, domain, kind, at_ms, told_ms: null }));
        await sql.insertInto("watch_events").values(events).execute();
      }
    });
  }

  /** Once a day and kind, what the days before brought. */
  async #tell(): Promise<void> {
    const { db, clock } = this.#deps;
    const dayMs = dayOf(clock.nowMs()) * DAY_MS;
    const untold = await db
      .selectFrom("watch_events")
      .select(["account_id", "kind"])
      .distinct()
      .where("told_ms", "is", null)
      .where("at_ms", "<", dayMs)
      .execute();
    for (const { account_id, kind } of untold) await this.#tellOne(account_id, kind, dayMs);
  }

  async #tellOne(account_id: string, kind: WatchKind, dayMs: number): Promise<void> {
    const { clock, log } = this.#deps;
    let domains: readonly string[] = [];
    const isTold = await tell(this.#deps, async ({ sql }) => {
      const own = sql.selectFrom("watch_events").where((eb) => eb.and({ account_id, kind }));
      const told = await own.select("at_ms").where("told_ms", ">=", dayMs).limit(1).execute();
      if (told.length > 0) return [];
      const untold = own.where("told_ms", "is", null).where("at_ms", "<", dayMs);
      const rows = await untold
        .select(["domain", "at_ms"])
        .orderBy("at_ms")
        .orderBy("domain")
        .limit(TOLD_DOMAINS)
        .execute();
      for (const row of rows)
        await changeRows(
          sql,
          "watch_events",
          { account_id, kind, ...row },
          { told_ms: clock.nowMs() },
        );
      domains = rows.map(({ domain }) => domain);
      const news = { accountId: account_id, event: kind, data: { domains } };
      return rows.length === 0 ? [] : [news];
    });
    if (isTold) log.info("watch.told", { account: account_id, kind, domains: domains.length });
  }
}

/** What one look changes, and what the account is told of. Silence changes nothing. */
function changesOf(
  row: WatchedRow,
  look: Look,
  nowMs: number,
): { readonly change: Partial<WatchedRow>; readonly kinds: readonly WatchKind[] } {
  const kinds: WatchKind[] = [];
  const change: Partial<WatchedRow> = { disposable: look.isDisposable ? 1 : 0 };
  if (look.isDisposable && row.disposable !== 1) kinds.push("domain.disposable");
  if (look.mail !== "unknown" && look.mail !== row.mail) {
    Object.assign(change, { mail: look.mail, mail_since_ms: nowMs });
  }
  if (look.mail === "yes") {
    if (row.no_days >= DEAD_DAYS) kinds.push("domain.back");
    change.no_days = 0;
  } else if (look.mail === "no" && nowMs - Number(row.no_ms) >= NEXT_DAY_MS) {
    change.no_days = row.no_days + 1;
    change.no_ms = nowMs;
    if (change.no_days === DEAD_DAYS) kinds.push("domain.dead");
  }
  const { registeredMs } = look;
  if (registeredMs !== undefined) {
    const knownMs = row.registered_ms === null ? registeredMs : Number(row.registered_ms);
    if (registeredMs >= knownMs + DAY_MS) kinds.push("domain.changed_hands");
    change.registered_ms = Math.max(knownMs, registeredMs);
  }
  return { change, kinds };
}
