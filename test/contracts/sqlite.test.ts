import { memoryRateCounter } from "../../src/accounts/admission/rate-counter.ts";
import { manualClock } from "../time/manual-clock.ts";
import { rateCounterContract } from "./admission/rate-counter.ts";
import { sqlContracts } from "./sql-contracts.ts";

rateCounterContract("memory", () =>
  Promise.resolve({ counter: memoryRateCounter(), clock: manualClock() }),
);

sqlContracts("SQLite", ":memory:");
