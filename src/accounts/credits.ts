import { badField, notFound, notNow } from "../base/refusals.ts";
import { sql } from "kysely";
import type { Note } from "./audit.ts";
import type { Clock } from "../base/clock.ts";
import type { Notices } from "../store/notices.ts";
import type { CreditEntryRow, Db } from "../store/schema.ts";
import { findRow, insertRow } from "../store/rows.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

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

const GRANT_MAX = 1_000_000_000;

export const REASON_MAX = 200;

/** The text as it is stored. */
function checkGrant(amount: number, text: string): string {
  if (!Number.isSafeInteger(amount) || amount === 0 || Math.abs(amount) > GRANT_MAX) {
    const most = GRANT_MAX.toLocaleString("en-US");
    throw badField(`The amount is a whole number that is not 0, at most ${most}.`);
  }
  const reference = text.trim();
  if (reference.length <= REASON_MAX && !/\p{Cc}/u.test(reference)) return reference;
  throw badField(`The reason is one line of at most ${String(REASON_MAX)} characters.`);
}

interface CreditsDeps {
  readonly note?: Note;
  readonly clock: Pick<Clock, "nowMs">;
  readonly notices?: Pick<Notices, "tell">;
}

/** An append-only ledger for each account; its sum is the balance. Rules: `test/contracts/account/accounts.ts`. */
export class Credits {
  readonly #db: Db;
  readonly #deps: CreditsDeps;

  constructor(db: Db, deps: CreditsDeps) {
    this.#db = db;
    this.#deps = deps;
  }

  by(note: Note): Credits {
    return new Credits(this.#db, { ...this.#deps, note });
  }

  /** Adds `amount`, or takes it back when it is negative; the new balance. Can be spent within 5 s. Throws a `Refusal`. */
  async grant(account_id: string, amount: number, text: string): Promise<number> {
    const { clock, notices, note } = this.#deps;
    const reference = checkGrant(amount, text);
    const created_at_ms = clock.nowMs();
    const line = { account_id, amount, reason: "grant", reference, created_at_ms } as const;
    const balance = await inTransaction(this.#db, async (tx) => {
      const after = await moveCreditsIn(tx, line);
      if (after !== undefined) return after;
      const account = await findRow(tx.sql, "accounts", { id: account_id });
      if (account === undefined) throw notFound();
      const has = String(account.credit_balance);
      throw notNow(`The account has ${has} credits; the balance stays at 0 or more.`);
    });
    notices?.tell("accounts");
    const detail = `${String(amount)}${text === "" ? "" : `, ${text}`}`;
    await note?.({ action: "credits.granted", accountId: account_id, detail });
    return balance;
  }

  entries(accountId: string, limit: number): Promise<readonly CreditEntryRow[]> {
    const all = this.#db.selectFrom("credit_entries").selectAll().orderBy("sequence", "desc");
    return all.where("account_id", "=", accountId).limit(limit).execute();
  }
}
