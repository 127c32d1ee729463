import { call } from "./client.ts";

/** What the routes of the sign-up gate answer. Times are ISO 8601 in UTC. */

export const DECISIONS = ["accept", "challenge", "review", "reject"] as const;
export type Decision = (typeof DECISIONS)[number];

export interface Rule {
  readonly when: Readonly<Record<string, unknown>>;
  readonly then: Decision;
  readonly reason?: string;
  readonly message?: Readonly<Record<string, string>>;
}

export interface PolicyDocument {
  readonly rules: readonly Rule[];
  readonly else: Decision;
}

export interface Policy {
  readonly name: string;
  readonly built_in: boolean;
  readonly live: number;
  readonly shadow: number | null;
}

export interface PolicyVersion {
  readonly version: number;
  readonly state: "live" | "shadow" | "old";
  readonly author: string | null;
  readonly created_at: string | null;
}

export interface OpenPolicy extends Policy {
  readonly version: number;
  readonly document: PolicyDocument;
  readonly versions: readonly PolicyVersion[];
}

export interface Pair {
  readonly live: Decision;
  readonly shadow: Decision;
  readonly count: number;
}

export interface ShadowState {
  readonly live: number;
  readonly shadow: number | null;
  readonly pairs: readonly Pair[];
  readonly total: number;
  readonly changed: number;
  readonly domains: readonly {
    readonly day: string;
    readonly domain: string;
    readonly live: Decision;
    readonly shadow: Decision;
    readonly count: number;
  }[];
}

type Counts = Readonly<Record<Decision, number>>;

export interface PolicyBackTest {
  readonly days: number;
  readonly domains: number;
  readonly checks: number;
  readonly live: Counts;
  readonly draft: Counts;
  readonly changed_checks: number;
  readonly changed: readonly {
    readonly domain: string;
    readonly live: Decision;
    readonly draft: Decision;
    readonly checks: number;
  }[];
  readonly untestable: readonly { readonly rule: number; readonly facts: readonly string[] }[];
}

export interface Tried {
  readonly entry: string;
  readonly decision: Decision;
  readonly reason: string;
  /** From 0; null: no rule fits. */
  readonly rule: number | null;
  readonly message?: string;
}

export interface Outcomes {
  /** Oldest first. */
  readonly days: readonly ({ readonly day: string } & Counts)[];
  /** As many days before them; fewer when counts do not go back that far. */
  readonly before: readonly ({ readonly day: string } & Counts)[];
  readonly reasons: readonly {
    readonly decision: Decision;
    readonly reason: string;
    readonly count: number;
  }[];
  readonly keys: readonly ({
    readonly key_id: string | null;
    readonly name: string | null;
  } & Counts)[];
  readonly total: number;
}

export interface HookCall {
  readonly at: string;
  readonly outcome: "accepted" | "refused" | "failed_open" | "unauthenticated";
  readonly why: string;
}

export interface Hook {
  readonly id: string;
  readonly system: string;
  readonly url: string;
  readonly policy: string;
  readonly challenge: "accept" | "reject";
  readonly calls: Readonly<Record<HookCall["outcome"], number>>;
  readonly last_call: HookCall | null;
  readonly last_failure: HookCall | null;
}

/** `secret`: null where the system signs with a key of its own. */
export type MadeHook = Hook & { readonly secret: string | null };

export interface HooksState {
  readonly systems: readonly { readonly id: string; readonly name: string }[];
  readonly hooks: readonly Hook[];
}

const at = (name: string, rest = ""): string => `policies/${encodeURIComponent(name)}${rest}`;

export const publishPolicy = (name: string, document: PolicyDocument): Promise<unknown> =>
  call("POST", at(name), { document });
export const shadowPolicy = (name: string, document: PolicyDocument): Promise<unknown> =>
  call("POST", at(name, "/shadow"), { document });
export const endShadow = (name: string): Promise<unknown> => call("DELETE", at(name, "/shadow"));
export const promoteShadow = (name: string): Promise<unknown> => call("POST", at(name, "/promote"));
export const backTestPolicy = (name: string, document: PolicyDocument): Promise<PolicyBackTest> =>
  call("POST", at(name, "/back-test"), { document, days: 30 });

export async function tryPolicy(
  name: string,
  document: PolicyDocument,
  entry: string,
): Promise<Tried | undefined> {
  const body = { document, entries: [entry] };
  const { results } = await call<{ readonly results: readonly Tried[] }>(
    "POST",
    at(name, "/test"),
    body,
  );
  return results[0];
}
