import { type Kysely, sql } from "kysely";
import type { Note } from "./audit.ts";
import type { Clock } from "../base/clock.ts";
import type { Notices } from "../store/notices.ts";
import type { CreditEntryRow, Database } from "../store/schema.ts";
import { findRow, insertRow } from "../store/rows.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

type GrantAnswer =
  | { readonly kind: "granted"; readonly balance: number }
  /** The balance would fall below 0, or rise above what a number holds exactly. Nothing changed. */
  | { readonly kind: "out_of_range"; readonly balance: number }
  | { readonly kind: "no_account" };

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
  await insertRow(tx.sql, "credit_entries", { ...move, sequence, balance_after: balance });
  return balance;
}

export const GRANT_MAX = 1_000_000_000;

export const REASON_MAX = 200;

type CreditAnswer = GrantAnswer | { readonly kind: "bad_amount" | "bad_reason" };

const isAmount = (amount: number): boolean =>
  Number.isSafeInteger(amount) && amount !== 0 && Math.abs(amount) <= GRANT_MAX;

interface CreditsDeps {
  readonly note?: Note;
  readonly clock: Pick<Clock, "nowMs">;
  readonly notices?: Pick<Notices, "tell">;
}

/** An append-only ledger for each account; its sum is the balance. Rules: `test/contracts/account/accounts.ts`. */
export class Credits {
  readonly #db: Kysely<Database>;
  readonly #deps: CreditsDeps;

  constructor(db: Kysely<Database>, deps: CreditsDeps) {
    this.#db = db;
    this.#deps = deps;
  }

  by(note: Note): Credits {
    return new Credits(this.#db, { ...this.#deps, note });
  }

  /** Adds `amount`, or takes it back when it is negative. Can be spent within 5 s. */
  async grant(account_id: string, amount: number, text: string): Promise<CreditAnswer> {
    const { clock, notices, note } = this.#deps;
    const reference = text.trim();
    if (!isAmount(amount)) return { kind: "bad_amount" };
    if (reference.length > REASON_MAX || /\p{Cc}/u.test(reference)) return { kind: "bad_reason" };
    const created_at_ms = clock.nowMs();
    const line = { account_id, amount, reason: "grant", reference, created_at_ms } as const;
    const answer = await inTransaction<GrantAnswer>(this.#db, async (tx) => {
      const balance = await moveCreditsIn(tx, line);
      if (balance !== undefined) return { kind: "granted", balance };
      const account = await findRow(tx.sql, "accounts", { id: account_id });
      if (account === undefined) return { kind: "no_account" };
      return { kind: "out_of_range", balance: account.credit_balance };
    });
    if (answer.kind !== "granted") return answer;
    notices?.tell("accounts");
    const detail = `${String(amount)}${text === "" ? "" : `, ${text}`}`;
    await note?.({ action: "credits.granted", accountId: account_id, detail });
    return answer;
  }

  entries(accountId: string, limit: number): Promise<readonly CreditEntryRow[]> {
    const all = this.#db.selectFrom("credit_entries").selectAll().orderBy("sequence", "desc");
    return all.where("account_id", "=", accountId).limit(limit).execute();
  }
}
