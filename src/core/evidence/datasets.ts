/** Exact names and the lists that hold them. Names are lower-case A-labels without a trailing dot. */
export interface NameTable {
  /** Bit n is set when list n of `Datasets.sources` holds exactly this name; 0 when none does. */
  sourcesOf(name: string): number;
}

export interface NameSet {
  has(name: string): boolean;
}

/**
 * How much a hit on a feed proves. `curated`: kept by hand, one hit is certain. `uncurated`: collected by machine;
 * such feeds copy each other, so several hits count once. `weak`: as uncurated, with so many honest names that weak
 * feeds alone never decide. `doubtful`: as uncurated, but needs a second feed of any kind beside it to decide.
 */
export type FeedKind = "curated" | "uncurated" | "doubtful" | "weak";

export interface FeedSource {
  readonly id: string;
  readonly kind: FeedKind;
  /** When what is in use was fetched, in milliseconds since the Unix epoch; absent: it came with the program. */
  readonly fetchedAtMs?: number;
}

/** `dedicated`: serves disposable domains and almost nothing else. `shared`: serves some beside others. */
export type MailServerKind = "dedicated" | "shared";

export type OperatorWord = "allow" | "deny";

export type OperatorTrap = "listed" | "recycled" | "pristine";

/** The operator's own lists. Methods answer for exact entries and, unless they say otherwise, the `*.suffix` entries above them. */
export interface Rules {
  domain(name: string): OperatorWord | undefined;
  named(name: string): OperatorWord | undefined;
  mailHost(host: string): OperatorWord | undefined;
  /** `canonical` as `canonicalAddress` gives it. `account` is a known disposable account. */
  address(canonical: string): OperatorWord | "account" | undefined;
  isFeedOff(id: string): boolean;
  trap(subject: string): OperatorTrap | undefined;
  names(): Iterable<string>;
}

export interface Datasets {
  /** Grows with every change of anything below; results of an older version are stale. */
  readonly version: number;
  readonly sources: readonly FeedSource[];
  readonly disposable: NameTable;
  /** Registrable domains with three or more names of curated feeds below them, and the bits of those feeds. */
  readonly families: NameTable;
  /** The start of the UTC day on which list `bit` first held `name`. Undefined when it came with the program. */
  readonly history?: { sinceMs(name: string, bit: number): number | undefined };
  readonly mailServers: { kindOf(host: string): MailServerKind | undefined };
  readonly free: NameSet;
  readonly knownGood: NameSet;
  /** Role local parts (RFC 2142 and common ones), lower case. */
  readonly roles: NameSet;
  readonly operator: Rules;
}
