import { moveCreditsIn } from "./credit-moves.ts";
import type { ChargeRow } from "../../store/tables/usage.ts";
import type { Tx } from "../../store/transaction.ts";
import type { QuotaCounter } from "./quota-counter.ts";
import type { SharedCounters } from "./shared-counters.ts";
import { countIn } from "./usage-ledger.ts";

/** Where units are counted; neither in a restore, beside which nobody counts. */
interface Counts {
  readonly counter?: Pick<QuotaCounter, "refunded">;
  readonly shared?: Pick<SharedCounters, "refundIn">;
}

export interface RefundOrder {
  readonly chargeId: string;
  /** Units given back in all, earlier refunds of the charge included. */
  readonly units: number;
  readonly nowMs: number;
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

/** See `Charges.refund`. A charge that is not known, or known no more, is left alone. */
export async function refundIn(
  tx: Tx,
  { counter, shared }: Counts,
  { chargeId, units, nowMs }: RefundOrder,
): Promise<void> {
  // Touching the row makes twins of this refund wait, and see what was given back (PostgreSQL).
  const charge = await tx.sql
    .updateTable("charges")
    .set({ id: chargeId })
    .where("id", "=", chargeId)
    .returningAll()
    .executeTakeFirst();
  if (charge === undefined) return;
  const target = worth(charge, units);
  const amount = target - charge.refunded;
  if (amount <= 0) return;
  await tx.sql
    .updateTable("charges")
    .set({ refunded: target })
    .where("id", "=", chargeId)
    .execute();
  if (charge.paid_by === "credits") return creditsBack(tx, { charge, amount, nowMs });
  const { owner, day } = charge;
  await shared?.refundIn(tx, { owner, units: amount, day, nowMs });
  await countIn(tx, charge, { units: -amount });
  tx.afterCommit(() => counter?.refunded(owner, amount, day));
}
