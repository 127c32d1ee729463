import { sql } from "kysely";
import type { CreditEntryRow } from "../../store/tables/accounts.ts";
import type { Tx } from "../../store/transaction.ts";

/**
 * Writes one line of the ledger and moves the balance with it: nothing else may touch either. Returns the
 * new balance; undefined, with nothing changed, when there is no such account or the balance would leave
 * 0 to 2^53 - 1.
 */
export async function moveCreditsIn(
  tx: Tx,
  move: Omit<CreditEntryRow, "sequence" | "balance_after">,
): Promise<number | undefined> {
  const after = sql<number>`credit_balance + ${move.amount}`;
  const moved = await tx.sql
    .updateTable("accounts")
    .set({ credit_balance: after, credit_entries: sql`credit_entries + 1` })
    .where("id", "=", move.account_id)
    .where(after, ">=", 0)
    .where(after, "<=", Number.MAX_SAFE_INTEGER)
    .returning(["credit_balance", "credit_entries"])
    .executeTakeFirst();
  if (moved === undefined) return undefined;
  const { credit_balance: balance, credit_entries: sequence } = moved;
  await tx.sql
    .insertInto("credit_entries")
    .values({ ...move, sequence, balance_after: balance })
    .execute();
  return balance;
}
