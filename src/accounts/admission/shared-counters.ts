import { CompiledQuery, sql as raw } from "kysely";
import { LRUCache } from "lru-cache";
import { entriesUpTo, remembered } from "../../base/entries.ts";
import type { Clock } from "../../base/clock.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { AddressHash } from "../../base/secrets.ts";
import { StoreDown } from "../../base/store-down.ts";
import { DAY_MS, dayOf, monthStart, nextMonthStart } from "../../core/calendar.ts";
import { isContended } from "../../store/postgres-fault.ts";
import type { NamedStatement, SessionPool } from "../../store/postgres-pool.ts";
import { pruneSlices } from "../../store/prune.ts";
import type { Db } from "../../store/schema.ts";
import { hasRivals, type Tx } from "../../store/transaction.ts";
import { COUNT, FILL, LESS, READ, SINCE, USE, WRITTEN_WITHIN_MS } from "./counter-statements.ts";
import {
  type QuotaCounter,
  type UnsavedUnits,
  RATE_WINDOW_MS,
  type RateCounter,
  type RequestCounter,
  type RequestTaking,
} from "./counters.ts";
import type { QuotaLimits, QuotaSpent, QuotaTaken, UnitOrder, UsageLedger } from "./usage.ts";

type Sessions = Pick<SessionPool, "run">;

interface SharedCountersDeps {
  /** Few sessions that wait for no lock for long. */
  readonly counting: Sessions;
  readonly general: Sessions;
  readonly ledger: Pick<UsageLedger, "take">;
  /** Writes the units of single checks to the ledger. */
  readonly journal: Pick<UnsavedUnits, "add" | "written">;
  /** Rows hold this of the addresses of clients. */
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "after">;
  /** A clock that the processes of a test share; absent: the server's. */
  readonly serverMs?: () => number;
}

/** Owners of one statement: with more, its locks would be held for milliseconds. */
const OWNERS_MAX = 64;

const STATEMENTS_MAX = 2;

/** Least time between two statements: at 1,000 requests a second each then counts several. */
const BATCH_EVERY_MS = 3;

/** After a statement without an answer, nothing is asked for this time, and then one statement at a time. */
const AWAY_MS = 500;

/** A row that is missing is made and then asked again; others may remove it meanwhile. */
const ROUNDS_MAX = 4;

/** Names an owner in the table: its key, with a keyed hash in place of an address. */
type RowKey = string;

function rowKeys(hash: AddressHash): (owner: OwnerKey) => RowKey {
  const hashed = remembered((owner) => `bucket:${hash(owner)}`);
  return (owner) => (owner.startsWith("bucket:") ? hashed(owner) : owner);
}

/** What one request wants to have counted; null: nothing of the kind, or no limit. */
interface CountTerms extends QuotaLimits {
  readonly rate: number | null;
  readonly units: number | null;
  readonly day: number;
}

const NO_UNITS = { units: null, daily: null, monthly: null };

interface CounterRow {
  readonly owner: RowKey;
  readonly seen_ms: number;
  readonly opened_ms: number;
  readonly used: number;
  /** Of the requests asked for, how many the rate granted, and how many of those got their units. */
  readonly passed: number;
  readonly taken: number;
  readonly day: number;
  readonly in_day: number;
  readonly in_month: number;
}

interface Group {
  readonly owner: OwnerKey;
  readonly row: RowKey;
  readonly terms: CountTerms;
  readonly askers: {
    readonly answer: (taking: RequestTaking) => void;
    readonly fail: (fault: unknown) => void;
  }[];
}

/** Counts what came together together. See docs/decisions/0004-counters.md for its figures. */
class GatheredCounts {
  readonly #deps: SharedCountersDeps;
  /** Requests that wait, by owner and what is to be counted. */
  readonly #waiting = new Map<string, Group>();
  /** Rows that are counted in a session of the general pool, in one statement each. */
  readonly #alone = new Set<RowKey>();
  #underWay = 0;
  #isArmed = false;
  #sentAtMs = -Infinity;
  #awayUntilMs: number | undefined;

  constructor(deps: SharedCountersDeps) {
    this.#deps = deps;
  }

  count(owner: OwnerKey, row: RowKey, terms: CountTerms): Promise<RequestTaking> {
    if (this.#isAway()) return Promise.reject(new StoreDown("PostgreSQL does not serve"));
    return new Promise((answer, fail) => {
      const { rate, units, daily, monthly, day } = terms;
      const key = [owner, rate, units, daily, monthly, day].join(" ");
      const group = this.#waiting.get(key);
      const asker = { answer, fail };
      if (group === undefined) this.#waiting.set(key, { owner, row, terms, askers: [asker] });
      else group.askers.push(asker);
      this.#arm();
    });
  }

  #isAway(): boolean {
    if (this.#awayUntilMs === undefined) return false;
    return this.#underWay > 0 || this.#deps.clock.monotonicMs() < this.#awayUntilMs;
  }

  #arm(): void {
    if (this.#isArmed || this.#underWay >= STATEMENTS_MAX || this.#waiting.size === 0) return;
    this.#isArmed = true;
    const { clock } = this.#deps;
    const send = (): void => {
      this.#isArmed = false;
      this.#send();
    };
    const waitMs = this.#sentAtMs + BATCH_EVERY_MS - clock.monotonicMs();
    if (waitMs <= 0 || this.#waiting.size >= OWNERS_MAX) setImmediate(send);
    else clock.after(waitMs, send);
  }

  #send(): void {
    const groups = this.#takeOut();
    if (groups.length === 0) return;
    this.#sentAtMs = this.#deps.clock.monotonicMs();
    this.#underWay += 1;
    void this.#run(groups, this.#deps.counting).finally(() => {
      this.#underWay -= 1;
      this.#arm();
    });
    this.#arm();
  }

  /** One group of each row, of one day, in the order of the rows: in another two servers would wait for each other's. */
  #takeOut(): readonly Group[] {
    const groups: Group[] = [];
    const rows = new Set(this.#alone);
    for (const [key, group] of this.#waiting) {
      if (groups.length === OWNERS_MAX) break;
      const isOtherDay = groups.length > 0 && group.terms.day !== groups[0]?.terms.day;
      if (isOtherDay || rows.has(group.row)) continue;
      rows.add(group.row);
      groups.push(group);
      this.#waiting.delete(key);
    }
    return groups.sort((a, b) => (a.row < b.row ? -1 : 1));
  }

  async #run(groups: readonly Group[], sessions: Sessions, round = 1): Promise<void> {
    const { counting, serverMs } = this.#deps;
    try {
      const rows = await sessions.run<CounterRow>(COUNT, valuesOf(groups, serverMs?.()));
      this.#awayUntilMs = undefined;
      const byKey = new Map(rows.map((row) => [row.owner, row]));
      const missing: Group[] = [];
      for (const group of groups) {
        const row = byKey.get(group.row);
        if (row === undefined || row.day < 0) missing.push(group);
        else answerAll(group, row);
      }
      if (missing.length === 0) return;
      groups = missing;
      await this.#fill(groups, sessions, round);
    } catch (fault) {
      if (sessions === counting && isContended(fault)) {
        for (const group of groups) void this.#runAlone(group);
      } else this.#fail(groups, fault);
      return;
    }
    await this.#run(groups, sessions, round + 1);
  }

  async #runAlone(group: Group): Promise<void> {
    this.#alone.add(group.row);
    await this.#run([group], this.#deps.general);
    this.#alone.delete(group.row);
    this.#arm();
  }

  async #fill(groups: readonly Group[], sessions: Sessions, round: number): Promise<void> {
    if (round === ROUNDS_MAX) throw new Error("counters: a row is removed again and again");
    await untilLedgerIsWhole(sessions, this.#deps.clock);
    for (const { owner } of groups) await this.#deps.journal.written(owner);
    await sessions.run(FILL, fillValues(groups, groups[0]?.terms.day ?? 0));
  }

  #fail(groups: readonly Group[], fault: unknown): void {
    const failed = [...groups];
    if (fault instanceof StoreDown && !isContended(fault)) {
      this.#awayUntilMs = this.#deps.clock.monotonicMs() + AWAY_MS;
      failed.push(...this.#waiting.values());
      this.#waiting.clear();
    }
    for (const { askers } of failed) for (const { fail } of askers) fail(fault);
  }
}

async function untilLedgerIsWhole(
  sessions: Sessions,
  clock: SharedCountersDeps["clock"],
): Promise<void> {
  const [{ age_ms: ageMs } = { age_ms: 0 }] = await sessions.run<{ age_ms: number }>(SINCE, []);
  if (ageMs < 0 || ageMs >= WRITTEN_WITHIN_MS) return;
  await new Promise<void>((resolve) => void clock.after(WRITTEN_WITHIN_MS - ageMs, resolve));
}

const valuesOf = (
  groups: readonly (Pick<Group, "row" | "terms"> & { askers: { length: number } })[],
  nowMs?: number,
): readonly unknown[] => {
  const day = groups[0]?.terms.day ?? 0;
  return [
    groups.map(({ row }) => row),
    groups.map(({ askers }) => askers.length),
    ...(["rate", "units", "daily", "monthly"] as const).map((name) =>
      groups.map(({ terms }) => terms[name]),
    ),
    day,
    monthStart(day),
    nowMs ?? null,
  ];
};

const fillValues = (
  of: readonly Pick<Group, "owner" | "row">[],
  day: number,
): readonly unknown[] => [
  of.map(({ owner }) => owner),
  day,
  monthStart(day),
  nextMonthStart(day),
  of.map(({ row }) => row),
];

function answerAll({ terms, askers }: Group, row: CounterRow): void {
  const { rate, units, day } = terms;
  const spent = unitOf(terms, row);
  const closesInMs = row.opened_ms + RATE_WINDOW_MS - row.seen_ms;
  for (const [at, { answer }] of askers.entries()) {
    const isGranted = at < row.passed;
    const used = isGranted ? row.used - row.passed + at + 1 : row.used;
    const remaining = Math.max(0, (rate ?? 0) - used);
    const unit = at < row.taken ? ({ kind: "taken", day } as const) : spent;
    answer({
      rate: rate === null ? undefined : { isGranted, remaining, closesInMs, window: row.opened_ms },
      unit: isGranted && units !== null ? unit : undefined,
    });
  }
}

/** Of a request that got no units; undefined: the row counts a later day, and only the ledger can say. */
function unitOf({ monthly, units, day }: CountTerms, row: CounterRow): QuotaSpent | undefined {
  if (row.day > day) return undefined;
  const isMonth = monthly !== null && row.in_month + (units ?? 0) > monthly;
  return { kind: "spent", period: isMonth ? "month" : "day" };
}

/** Counts that all servers share; see docs/decisions/0004-counters.md. */
export class SharedCounters {
  readonly #deps: SharedCountersDeps;
  readonly #rowOf: (owner: OwnerKey) => RowKey;
  readonly #gathered: GatheredCounts;
  /** Owners that are over their rate are refused without a question until their window closes. */
  readonly #spent = new LRUCache<OwnerKey, { limit: number; untilMs: number }>(entriesUpTo(50_000));

  constructor(deps: SharedCountersDeps) {
    this.#deps = deps;
    this.#rowOf = rowKeys(deps.hash);
    this.#gathered = new GatheredCounts(deps);
  }

  readonly rates: RateCounter = {
    take: async (owner, limit) => {
      const day = dayOf(this.#deps.clock.nowMs());
      const { rate } = await this.#count(owner, { rate: limit, ...NO_UNITS, day });
      if (rate === undefined) throw new Error("counters: no answer to a rate");
      return rate;
    },
    spend: (owner, window, more) => this.#quietly(USE, [this.#rowOf(owner), window, more]),
    giveBack: (owner, window) => {
      this.#spent.delete(owner);
      return this.#quietly(USE, [this.#rowOf(owner), window, -1]);
    },
  };

  readonly requests: RequestCounter = {
    take: (owner, { ratePerMinute: rate, daily, monthly }, nowMs) =>
      this.#count(owner, { rate, units: 1, daily, monthly, day: dayOf(nowMs) }),
  };

  readonly quotas: QuotaCounter = {
    take: async (owner, units, { daily, monthly }, nowMs) => {
      const { journal, ledger } = this.#deps;
      const day = dayOf(nowMs);
      const { unit } = await this.#count(owner, { rate: null, units, daily, monthly, day });
      if (unit !== undefined) return unit;
      // The row counts a later day.
      await journal.written(owner);
      const answer = await ledger.take({ owner, units, limits: { daily, monthly }, day });
      if (answer.kind === "taken")
        await this.#quietly(LESS, lessValues(this.#rowOf(owner), -units, day));
      return answer;
    },
    giveBack: (owner, units, day) => {
      this.#deps.journal.add(owner, -units, day);
      return this.#quietly(LESS, lessValues(this.#rowOf(owner), units, day));
    },
  };

  /** Checks the balance first, without a lock, to avoid unpaid work. `countIn` is what counts. */
  async spent({ owner, units, limits, day }: UnitOrder): Promise<QuotaSpent | undefined> {
    const { counting, clock } = this.#deps;
    const { daily, monthly } = limits;
    const [row] = await counting.run<CounterRow>(READ, [this.#rowOf(owner), day]);
    if (row === undefined) {
      await untilLedgerIsWhole(counting, clock); // the transaction that counts is to find or make the row
      return undefined;
    }
    const left = Math.min((daily ?? Infinity) - row.in_day, (monthly ?? Infinity) - row.in_month);
    return units > left ? unitOf({ rate: null, units, daily, monthly, day }, row) : undefined;
  }

  /** Counts units in the transaction that writes their charge to the ledger. */
  async countIn(tx: Tx, order: UnitOrder): Promise<QuotaTaken | QuotaSpent | undefined> {
    const { owner, units, limits, day } = order;
    const terms: CountTerms = { ...limits, rate: null, units, day };
    const row = this.#rowOf(owner);
    const values = valuesOf([{ row, terms, askers: { length: 1 } }]);
    for (let round = 1; round < ROUNDS_MAX; round += 1) {
      const [counted] = await runIn<CounterRow>(tx, COUNT, values);
      if (counted !== undefined && counted.day >= 0) {
        return counted.taken > 0 ? { kind: "taken", day } : unitOf(terms, counted);
      }
      await runIn(tx, FILL, fillValues([{ owner, row }], day));
    }
    throw new StoreDown("the counters are made anew");
  }

  /** Takes units of `day` off again, in the transaction that takes them off the ledger; call it before that. */
  async refundIn(
    tx: Tx,
    owner: OwnerKey,
    units: number,
    day: number,
    today: number,
  ): Promise<void> {
    const row = this.#rowOf(owner);
    await runIn(tx, FILL, fillValues([{ owner, row }], today));
    await runIn(tx, LESS, lessValues(row, units, day));
  }

  async #count(owner: OwnerKey, terms: CountTerms): Promise<RequestTaking> {
    const { clock, journal } = this.#deps;
    const { rate, units, day } = terms;
    const known = rate === null ? undefined : this.#spent.get(owner);
    const closesInMs = (known?.untilMs ?? 0) - clock.monotonicMs();
    if (closesInMs > 0 && (rate ?? 0) <= (known?.limit ?? 0)) {
      return { rate: { isGranted: false, remaining: 0, closesInMs, window: 0 }, unit: undefined };
    }
    const taking = await this.#gathered.count(owner, this.#rowOf(owner), terms);
    if (taking.rate?.isGranted === false) {
      const untilMs = clock.monotonicMs() + taking.rate.closesInMs;
      this.#spent.set(owner, { limit: rate ?? 0, untilMs });
    }
    if (taking.unit?.kind === "taken") journal.add(owner, units ?? 0, day);
    return taking;
  }

  /** Ignores a failure: a unit that is not given back stays counted, and to count too much is safer than too little. */
  #quietly(statement: NamedStatement, values: readonly unknown[]): Promise<void> {
    return this.#deps.counting.run(statement, values).then(
      () => undefined,
      () => undefined,
    );
  }
}

const lessValues = (row: RowKey, units: number, day: number) => [
  row,
  units,
  day,
  nextMonthStart(day),
];

async function runIn<R>(tx: Tx, { sql }: NamedStatement, values: readonly unknown[]) {
  const { rows } = await tx.sql.executeQuery<R>(CompiledQuery.raw(sql, [...values]));
  return rows;
}

/** Removes counters that nobody used for two days, and returns how many. The next use makes them again from the ledger. */
export async function pruneCounters(db: Db, nowMs: number): Promise<number> {
  if (!hasRivals(db)) return 0;
  return pruneSlices(
    db,
    (rowsMax) => raw`
      delete from counters where owner in (
        select owner from counters where owner <> '' and seen_ms < ${nowMs - 2 * DAY_MS}
        limit ${rowsMax} for update skip locked
      )`,
  );
}
