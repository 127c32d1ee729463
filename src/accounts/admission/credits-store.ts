import type { Kysely } from "kysely";
import type { CreditEntry, Credits } from "./credits.ts";
import { moveCreditsIn } from "./credit-moves.ts";
import type { Database } from "../../store/schema.ts";
import type { CreditEntryRow } from "../../store/tables/accounts.ts";
import { inTransaction } from "../../store/transaction.ts";

function creditEntry(row: CreditEntryRow): CreditEntry {
  const { sequence, amount, reason, reference } = row;
  return {
    sequence,
    amount,
    balanceAfter: row.balance_after,
    reason,
    reference,
    createdAtMs: row.created_at_ms,
  };
}

export function sqlCredits(db: Kysely<Database>): Credits {
  return {
    grant: ({ accountId, amount, reference, nowMs }) =>
      inTransaction(db, async (tx) => {
        const balance = await moveCreditsIn(tx, {
          account_id: accountId,
          amount,
          reason: "grant",
          reference,
          created_at_ms: nowMs,
        });
        if (balance !== undefined) return { kind: "granted", balance };
        const account = await tx.sql
          .selectFrom("accounts")
          .select("credit_balance")
          .where("id", "=", accountId)
          .executeTakeFirst();
        if (account === undefined) return { kind: "no_account" };
        return { kind: "out_of_range", balance: account.credit_balance };
      }),
    async entries(accountId, limit) {
      const rows = await db
        .selectFrom("credit_entries")
        .selectAll()
        .where("account_id", "=", accountId)
        .orderBy("sequence", "desc")
        .limit(limit)
        .execute();
      return rows.map(creditEntry);
    },
  };
}
