import type { TestContext } from "node:test";
import { MemoryQuotaCounter } from "../../src/adapters/memory/quota-counter.ts";
import { chargesContract } from "./charges.ts";
import { quotaCounterContract } from "./quota-counter.ts";
import { addAccount, openStores } from "./stores.ts";

quotaCounterContract("memory over SQLite", async (t: TestContext) => {
  const { counter, usage, clock, log } = await openStores(t);
  return {
    counter,
    ledger: usage,
    clock,
    restart: () => new MemoryQuotaCounter({ ledger: usage, clock, log }),
    flushed: () => counter.flush(),
  };
});

chargesContract("SQLite", async (t: TestContext) => {
  const stores = await openStores(t);
  return {
    ...stores,
    account: (balance) => addAccount(stores, balance),
    nowMs: stores.clock.nowMs(),
  };
});
