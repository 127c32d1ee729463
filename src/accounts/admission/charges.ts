import type { Ids } from "../../base/ids.ts";
import { type Owner, ownerKey } from "../../base/owner.ts";
import { dayOf } from "../../core/calendar.ts";
import { changeRow, changeRows, insertRow } from "../../store/rows.ts";
import { pruneRows } from "../../store/prune.ts";
import type { ChargeRow, Db } from "../../store/schema.ts";
import { inTransaction, type Tx } from "../../store/transaction.ts";
import { moveCreditsIn } from "../credits.ts";
import type { MemoryQuotaCounter, QuotaReservation } from "./counters.ts";
import type { SharedCounters } from "./shared-counters.ts";
import { countIn, type QuotaLimits, takeUnitsIn } from "./usage.ts";

export interface ChargeTerms {
  readonly owner: Owner;
  /** One for each unique entry. Paid by credits the price is `max(1, units)`. */
  readonly units: number;
  readonly limits: QuotaLimits;
  /** "credits": the request rate is spent, so only they can pay. Never with a bucket. */
  readonly purses: "plan" | "plan_then_credits" | "credits";
  readonly nowMs: number;
}

export interface Charge {
  readonly kind: "charged";
  readonly id: string;
  readonly paidBy: "plan" | "credits";
  readonly units: number;
}

export interface Unpaid {
  readonly kind: "unpaid";
  readonly by: "day" | "month" | "rate";
}

/** A charge that is not written yet. Ends by `drop`, once the transaction that it is written in is over. */
export interface ReservedCharge {
  readonly kind: "reserved";
  readonly terms: ChargeTerms;
  /** The units are counted. Absent where several processes count together: the transaction counts them then. */
  readonly reservation?: QuotaReservation;
  readonly otherwise?: Unpaid;
}

interface ChargesDeps {
  readonly db: Db;
  readonly ids: Ids;
  readonly counter?: Pick<MemoryQuotaCounter, "reserve" | "end" | "forget">;
  readonly shared?: Pick<SharedCounters, "spent" | "countIn" | "refundIn">;
}

interface Price {
  readonly paidBy: "plan" | "credits";
  readonly amount: number;
  readonly day: number;
  readonly isInLedger?: boolean;
}

async function insertCharge(tx: Tx, terms: ChargeTerms, id: string, price: Price): Promise<Charge> {
  const { paidBy, amount, day, isInLedger = false } = price;
  const owner = ownerKey(terms.owner);
  const row = { id, owner, paid_by: paidBy, units: terms.units, amount, refunded: 0, day };
  await insertRow(tx.sql, "charges", { ...row, created_at_ms: terms.nowMs });
  if (!isInLedger) {
    await countIn(tx, { owner, day }, paidBy === "plan" ? { units: amount } : { credits: amount });
  }
  return { kind: "charged", id, paidBy, units: terms.units };
}

/**
 * Charges that must not be lost: bulk requests, and everything paid by credits. One stands or falls with the job or
 * session that it pays for. Rules: `test/contracts/admission/charges.ts`.
 *
 *     const reserved = await charges.reserve(terms);            // before the transaction: it may have to read
 *     try {
 *       return await inTransaction(db, async (tx) => {
 *         const charge = await charges.writeIn(tx, reserved); // may be "unpaid": then tx.abandon()
 *         ...
 *       });
 *     } finally {
 *       charges.drop(reserved);                               // however it ended, the ledger knows
 *     }
 */
export class Charges {
  readonly #deps: ChargesDeps;

  constructor(deps: ChargesDeps) {
    this.#deps = deps;
  }

  async charge(terms: ChargeTerms): Promise<Charge | Unpaid> {
    const reserved = await this.reserve(terms);
    try {
      return await inTransaction(this.#deps.db, async (tx) => {
        const made = await this.writeIn(tx, reserved);
        if (made.kind === "unpaid") tx.abandon();
        return made;
      });
    } finally {
      this.drop(reserved);
    }
  }

  async reserve(terms: ChargeTerms): Promise<ReservedCharge | Unpaid> {
    const { purses, units, limits, nowMs } = terms;
    if (purses === "credits") return { kind: "reserved", terms, otherwise: unpaid("rate") };
    const { counter, shared } = this.#deps;
    const owner = ownerKey(terms.owner);
    const taken =
      (await counter?.reserve(owner, units, limits, nowMs)) ??
      (await shared?.spent({ owner, units, limits, day: dayOf(nowMs) }));
    if (taken === undefined) return { kind: "reserved", terms };
    if (taken.kind === "reserved") return { kind: "reserved", terms, reservation: taken };
    const otherwise = unpaid(taken.period);
    return purses === "plan" ? otherwise : { kind: "reserved", terms, otherwise };
  }

  /** Writes the charge. An `Unpaid` is passed through, so that other refusals can come first. Once per reservation. */
  async writeIn(tx: Tx, reserved: ReservedCharge | Unpaid): Promise<Charge | Unpaid> {
    if (reserved.kind === "unpaid") return reserved;
    const { terms, reservation, otherwise } = reserved;
    if (otherwise !== undefined) return this.#payByCredits(tx, terms, otherwise);
    const { shared, ids } = this.#deps;
    if (shared !== undefined) return this.#payShared(tx, terms, shared);
    if (reservation === undefined) throw new Error("charges: nothing is reserved");
    const price: Price = { paidBy: "plan", amount: reservation.units, day: reservation.day };
    return insertCharge(tx, terms, ids.hex32(), price);
  }

  async #payByCredits(tx: Tx, terms: ChargeTerms, otherwise: Unpaid): Promise<Charge | Unpaid> {
    if (terms.owner.kind !== "account") return otherwise;
    const id = this.#deps.ids.hex32();
    const amount = Math.max(1, terms.units);
    const balance = await moveCreditsIn(tx, {
      account_id: terms.owner.accountId,
      amount: -amount,
      reason: "charge",
      reference: id,
      created_at_ms: terms.nowMs,
    });
    if (balance === undefined) return otherwise;
    return insertCharge(tx, terms, id, { paidBy: "credits", amount, day: dayOf(terms.nowMs) });
  }

  async #payShared(
    tx: Tx,
    terms: ChargeTerms,
    shared: Pick<SharedCounters, "countIn">,
  ): Promise<Charge | Unpaid> {
    const { units, limits, nowMs } = terms;
    const owner = ownerKey(terms.owner);
    const order = { owner, units, limits, day: dayOf(nowMs) };
    const counted = await shared.countIn(tx, order);
    const isInLedger = counted === undefined;
    const taken = counted ?? (await takeUnitsIn(tx, order));
    if (taken.kind === "taken") {
      const price: Price = { paidBy: "plan", amount: units, day: taken.day, isInLedger };
      return insertCharge(tx, terms, this.#deps.ids.hex32(), price);
    }
    const otherwise = unpaid(taken.period);
    return terms.purses === "plan" ? otherwise : this.#payByCredits(tx, terms, otherwise);
  }

  /** Ends the reservation, if there is one: the ledger has the units now or will never have them. */
  drop(reserved: ReservedCharge | Unpaid): void {
    if (reserved.kind === "reserved" && reserved.reservation !== undefined)
      this.#deps.counter?.end(reserved.reservation);
  }

  /**
   * Sees to it that `units` of the charge have been given back in all, to the purse and the day they came
   * from: a second call with the same number changes nothing. All units give the whole price back.
   */
  async refund(chargeId: string, units: number, nowMs: number): Promise<void> {
    await inTransaction(this.#deps.db, (tx) => this.refundIn(tx, chargeId, units, nowMs));
  }

  async refundIn(tx: Tx, chargeId: string, units: number, nowMs: number): Promise<void> {
    // Touching the row makes twins of this refund wait, and see what was given back (PostgreSQL).
    const charge = await changeRow(tx.sql, "charges", { id: chargeId }, { id: chargeId });
    if (charge === undefined) return;
    const target = worth(charge, units);
    const amount = target - charge.refunded;
    if (amount <= 0) return;
    await changeRows(tx.sql, "charges", { id: chargeId }, { refunded: target });
    if (charge.paid_by === "credits") return creditsBack(tx, { charge, amount, nowMs });
    const { owner, day } = charge;
    const { counter, shared } = this.#deps;
    await shared?.refundIn(tx, owner, amount, day, dayOf(nowMs));
    await countIn(tx, charge, { units: -amount });
    counter?.forget(owner); // whoever reads the units anew waits for the connection, which is this transaction's
  }

  /** Forgets charges made before that, which can then not be refunded any more; returns how many. */
  prune(before: number): Promise<number> {
    const pruning = { table: "charges", key: ["id"], column: "created_at_ms" } as const;
    return pruneRows(this.#deps.db, { ...pruning, before });
  }
}

/** What a charge of `units` gave for `refundedUnits` of them; a price of 1 for no units comes back too. */
const worth = (charge: ChargeRow, refundedUnits: number): number =>
  refundedUnits >= charge.units ? charge.amount : refundedUnits;

async function creditsBack(tx: Tx, back: { charge: ChargeRow; amount: number; nowMs: number }) {
  const { charge, amount, nowMs } = back;
  const balance = await moveCreditsIn(tx, {
    account_id: charge.owner.slice("account:".length),
    amount,
    reason: "refund",
    reference: charge.id,
    created_at_ms: nowMs,
  });
  if (balance === undefined) throw new Error(`refund of charge ${charge.id}: no account takes it`);
  await countIn(tx, charge, { credits: -amount });
}

const unpaid = (by: Unpaid["by"]): Unpaid => ({ kind: "unpaid", by });
