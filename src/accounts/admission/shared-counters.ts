import { CompiledQuery, type Kysely, sql as raw } from "kysely";
import { DAY_MS, dayOf, monthStart, nextMonthStart } from "../../core/calendar.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { COUNT, SINCE, FILL, READ, LESS, USE, WRITTEN_WITHIN_MS } from "./counter-statements.ts";
import type { QuotaCounter, UnsavedUnits } from "./quota-counter.ts";
import {
  RATE_WINDOW_MS,
  type RateCounter,
  type RateTaking,
  type RequestCounter,
  type RequestTaking,
  SpentWindows,
} from "./rate-counter.ts";
import type { QuotaLimits, QuotaSpent, QuotaTaken, UnitOrder, UsageLedger } from "./usage.ts";
import type { Clock } from "../../base/clock.ts";
import { StoreDown } from "../../base/store-down.ts";
import type { NamedStatement, SessionPool } from "../../store/postgres-pool.ts";
import { sqlState } from "../../store/postgres-fault.ts";
import { pruneSlices } from "../../store/rows.ts";
import type { Database } from "../../store/schema.ts";
import { hasRivals, type Tx } from "../../store/transaction.ts";

type Sessions = Pick<SessionPool, "run">;

interface SharedCountersDeps {
  /** Few sessions that wait for no lock for long. */
  readonly counting: Sessions;
  /** For an owner whose row somebody has locked. */
  readonly patient: Sessions;
  readonly ledger: Pick<UsageLedger, "take">;
  /** Writes the units of single checks to the ledger. */
  readonly journal: Pick<UnsavedUnits, "add" | "written">;
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

/** What one request wants to have counted; null: nothing of the kind, or no limit. */
interface CountTerms extends QuotaLimits {
  readonly rate: number | null;
  readonly units: number | null;
  readonly day: number;
}

interface CounterRow {
  readonly owner: OwnerKey;
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

interface Asker {
  readonly answer: (taking: RequestTaking) => void;
  readonly fail: (fault: unknown) => void;
}

interface Group {
  readonly owner: OwnerKey;
  readonly terms: CountTerms;
  readonly askers: Asker[];
}

/** Counts what came together together. See docs/decisions/0004-counters.md for its figures. */
class GatheredCounts {
  readonly #deps: SharedCountersDeps;
  #groups = new Map<OwnerKey, Group>();
  /** Of owners whose group in `#groups` wants something else, or who are asked alone. */
  #later: Group[] = [];
  readonly #alone = new Set<OwnerKey>();
  #underWay = 0;
  #isArmed = false;
  #sentAtMs = -Infinity;
  #awayUntilMs: number | undefined;

  constructor(deps: SharedCountersDeps) {
    this.#deps = deps;
  }

  count(owner: OwnerKey, terms: CountTerms): Promise<RequestTaking> {
    if (this.#isAway()) return Promise.reject(away());
    return new Promise((answer, fail) => {
      this.#add({ owner, terms, askers: [{ answer, fail }] });
    });
  }

  #isAway(): boolean {
    if (this.#awayUntilMs === undefined) return false;
    return this.#underWay > 0 || this.#deps.clock.monotonicMs() < this.#awayUntilMs;
  }

  #add(group: Group): void {
    const known = this.#groups.get(group.owner);
    if (this.#alone.has(group.owner)) this.#later.push(group);
    else if (known === undefined) this.#groups.set(group.owner, group);
    else if (isSame(known.terms, group.terms)) known.askers.push(...group.askers);
    else this.#later.push(group);
    this.#arm();
  }

  #arm(): void {
    if (this.#isArmed || this.#underWay >= STATEMENTS_MAX || this.#groups.size === 0) return;
    this.#isArmed = true;
    const { clock } = this.#deps;
    const send = (): void => {
      this.#isArmed = false;
      this.#send();
    };
    const waitMs = this.#sentAtMs + BATCH_EVERY_MS - clock.monotonicMs();
    if (waitMs <= 0 || this.#groups.size >= OWNERS_MAX) setImmediate(send);
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

  /** One day's groups in the order of their owners: in different orders two servers would wait for each other's rows. */
  #takeOut(): readonly Group[] {
    const groups: Group[] = [];
    for (const group of this.#groups.values()) {
      if (groups.length === OWNERS_MAX) break;
      if (group.terms.day !== groups[0]?.terms.day && groups.length > 0) continue;
      groups.push(group);
    }
    for (const { owner } of groups) this.#groups.delete(owner);
    this.#addLater();
    return groups.sort((a, b) => (a.owner < b.owner ? -1 : 1));
  }

  #addLater(): void {
    const later = this.#later;
    this.#later = [];
    for (const group of later) this.#add(group);
  }

  async #run(groups: readonly Group[], sessions: Sessions, round = 1): Promise<void> {
    const { counting, serverMs } = this.#deps;
    try {
      const rows = await sessions.run<CounterRow>(COUNT, valuesOf(groups, serverMs?.()));
      this.#awayUntilMs = undefined;
      const byOwner = new Map(rows.map((row) => [row.owner, row]));
      const missing: Group[] = [];
      for (const group of groups) {
        const row = byOwner.get(group.owner);
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

  /** The next of its requests wait until these are answered, so that an owner has one patient session at most. */
  async #runAlone(group: Group): Promise<void> {
    this.#alone.add(group.owner);
    await this.#run([group], this.#deps.patient);
    this.#alone.delete(group.owner);
    this.#addLater();
  }

  async #fill(groups: readonly Group[], sessions: Sessions, round: number): Promise<void> {
    if (round === ROUNDS_MAX) throw new Error("counters: a row is removed again and again");
    await untilNothingIsOwed(sessions, this.#deps.clock);
    for (const { owner } of groups) await this.#deps.journal.written(owner);
    const owners = groups.map(({ owner }) => owner);
    await sessions.run(FILL, fillValues(owners, groups[0]?.terms.day ?? 0));
  }

  #fail(groups: readonly Group[], fault: unknown): void {
    const failed = [...groups];
    if (fault instanceof StoreDown && !isContended(fault)) {
      this.#awayUntilMs = this.#deps.clock.monotonicMs() + AWAY_MS;
      failed.push(...this.#groups.values(), ...this.#later);
      this.#groups = new Map();
      this.#later = [];
    }
    for (const { askers } of failed) for (const { fail } of askers) fail(fault);
  }
}

async function untilNothingIsOwed(
  sessions: Sessions,
  clock: SharedCountersDeps["clock"],
): Promise<void> {
  const [{ age_ms: ageMs } = { age_ms: 0 }] = await sessions.run<{ age_ms: number }>(SINCE, []);
  if (ageMs < 0 || ageMs >= WRITTEN_WITHIN_MS) return;
  await new Promise<void>((resolve) => void clock.after(WRITTEN_WITHIN_MS - ageMs, resolve));
}

const away = (): StoreDown => new StoreDown("PostgreSQL does not serve");

/** Another transaction has a row for longer than the sessions wait, or two wait for each other. */
const isContended = (fault: unknown): boolean =>
  /^(?:55P03|40P01)$/.test(sqlState(fault instanceof StoreDown ? fault.cause : fault) ?? "");

const isSame = (one: CountTerms, other: CountTerms): boolean =>
  one.rate === other.rate &&
  one.units === other.units &&
  one.daily === other.daily &&
  one.monthly === other.monthly &&
  one.day === other.day;

const valuesOf = (groups: readonly Group[], nowMs?: number): readonly unknown[] => {
  const day = groups[0]?.terms.day ?? 0;
  return [
    groups.map(({ owner }) => owner),
    groups.map(({ askers }) => askers.length),
    groups.map(({ terms }) => terms.rate),
    groups.map(({ terms }) => terms.units),
    groups.map(({ terms }) => terms.daily),
    groups.map(({ terms }) => terms.monthly),
    day,
    monthStart(day),
    nowMs ?? null,
  ];
};

const fillValues = (owners: readonly OwnerKey[], day: number): readonly unknown[] => [
  owners,
  day,
  monthStart(day),
  nextMonthStart(day),
];

function answerAll({ terms, askers }: Group, row: CounterRow): void {
  const unit = unitOf(terms, row);
  for (const [at, { answer }] of askers.entries()) {
    const isGranted = at < row.passed;
    const taking: { rate?: RateTaking; unit?: QuotaTaken | QuotaSpent } = {};
    if (terms.rate !== null) {
      const usedHere = isGranted ? row.used - row.passed + at + 1 : row.used;
      taking.rate = {
        isGranted,
        remaining: Math.max(0, terms.rate - usedHere),
        closesInMs: row.opened_ms + RATE_WINDOW_MS - row.seen_ms,
        window: row.opened_ms,
      };
    }
    if (isGranted && terms.units !== null) {
      const answered = at < row.taken ? { kind: "taken" as const, day: terms.day } : unit;
      if (answered !== undefined) taking.unit = answered;
    }
    answer(taking);
  }
}

/** Of a request that got no units; undefined: the row counts a later day, and only the ledger can say. */
function unitOf({ monthly, units, day }: CountTerms, row: CounterRow): QuotaSpent | undefined {
  if (row.day > day) return undefined;
  const isMonth = monthly !== null && row.in_month + (units ?? 0) > monthly;
  return { kind: "spent", period: isMonth ? "month" : "day" };
}

const nothing = (): void => undefined;
const NO_UNITS = { units: null, daily: null, monthly: null };

type UnitsOrder = Pick<UnitOrder, "owner" | "units" | "limits"> & { readonly nowMs: number };

/** Counts that all servers share; see docs/decisions/0004-counters.md. */
export interface SharedCounters {
  readonly rates: RateCounter;
  readonly quotas: Pick<QuotaCounter, "take" | "giveBack">;
  readonly requests: RequestCounter;
  /** What certainly cannot be paid, asked without a lock so that little is done for nothing. */
  spent(order: UnitsOrder): Promise<QuotaSpent | undefined>;
  /** Counts units in the transaction that writes their charge to the ledger. */
  countIn(tx: Tx, order: UnitsOrder): Promise<QuotaTaken | QuotaSpent | undefined>;
  /** Takes units off again, in the transaction that takes them off the ledger; call it before that. */
  refundIn(
    tx: Tx,
    back: { owner: OwnerKey; units: number; day: number; nowMs: number },
  ): Promise<void>;
}

export function sharedCounters(deps: SharedCountersDeps): SharedCounters {
  const { counting, journal, ledger, clock } = deps;
  const gathered = new GatheredCounts(deps);
  const spent = new SpentWindows(clock);
  /** What is not taken off stays counted: too much is safer than too little. */
  const quietly = (statement: NamedStatement, values: readonly unknown[]): Promise<void> =>
    counting.run(statement, values).then(nothing, nothing);

  const count = async (owner: OwnerKey, terms: CountTerms): Promise<RequestTaking> => {
    const refused = spent.find(owner, terms.rate);
    if (refused !== undefined) return { rate: refused };
    const taking = await gathered.count(owner, terms);
    if (taking.rate?.isGranted === false) spent.note(owner, terms.rate ?? 0, taking.rate);
    if (taking.unit?.kind === "taken") journal.add(owner, terms.units ?? 0, terms.day);
    return taking;
  };

  return {
    rates: {
      async take(owner, limit) {
        const day = dayOf(clock.nowMs());
        const { rate } = await count(owner, { ...NO_UNITS, rate: limit, day });
        if (rate === undefined) throw new Error("counters: no answer to a rate");
        return rate;
      },
      spend: (owner, window, more) => quietly(USE, [owner, window, more]),
      giveBack(owner, window) {
        spent.forget(owner);
        return quietly(USE, [owner, window, -1]);
      },
    },
    requests: {
      take: (owner, { ratePerMinute: rate, daily, monthly }, nowMs) =>
        count(owner, { rate, units: 1, daily, monthly, day: dayOf(nowMs) }),
    },
    quotas: {
      async take(owner, units, { daily, monthly }, nowMs) {
        const day = dayOf(nowMs);
        const { unit } = await count(owner, { rate: null, units, daily, monthly, day });
        if (unit !== undefined) return unit;
        // Of a day before the one that the row counts.
        await journal.written(owner);
        const answer = await ledger.take({ owner, units, limits: { daily, monthly }, day });
        if (answer.kind === "taken") await quietly(LESS, lessValues({ owner, units: -units, day }));
        return answer;
      },
      giveBack(owner, units, day) {
        journal.add(owner, -units, day);
        return quietly(LESS, lessValues({ owner, units, day }));
      },
    },
    spent: (order) => spentIn(deps, order),
    countIn,
    async refundIn(tx, { owner, units, day, nowMs }) {
      await runIn(tx, FILL, fillValues([owner], dayOf(nowMs)));
      await runIn(tx, LESS, lessValues({ owner, units, day }));
    },
  };
}

async function spentIn(
  { counting, clock }: SharedCountersDeps,
  { owner, units, limits: { daily, monthly }, nowMs }: UnitsOrder,
): Promise<QuotaSpent | undefined> {
  const day = dayOf(nowMs);
  const [row] = await counting.run<CounterRow>(READ, [owner, day]);
  if (row === undefined) {
    await untilNothingIsOwed(counting, clock); // the transaction that counts is to find or make the row
    return undefined;
  }
  const left = Math.min((daily ?? Infinity) - row.in_day, (monthly ?? Infinity) - row.in_month);
  return units > left ? unitOf({ rate: null, units, daily, monthly, day }, row) : undefined;
}

const lessValues = ({ owner, units, day }: Pick<UnitOrder, "owner" | "units" | "day">) => [
  owner,
  units,
  day,
  nextMonthStart(day),
];

async function runIn<R>(tx: Tx, { sql }: NamedStatement, values: readonly unknown[]) {
  const { rows } = await tx.sql.executeQuery<R>(CompiledQuery.raw(sql, [...values]));
  return rows;
}

async function countIn(
  tx: Tx,
  { owner, units, limits: { daily, monthly }, nowMs }: UnitsOrder,
): Promise<QuotaTaken | QuotaSpent | undefined> {
  const day = dayOf(nowMs);
  const terms: CountTerms = { rate: null, units, daily, monthly, day };
  const values = valuesOf([{ owner, terms, askers: [NOBODY] }]);
  for (let round = 1; round < ROUNDS_MAX; round += 1) {
    const [row] = await runIn<CounterRow>(tx, COUNT, values);
    if (row !== undefined && row.day >= 0) {
      return Number(row.taken) > 0 ? { kind: "taken", day } : unitOf(terms, row);
    }
    await runIn(tx, FILL, fillValues([owner], day));
  }
  throw new StoreDown("the counters are made anew");
}

const NOBODY: Asker = { answer: () => undefined, fail: () => undefined };

/** Rows that nobody asked for in this time are made anew from the ledger when somebody does. */
const KEPT_MS = 2 * DAY_MS;

/** Removes rows of owners that are gone; returns how many. Rows that are in use are skipped. */
export async function pruneCounters(db: Kysely<Database>, nowMs: number): Promise<number> {
  if (!hasRivals(db)) return 0;
  return pruneSlices(
    db,
    (rowsMax) => raw`
      delete from counters where owner in (
        select owner from counters where owner <> '' and seen_ms < ${nowMs - KEPT_MS}
        limit ${rowsMax} for update skip locked
      )`,
  );
}
