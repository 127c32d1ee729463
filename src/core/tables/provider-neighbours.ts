/**
 * Real names that lie one letter from a large provider and are in no list of free mailboxes: no misspelling.
 * General knowledge, and the hits on the legitimate names at hand (docs/detection.md).
 */
export const REAL_NEIGHBOURS: ReadonlySet<string> = new Set([]);
