/** Identity systems that ask before they create a user. */
export const HOOK_SYSTEMS = [
  "supabase",
  "kratos",
  "zitadel",
  "fusionauth",
  "neon",
  "standard",
] as const;
export type HookSystem = (typeof HOOK_SYSTEMS)[number];

/**
 * How a call ended. `failed_open`: something of ours failed or was spent, and the person was let through.
 * `unauthenticated`: a wrong signature or secret; no decision was made.
 */
export const HOOK_OUTCOMES = ["accepted", "refused", "failed_open", "unauthenticated"] as const;
export type HookOutcome = (typeof HOOK_OUTCOMES)[number];

export interface HookCall {
  readonly atMs: number;
  readonly outcome: HookOutcome;
  /** A plain sentence without an address. */
  readonly why: string;
  readonly durationMs: number;
}

export interface Hook {
  /** 32 hexadecimal digits: the last segment of its URL. */
  readonly id: string;
  readonly accountId: string;
  readonly system: HookSystem;
  readonly policy: string;
  /** What `challenge` and `review` become. */
  readonly challenge: "accept" | "reject";
  /** Sealed. */
  readonly secret: string;
  /** Where the system's public keys are, for systems that sign with one. */
  readonly jwksUrl?: string;
  readonly createdAtMs: number;
}

export interface HookCount {
  readonly day: number;
  readonly hookId: string;
  readonly outcome: HookOutcome;
  readonly count: number;
}

/** What waits to be written of calls. */
export interface HookNews {
  readonly counts: readonly HookCount[];
  /** By hook. */
  readonly lastCalls: ReadonlyMap<string, HookCall>;
  readonly lastFailures: ReadonlyMap<string, HookCall>;
}

export interface HookStanding {
  readonly lastCall?: HookCall;
  /** The newest call that failed open or was unauthenticated. */
  readonly lastFailure?: HookCall;
  readonly counts: Readonly<Record<HookOutcome, number>>;
}

/** Keeps hooks and what came of their calls. Rules are checked by `test/contracts/policy/hooks.ts`. */
export interface Hooks {
  /** Nothing is changed when the account has `limit` hooks, or no policy of the hook's name. */
  create(hook: Hook, limit: number): Promise<"created" | "full" | "no_policy">;
  find(id: string): Promise<Hook | undefined>;
  /** Newest first. */
  list(accountId: string): Promise<readonly Hook[]>;
  setSecret(id: string, sealed: string): Promise<boolean>;
  remove(id: string): Promise<boolean>;
  /** Adds counts and replaces the last calls; hooks that are gone are left out. */
  note(news: HookNews): Promise<void>;
  standing(id: string, fromDay: number): Promise<HookStanding>;
  prune(fromDay: number): Promise<number>;
}
