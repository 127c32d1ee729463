import { manualClock } from "../time/manual-clock.ts";
import { rateCounterContract } from "./admission/rate-counter.ts";
import { sqlContracts } from "./sql-contracts.ts";
import { memoryRateCounter } from "../../src/accounts/admission/counters.ts";

rateCounterContract("memory", () =>
  Promise.resolve({ counter: memoryRateCounter(), clock: manualClock() }),
);

sqlContracts("SQLite", ":memory:");
