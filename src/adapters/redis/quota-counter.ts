import { dayOf, monthStart } from "../../core/calendar.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { Ids } from "../../ports/process/ids.ts";
import type { OwnerKey } from "../../ports/admission/owner.ts";
import type {
  QuotaCounter,
  QuotaHold,
  QuotaLimits,
  QuotaSpent,
  QuotaTaken,
} from "../../ports/admission/quota-counter.ts";
import { StoreDown } from "../../ports/process/store-down.ts";
import type { UnitJournal } from "../../ports/admission/unit-journal.ts";
import type { UsageLedger } from "../../ports/admission/usage.ts";
import type { RedisConnection, Reply } from "./connection.ts";
import { countKeys, quotaKey, sinceKey } from "./keys.ts";
import { Owed } from "./owed.ts";
import type { Script } from "./scripts.ts";
import { COUNT, END_HOLD, FILL, FIND, FORGET, GIVE_UNITS_BACK, State } from "./scripts.ts";

export interface QuotaDeps {
  readonly connection: RedisConnection;
  readonly ledger: Pick<UsageLedger, "unitsUsed" | "take">;
  readonly journal: UnitJournal;
  readonly clock: Pick<Clock, "after">;
  readonly ids: Pick<Ids, "hex32">;
  /** "": the server's own clock. */
  readonly time: () => number | "";
}

/** Units of one owner that a request wants. */
export interface Order {
  readonly owner: OwnerKey;
  readonly units: number;
  readonly limits: QuotaLimits;
  readonly day: number;
  /** Absent: the counter sees to the ledger itself. */
  readonly holdId?: string;
}

/** A missing counter is rebuilt; after this many rounds only the ledger is asked. */
const ROUNDS_MAX = 6;

/** Longer than any counter settles for; a clock of the server that steps must not hold a request up. */
const WAIT_MAX_MS = 700;

/**
 * After this time without Redis every process has written what Redis granted it: 250 ms, and an answer
 * that was still on its way.
 */
const WRITTEN_WITHIN_MS = 400;

const SPENT_DAY: QuotaSpent = { kind: "spent", period: "day" };
const SPENT_MONTH: QuotaSpent = { kind: "spent", period: "month" };

export const isEndless = ({ daily, monthly }: QuotaLimits): boolean =>
  daily === null && monthly === null;

/**
 * Quota counts that all processes share, in Redis. A count is a cache of what the ledger holds, what every
 * process is about to write there, and the open holds; see docs/decisions/0010-redis-counters.md. Away from
 * Redis units are taken in the ledger itself, and holds are refused with `StoreDown`.
 */
export class RedisQuotaCounter implements QuotaCounter {
  readonly #deps: QuotaDeps;
  readonly #owed: Owed;
  /** Ids of the holds that are open in Redis. */
  readonly #open = new Map<QuotaHold, string>();
  readonly #filling = new Map<string, Promise<void>>();

  constructor(deps: QuotaDeps) {
    this.#deps = deps;
    const { connection, time } = deps;
    this.#owed = new Owed(deps);
    // After a restart of Redis the first request finds its counter settled.
    connection.beforeUp(() => connection.mend(FIND, [sinceKey(connection.prefix)], [time()]));
  }

  take(
    owner: OwnerKey,
    units: number,
    limits: QuotaLimits,
    nowMs: number,
  ): Awaitable<QuotaTaken | QuotaSpent> {
    const day = dayOf(nowMs);
    // Nothing to compare with: the ledger alone has to know.
    if (isEndless(limits)) return this.taken({ owner, units, limits, day });
    return this.#take({ owner, units, limits, day });
  }

  /** The answer of `COUNT` to the order's call; undefined if Redis did not answer. */
  async unitOf(
    order: Order,
    reply: NonNullable<Reply>,
  ): Promise<QuotaTaken | QuotaSpent | undefined> {
    const state = finalOf(reply) ?? (await this.settle(order, reply));
    if (state === undefined) this.isUnsure(order.owner);
    return state === "taken" ? this.taken(order) : state;
  }

  /** A call was not answered: Redis may have counted units that were not granted. */
  isUnsure(owner: OwnerKey): void {
    this.#owed.add(owner);
  }

  /** Notes units that `COUNT` has counted. */
  taken({ owner, units, day }: Order): QuotaTaken {
    this.#deps.journal.add(owner, units, day);
    return { kind: "taken", day };
  }

  async giveBack(owner: OwnerKey, units: number, day: number): Promise<void> {
    const { journal, time } = this.#deps;
    const values = [time(), units, day, monthStart(day)];
    const reply = await this.#run(GIVE_UNITS_BACK, owner, values);
    journal.add(owner, -units, day);
    if (reply === undefined) this.#owed.add(owner);
  }

  async hold(
    owner: OwnerKey,
    units: number,
    limits: QuotaLimits,
    nowMs: number,
  ): Promise<QuotaHold | QuotaSpent> {
    const day = dayOf(nowMs);
    const hold: QuotaHold = { kind: "held", owner, units, day };
    if (!this.#deps.connection.isUp) throw away();
    if (isEndless(limits)) return hold;
    const holdId = this.#deps.ids.hex32();
    const state = await this.settle({ owner, units, limits, day, holdId });
    if (state === undefined) {
      this.#owed.add(owner, holdId);
      throw away();
    }
    if (state !== "taken") return state;
    this.#open.set(hold, holdId);
    return hold;
  }

  keep(hold: QuotaHold): Promise<void> {
    return this.#end(hold, "keep");
  }

  drop(hold: QuotaHold): Promise<void> {
    return this.#end(hold, "drop");
  }

  async refunded(owner: OwnerKey): Promise<void> {
    const reply = await this.#run(FORGET, owner, [this.#deps.time()]);
    if (reply === undefined) this.#owed.add(owner);
  }

  /** Writes what waits for the ledger; rejects when the ledger does. */
  flush(): Promise<void> {
    return this.#deps.journal.flush();
  }

  /** Keys and values of `COUNT` for an order, without a rate. */
  valuesOf({ units, limits, day, holdId }: Order): readonly (string | number)[] {
    const { daily, monthly } = limits;
    return [units, daily ?? "", monthly ?? "", day, monthStart(day), holdId ?? ""];
  }

  /** Counts the order, waiting for its counter if need be. Undefined: Redis is away, or its counter is not to be had. */
  async settle(order: Order, first?: Reply): Promise<"taken" | QuotaSpent | undefined> {
    let reply = first;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      reply ??= await this.#count(order);
      if (reply === undefined) return undefined;
      const final = finalOf(reply);
      if (final !== undefined) return final;
      if (reply[4] === State.settling) await this.#wait(Number(reply[5]));
      else await this.#fill(order, String(reply[6]));
      reply = undefined;
    }
    return undefined;
  }

  async #take(order: Order): Promise<QuotaTaken | QuotaSpent> {
    const state = await this.settle(order);
    if (state === undefined) return this.#takeInLedger(order);
    return state === "taken" ? this.taken(order) : state;
  }

  /** One transaction for each unit: slow, and exact among all that do the same. */
  async #takeInLedger({ owner, units, limits, day }: Order): Promise<QuotaTaken | QuotaSpent> {
    const { ledger, journal, connection } = this.#deps;
    this.#owed.add(owner);
    const waitMs = connection.isUp ? 0 : WRITTEN_WITHIN_MS - connection.awayForMs;
    if (waitMs > 0) await this.#wait(waitMs);
    await journal.written(owner); // what this process has granted is in what it compares with
    let isSpent = false;
    try {
      const answer = await ledger.take({ owner, units, limits, day });
      isSpent = answer.kind === "spent";
      return answer;
    } finally {
      // Had Redis come back meanwhile, the debt might have been paid before this was committed. It may have been
      // committed also if the ledger's answer was lost.
      if (!isSpent) this.#owed.add(owner);
    }
  }

  async #end(hold: QuotaHold, how: "keep" | "drop"): Promise<void> {
    const holdId = this.#open.get(hold);
    if (holdId === undefined) return;
    this.#open.delete(hold);
    const reply = await this.#run(END_HOLD, hold.owner, [this.#deps.time(), holdId, how]);
    if (reply === undefined) this.#owed.add(hold.owner, holdId);
  }

  #count(order: Order): Promise<Reply> {
    const { connection, time } = this.#deps;
    const keys = countKeys(connection.prefix, order.owner);
    return connection.run(COUNT, keys, [time(), "", ...this.valuesOf(order)]);
  }

  #run(script: Script, owner: OwnerKey, values: readonly (string | number)[]): Promise<Reply> {
    const { connection } = this.#deps;
    return connection.run(script, [quotaKey(connection.prefix, owner)], values);
  }

  #wait(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#deps.clock.after(Math.min(waitMs, WAIT_MAX_MS), resolve);
    });
  }

  /** Requests that wait for the same counter have it made once. */
  #fill(order: Order, token: string): Promise<void> {
    const name = `${String(order.day)} ${order.owner}`;
    const known = this.#filling.get(name);
    if (known !== undefined) return known;
    const filling = this.#fillFromLedger(order, token).finally(() => this.#filling.delete(name));
    this.#filling.set(name, filling);
    return filling;
  }

  async #fillFromLedger({ owner, day }: Order, token: string): Promise<void> {
    const { connection, ledger, journal, time } = this.#deps;
    // Every other process has written its units while the counter settled; this one may have newer ones.
    await journal.written(owner);
    const { inDay, inMonth } = await ledger.unitsUsed(owner, day);
    const { prefix } = connection;
    const values = [time(), token, day, monthStart(day), inDay, inMonth];
    await connection.run(FILL, [sinceKey(prefix), quotaKey(prefix, owner)], values);
  }
}

function finalOf(reply: NonNullable<Reply>): "taken" | QuotaSpent | undefined {
  if (reply[4] === State.taken) return "taken";
  if (reply[4] === State.day) return SPENT_DAY;
  return reply[4] === State.month ? SPENT_MONTH : undefined;
}

const away = (): StoreDown => new StoreDown("redis", "quota: the shared counters are out of reach");
