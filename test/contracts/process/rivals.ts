import assert from "node:assert/strict";
import { ACCOUNT, type BulkStores } from "../bulk/bulk-stores.ts";

/** Stores of several processes on one database; all use the account and clock of `first`. */
interface Rivals {
  readonly first: BulkStores;
  readonly all: readonly BulkStores[];
}

export const PROCESSES = 4;

export type Race = (rivals: Rivals) => Promise<void>;

const limits = { daily: 100, monthly: null };

/** The account's balance and the sum of its ledger, which must be the same. */
export async function balanceOf({ first }: Rivals): Promise<number> {
  const entries = await first.credits.entries("a1", 10_000);
  const sum = entries.reduce((total, { amount }) => total + amount, 0);
  const row = await first.sql.db
    .selectFrom("accounts")
    .select(["credit_balance", "credit_entries"])
    .where("id", "=", "a1")
    .executeTakeFirstOrThrow();
  assert.deepEqual([row.credit_balance, row.credit_entries], [sum, entries.length]);
  return sum;
}

export const unitsUsed = async ({ first }: Rivals): Promise<number> => first.unitsUsed();

export const creditTerms = ({ first }: Rivals, units: number) =>
  ({ owner: ACCOUNT, units, limits, purses: "credits", nowMs: first.clock.nowMs() }) as const;

export const grant = ({ first }: Rivals, amount: number) =>
  first.credits.grant("a1", amount, "test");

/** Each process does it `times` times, all at once. */
export const everywhere = <T>(
  { all }: Rivals,
  times: number,
  act: (stores: BulkStores, turn: number) => Promise<T>,
): Promise<T[]> =>
  Promise.all(
    all.flatMap((stores, process) =>
      Array.from({ length: times }, (_, turn) => act(stores, process * times + turn)),
    ),
  );
