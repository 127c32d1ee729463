import { type Kysely, sql } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Notices } from "../store/notices.ts";
import type { CreditEntryRow, Database } from "../store/schema.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

export interface CreditEntry {
  readonly sequence: number;
  readonly amount: number;
  readonly balanceAfter: number;
  readonly reason: "grant" | "charge" | "refund";
  /** The words given with a grant; else the id of the charge. */
  readonly reference: string;
  readonly createdAtMs: number;
}

interface CreditGrant {
  readonly accountId: string;
  readonly amount: number;
  readonly reference: string;
  readonly nowMs: number;
}

type GrantAnswer =
  | { readonly kind: "granted"; readonly balance: number }
  /** The balance would fall below 0, or rise above what a number holds exactly. Nothing changed. */
  | { readonly kind: "out_of_range"; readonly balance: number }
  | { readonly kind: "no_account" };

/** An append-only ledger for each account; its sum is the balance. Rules: `test/contracts/account/accounts.ts`. */
export interface Credits {
  grant(grant: CreditGrant): Promise<GrantAnswer>;
  entries(accountId: string, limit: number): Promise<readonly CreditEntry[]>;
}

/** Writes a line of the ledger and moves the balance with it; undefined, and nothing changed, if it would leave 0 to 2^53 - 1. */
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

export const GRANT_MAX = 1_000_000_000;

export const REASON_MAX = 200;

type CreditAnswer =
  | { readonly kind: "granted"; readonly balance: number }
  | { readonly kind: "out_of_range"; readonly balance: number }
  | { readonly kind: "no_account" }
  | { readonly kind: "bad_amount" }
  | { readonly kind: "bad_reason" };

export interface CreditService {
  /** Adds `amount`, or takes it back when it is negative. Can be spent within 5 s. */
  grant(accountId: string, amount: number, reason: string): Promise<CreditAnswer>;
  entries(accountId: string, limit: number): Promise<readonly CreditEntry[]>;
}

interface CreditServiceDeps {
  readonly notices?: Pick<Notices, "tell">;
  readonly credits: Credits;
  readonly clock: Pick<Clock, "nowMs">;
}

const isAmount = (amount: number): boolean =>
  Number.isSafeInteger(amount) && amount !== 0 && Math.abs(amount) <= GRANT_MAX;

export function createCreditService({ credits, clock, notices }: CreditServiceDeps): CreditService {
  return {
    async grant(accountId, amount, text) {
      const reference = text.trim();
      if (!isAmount(amount)) return { kind: "bad_amount" };
      if (reference.length > REASON_MAX || /\p{Cc}/u.test(reference)) return { kind: "bad_reason" };
      const answer = await credits.grant({ accountId, amount, reference, nowMs: clock.nowMs() });
      if (answer.kind === "granted") notices?.tell("accounts");
      return answer;
    },
    entries: (accountId, limit) => credits.entries(accountId, limit),
  };
}
