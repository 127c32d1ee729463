import type { Kysely } from "kysely";
import { dayOf } from "../../../core/calendar.ts";
import type { Charge, Charges, ChargeTerms, Unpaid } from "../../../ports/admission/charges.ts";
import type { Ids } from "../../../ports/process/ids.ts";
import { ownerKey } from "../../../ports/admission/owner.ts";
import type { QuotaCounter, QuotaHold } from "../../../ports/admission/quota-counter.ts";
import { moveCreditsIn } from "./credit-moves.ts";
import { refundIn } from "./refunds.ts";
import { pruneRows } from "../engine/prune-rows.ts";
import type { Database } from "../engine/schema.ts";
import { inTransaction, type Tx } from "../engine/transaction.ts";
import { countIn } from "./usage-ledger.ts";

/** A charge that is not written yet. Ends with the transaction it is written in, or by `drop`. */
export type HeldCharge =
  /** The units are counted. */
  | { readonly kind: "held"; readonly terms: ChargeTerms; readonly hold: QuotaHold }
  /** Credits are to pay; whether they cover it shows when it is written. */
  | { readonly kind: "held"; readonly terms: ChargeTerms; readonly otherwise: Unpaid };

/**
 * Charges for the adapters of this folder, so that a charge stands or falls with the job or session it pays:
 *
 *     const held = await charges.hold(terms);            // before the transaction: it may have to read
 *     try {
 *       return await inTransaction(db, async (tx) => {
 *         const charge = await charges.writeIn(tx, held); // may be "unpaid": then tx.abandon()
 *         ...
 *       });
 *     } finally {
 *       await charges.drop(held);                         // nothing when the transaction was committed
 *     }
 */
export interface SqlCharges extends Charges {
  /** Takes the units from the counter, or finds that credits are to pay or that nothing can. */
  hold(terms: ChargeTerms): Promise<HeldCharge | Unpaid>;
  /** Writes the charge. An `Unpaid` is passed through, so that other refusals can come first. Once per hold. */
  writeIn(tx: Tx, held: HeldCharge | Unpaid): Promise<Charge | Unpaid>;
  /** Ends a hold that was not written. Nothing for one that was, or for an `Unpaid`. */
  drop(held: HeldCharge | Unpaid): Promise<void>;
  /** As `refund`, inside the transaction that ends the work. */
  refundIn(tx: Tx, chargeId: string, units: number, nowMs: number): Promise<void>;
}

export interface ChargesDeps {
  readonly db: Kysely<Database>;
  readonly counter: QuotaCounter;
  readonly ids: Ids;
}

interface Price {
  readonly paidBy: "plan" | "credits";
  readonly amount: number;
  readonly day: number;
}

async function insertCharge(tx: Tx, terms: ChargeTerms, id: string, price: Price): Promise<Charge> {
  const { paidBy, amount, day } = price;
  const owner = ownerKey(terms.owner);
  const row = { id, owner, paid_by: paidBy, units: terms.units, amount, refunded: 0, day };
  await tx.sql
    .insertInto("charges")
    .values({ ...row, created_at_ms: terms.nowMs })
    .execute();
  await countIn(tx, { owner, day }, paidBy === "plan" ? { units: amount } : { credits: amount });
  return { kind: "charged", id, paidBy, units: terms.units };
}

async function payByCredits(
  tx: Tx,
  ids: Ids,
  { terms, otherwise }: Extract<HeldCharge, { otherwise: Unpaid }>,
): Promise<Charge | Unpaid> {
  if (terms.owner.kind !== "account") return otherwise;
  const id = ids.hex32();
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

async function hold(counter: QuotaCounter, terms: ChargeTerms): Promise<HeldCharge | Unpaid> {
  if (terms.purses === "credits") {
    return { kind: "held", terms, otherwise: { kind: "unpaid", by: "rate" } };
  }
  const owner = ownerKey(terms.owner);
  const taken = await counter.hold(owner, terms.units, terms.limits, terms.nowMs);
  if (taken.kind === "held") return { kind: "held", terms, hold: taken };
  const otherwise: Unpaid = { kind: "unpaid", by: taken.period };
  return terms.purses === "plan" ? otherwise : { kind: "held", terms, otherwise };
}

export function sqlCharges({ db, counter, ids }: ChargesDeps): SqlCharges {
  const drop = async (held: HeldCharge | Unpaid): Promise<void> => {
    if ("hold" in held) await counter.drop(held.hold);
  };
  const writeIn = async (tx: Tx, held: HeldCharge | Unpaid): Promise<Charge | Unpaid> => {
    if (held.kind === "unpaid") return held;
    if ("otherwise" in held) return payByCredits(tx, ids, held);
    const { hold: taken, terms } = held;
    tx.afterCommit(() => counter.keep(taken));
    tx.afterRollback(() => counter.drop(taken));
    // If the result is unknown, counting too much is safer than too little.
    tx.afterUnknown(() => counter.keep(taken));
    const price: Price = { paidBy: "plan", amount: taken.units, day: taken.day };
    return insertCharge(tx, terms, ids.hex32(), price);
  };
  return {
    hold: (terms) => hold(counter, terms),
    writeIn,
    drop,
    refundIn: (tx, chargeId, units, nowMs) => refundIn(tx, counter, { chargeId, units, nowMs }),
    async charge(terms) {
      const held = await hold(counter, terms);
      try {
        return await inTransaction(db, (tx) => writeIn(tx, held));
      } finally {
        await drop(held);
      }
    },
    async refund(chargeId, units, nowMs) {
      await inTransaction(db, (tx) => refundIn(tx, counter, { chargeId, units, nowMs }));
    },
    prune: (beforeMs) =>
      pruneRows(db, { table: "charges", key: ["id"], column: "created_at_ms", before: beforeMs }),
  };
}
