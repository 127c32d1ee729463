import type { Elections } from "../../../store/elections.ts";
import type { RateCounter, RequestCounter } from "../../../accounts/admission/rate-counter.ts";
import type { Probe } from "../../../http/system/readiness.ts";
import type { BulkRunnerParts, BulkRunner } from "./bulk-runner.ts";
import type { AccountStore, Ledgers } from "./store.ts";

/** The probe of the database writes, so it is asked no more often. */
export const DATABASE_PROBE_MS = 1_000;

/** What differs between one process on SQLite and many on PostgreSQL. */
export interface Backing {
  /** Whether other processes may serve, check and send beside this one. */
  readonly where: "alone" | "among_others";
  /** For the dashboard's system page: "embedded, by node:sqlite". */
  readonly engine: string;
  readonly store: AccountStore;
  readonly ledgers: Ledgers;
  readonly rates: RateCounter;
  /** Rate, day and month of a check in one step; undefined where they are steps in this process anyway. */
  readonly requests: RequestCounter | undefined;
  /** Decides which process does what only one may do. */
  readonly elections: Elections;
  /** Do the stores answer? By name, as `/readyz` shows them. */
  readonly probes: ReadonlyMap<string, Probe>;
  /** Starts what runs bulk jobs here, or what tells the processes that run them elsewhere. */
  readonly startBulkRunner: (parts: BulkRunnerParts) => BulkRunner;
}
