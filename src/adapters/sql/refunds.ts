import type { QuotaCounter } from "../../ports/quota-counter.ts";
import { moveCreditsIn } from "./credit-moves.ts";
import type { ChargeRow } from "./tables/usage.ts";
import type { Tx } from "./transaction.ts";
import { countIn } from "./usage-ledger.ts";

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
  await countIn(tx, charge, { credits: -amount });
  const balance = await moveCreditsIn(tx, {
    account_id: charge.owner.slice("account:".length),
    amount,
    reason: "refund",
    reference: charge.id,
    created_at_ms: nowMs,
  });
  if (balance === undefined) throw new Error(`refund of charge ${charge.id}: no account takes it`);
}

/** See `Charges.refund`. A charge that is not known, or known no more, is left alone. */
export async function refundIn(
  tx: Tx,
  counter: Pick<QuotaCounter, "refunded">,
  { chargeId, units, nowMs }: RefundOrder,
): Promise<void> {
  const charge = await tx.sql
    .selectFrom("charges")
    .selectAll()
    .where("id", "=", chargeId)
    .executeTakeFirst();
  if (charge === undefined) return;
  const target = worth(charge, units);
  const amount = target - charge.refunded;
  if (amount <= 0) return;
  const claimed = await tx.sql
    .updateTable("charges")
    .set({ refunded: target })
    .where("id", "=", chargeId)
    .where("refunded", "=", charge.refunded)
    .executeTakeFirst();
  // Only on PostgreSQL: another transaction refunded meanwhile, so this one starts over or gives up.
  if (Number(claimed.numUpdatedRows) === 0) {
    throw new Error(`charge ${chargeId}: refunded twice at once`);
  }
  if (charge.paid_by === "credits") return creditsBack(tx, { charge, amount, nowMs });
  await countIn(tx, charge, { units: -amount });
  tx.afterCommit(() => counter.refunded(charge.owner, amount, charge.day));
}
