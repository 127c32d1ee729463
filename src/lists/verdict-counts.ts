/** How often one domain was checked on one UTC day, by verdict. Never an address, never who asked. */
export interface VerdictCount {
  /** Days since the Unix epoch, UTC. */
  readonly day: number;
  /** Lower-case A-labels. */
  readonly domain: string;
  readonly disposable: number;
  readonly other: number;
  /** Of both those whose domain has no mail server; absent: none. */
  readonly noMail?: number;
  /** Of both those for which DNS did not say; absent: none. */
  readonly noAnswer?: number;
}

/** Keeps counts for back-tests. Rules are checked by `test/contracts/evidence/verdict-counts.ts`. */
export interface VerdictCounts {
  /**
   * Adds to what is kept, all or nothing; no domain twice for one day. New domains of a day beyond `domainsMax` are
   * left out.
   */
  add(counts: readonly VerdictCount[], domainsMax: number): Promise<void>;
  /** Sums by domain from `fromDay` on, in the order of names after `afterDomain`; at most `limit`. */
  page(
    fromDay: number,
    afterDomain: string,
    limit: number,
  ): Promise<readonly Omit<VerdictCount, "day">[]>;
  /** Of all domains together, from `fromDay` on. */
  sums(fromDay: number): Promise<Required<Omit<VerdictCount, "day" | "domain">>>;
  /** Deletes days before `fromDay`; returns how many rows. */
  prune(fromDay: number): Promise<number>;
}
