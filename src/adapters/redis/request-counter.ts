import { dayOf } from "../../core/calendar.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { OwnerKey } from "../../ports/admission/owner.ts";
import type { RateCounter } from "../../ports/admission/rate-counter.ts";
import type {
  RequestCounter,
  RequestLimits,
  RequestTaking,
} from "../../ports/admission/request-counter.ts";
import type { RedisConnection, Reply } from "./connection.ts";
import { quotaKey, rateKey, sinceKey } from "./keys.ts";
import { isEndless, type Order, type RedisQuotaCounter } from "./quota-counter.ts";
import { rateOf, takeLocally } from "./rate-counter.ts";
import { COUNT_MANY, State } from "./scripts.ts";

export interface RequestDeps {
  readonly connection: RedisConnection;
  readonly quotas: RedisQuotaCounter;
  readonly local: RateCounter;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** "": the server's own clock. */
  readonly time: () => number | "";
}

/** Requests of one call: above that the server would be busy with them for milliseconds. */
const GATHERED_MAX = 64;

/**
 * Rate, day and month of a request in one call of a script. The requests of one turn of the loop share a call:
 * the way there and back costs several times what the counting does.
 */
export function redisRequestCounter(deps: RequestDeps): RequestCounter {
  const { quotas } = deps;
  const gathered = new Gathered(deps);
  const known = new KnownTerms(quotas);
  return {
    async take(owner, limits, nowMs) {
      const order = { owner, units: 1, limits, day: dayOf(nowMs) };
      const wantsUnit = !isEndless(limits);
      if (limits.ratePerMinute === null && !wantsUnit) return {};
      const reply = await gathered.count(owner, known.termsOf(order));
      if (reply !== undefined) return takingOf(order, reply, quotas);
      if (wantsUnit) quotas.isUnsure(owner);
      return takeWithout(order, deps);
    },
  };
}

type Asked = Order & { readonly limits: RequestLimits };

/** What `COUNT` wants of a request beside its keys, in text; one object for all of one plan and day. */
type Terms = readonly string[];

const NO_UNITS = ["", "", "", "", "", ""] as const;

/** The terms of each plan, today. */
class KnownTerms {
  readonly #quotas: Pick<RedisQuotaCounter, "valuesOf">;
  readonly #known = new WeakMap<RequestLimits, { readonly day: number; readonly terms: Terms }>();

  constructor(quotas: Pick<RedisQuotaCounter, "valuesOf">) {
    this.#quotas = quotas;
  }

  termsOf(order: Asked): Terms {
    const { limits, day } = order;
    const known = this.#known.get(limits);
    if (known?.day === day) return known.terms;
    const values = isEndless(limits) ? NO_UNITS : this.#quotas.valuesOf(order);
    const terms = [limits.ratePerMinute ?? "", ...values].map(String);
    this.#known.set(limits, { day, terms });
    return terms;
  }
}

interface Waiting {
  readonly owner: OwnerKey;
  readonly terms: Terms;
  readonly answer: (reply: Reply) => void;
}

/** Counts what came together together. */
class Gathered {
  readonly #deps: Pick<RequestDeps, "connection" | "time">;
  #waiting: Waiting[] = [];

  constructor(deps: Pick<RequestDeps, "connection" | "time">) {
    this.#deps = deps;
  }

  count(owner: OwnerKey, terms: Terms): Promise<Reply> {
    if (this.#waiting.length === 0) setImmediate(() => void this.#send());
    return new Promise((answer) => {
      this.#waiting.push({ owner, terms, answer });
      if (this.#waiting.length >= GATHERED_MAX) void this.#send();
    });
  }

  async #send(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    if (asked.length === 0) return; // so many came that they have left already
    const { connection, time } = this.#deps;
    const { prefix } = connection;
    const keys = [sinceKey(prefix)];
    // Every argument costs time to write and read, so terms that requests share are sent once.
    const all: Terms[] = [];
    const numbers: string[] = [];
    for (const { owner, terms } of asked) {
      keys.push(rateKey(prefix, owner), quotaKey(prefix, owner));
      const at = all.indexOf(terms);
      numbers.push(String(at < 0 ? all.push(terms) - 1 : at));
    }
    const values = [time(), ...numbers, ...all.flat()];
    const replies = await connection.runGathered(COUNT_MANY, keys, values);
    for (const [at, { answer }] of asked.entries()) answer(replies?.[at] as Reply);
  }
}

function takingOf(
  order: Asked,
  reply: NonNullable<Reply>,
  quotas: RedisQuotaCounter,
): Awaitable<RequestTaking> {
  const rate = order.limits.ratePerMinute === null ? {} : { rate: rateOf(reply) };
  // "none": no unit was wanted, or the rate refused.
  if (reply[4] === State.none) return rate;
  // The charge waits for it: a decision has a deadline, and must know before it who asks.
  if (reply[4] === State.settling) return rate;
  // "taken", the usual answer, needs no further promise.
  if (reply[4] === State.taken) return { ...rate, unit: quotas.taken(order) };
  return quotas
    .unitOf(order, reply)
    .then((unit) => (unit === undefined ? rate : { ...rate, unit }));
}

/** The rate of this process only; the later charge counts the unit. */
async function takeWithout(
  { owner, limits: { ratePerMinute } }: Asked,
  { local, clock }: RequestDeps,
): Promise<RequestTaking> {
  if (ratePerMinute === null) return {};
  return { rate: await takeLocally(local, owner, ratePerMinute, clock.monotonicMs()) };
}
