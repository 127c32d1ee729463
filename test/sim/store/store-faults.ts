/** What the store does wrong just now. */
export interface StoreFaults {
  /** Statements and commits of this share fail, as on a full disk. */
  failing: number;
  /** Commits of this share fail. */
  commitsFailing: number;
}

export const NO_FAULTS: StoreFaults = { failing: 0, commitsFailing: 0 };
