import type { Decision } from "../../core/policy/policy.ts";
import type { HookOutcome, HookSystem } from "../../gate/hook-types.ts";

/** Tables of the sign-up gate. */
export interface PolicyTables {
  policies: PolicyRow;
  policy_versions: PolicyVersionRow;
  outcome_counts: OutcomeCountRow;
  shadow_counts: ShadowCountRow;
  shadow_domains: ShadowCountRow;
  hooks: HookRow;
  hook_counts: HookCountRow;
}

/** Stays when the policy is removed, so that no version number is used twice. */
export interface PolicyRow {
  account_id: string;
  name: string;
  live_version: number | null;
  shadow_version: number | null;
  next_version: number;
}

/** No row is ever changed. */
export interface PolicyVersionRow {
  account_id: string;
  name: string;
  version: number;
  /** JSON */
  document: string;
  author: string;
  created_at_ms: number;
}

export interface OutcomeCountRow {
  day: number;
  account_id: string;
  /** "" for none. */
  key_id: string;
  /** "" for none. */
  form: string;
  decision: Decision;
  reason: string;
  count: number;
}

export interface ShadowCountRow {
  account_id: string;
  policy: string;
  version: number;
  day: number;
  live: Decision;
  shadow: Decision;
  /** Of `shadow_counts` always "". */
  domain: string;
  count: number;
}

export interface HookRow {
  id: string;
  account_id: string;
  system: HookSystem;
  policy: string;
  challenge: "accept" | "reject";
  /** Sealed. */
  secret: string;
  jwks_url: string | null;
  /** JSON of a `HookCall`. */
  last_call: string | null;
  last_failure: string | null;
  created_at_ms: number;
}

export interface HookCountRow {
  hook_id: string;
  day: number;
  outcome: HookOutcome;
  count: number;
}
