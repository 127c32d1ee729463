import type { Decision } from "../core/policy/policy.ts";

/** How often one kind of decision was made for an account on one UTC day. No address, no domain. */
export interface OutcomeCount {
  /** Days since the Unix epoch, UTC. */
  readonly day: number;
  readonly accountId: string;
  /** The key that asked, "hook:ID" for a hook, "" for neither. */
  readonly keyId: string;
  /** The caller's label; "" for none. */
  readonly form: string;
  readonly decision: Decision;
  readonly reason: string;
  count: number;
}

/** How often a live and a shadow version said this of the same entry. */
export interface ShadowCount {
  readonly day: number;
  readonly accountId: string;
  readonly policy: string;
  /** Of the shadow. */
  readonly version: number;
  readonly live: Decision;
  readonly shadow: Decision;
  count: number;
}

/** The same for one domain that the two disagree on. */
export interface ShadowDomain extends ShadowCount {
  readonly domain: string;
}

/** What waits to be written. */
export interface OutcomeBatch {
  readonly outcomes: readonly OutcomeCount[];
  readonly pairs: readonly ShadowCount[];
  readonly domains: readonly ShadowDomain[];
}

export interface OutcomeLimits {
  /** Forms, keys and reasons of one account and day, counted together as rows. */
  readonly rowsMax: number;
  /** Domains of one account, policy, version and day. */
  readonly domainsMax: number;
}

/** Keeps counts of decisions. Rules are checked by `test/contracts/policy/outcomes.ts`. */
export interface Outcomes {
  /**
   * Adds to what is kept, all or nothing. Beyond `rowsMax` a new row counts under the form "(other)" and no key;
   * new domains beyond `domainsMax` are left out.
   */
  add(batch: OutcomeBatch, limits: OutcomeLimits): Promise<void>;
  /** From `fromDay` on. */
  ofAccount(accountId: string, fromDay: number): Promise<readonly OutcomeCount[]>;
  shadowPairs(which: ShadowKey, fromDay: number): Promise<readonly ShadowCount[]>;
  /** Newest day first, then most often first. */
  shadowDomains(which: ShadowKey, fromDay: number): Promise<readonly ShadowDomain[]>;
  /** Deletes days before `fromDay` of shadows and before `outcomesFromDay` of outcomes; returns how many rows. */
  prune(fromDay: number, outcomesFromDay: number): Promise<number>;
}

export type ShadowKey = Pick<ShadowCount, "accountId" | "policy" | "version">;
