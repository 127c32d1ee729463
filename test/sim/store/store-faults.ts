/** What a shared or embedded store does wrong just now. */
export interface StoreFaults {
  /** Statements and commits of this share fail as on a full disk or a lost session. */
  failing: number;
  /** Commits of this share fail. */
  commitsFailing: number;
  /** Statements in transactions of this share end as one of two that lock each other. */
  conflicting: number;
  /** Each statement takes up to so many milliseconds more. */
  slowMs: number;
  /** No statement is answered before then. */
  silentUntilMs: number;
}

export const NO_FAULTS: StoreFaults = {
  failing: 0,
  commitsFailing: 0,
  conflicting: 0,
  slowMs: 0,
  silentUntilMs: 0,
};

/** What PostgreSQL says to one of two transactions that lock each other. */
export const conflict = (): Error =>
  Object.assign(new Error("simulated: deadlock detected"), { code: "40P01" });
