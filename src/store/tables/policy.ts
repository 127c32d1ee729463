import type { FeedbackOutcome, HookOutcome, HookSystem } from "../../core/policy/outcomes.ts";
import type { Decision } from "../../core/policy/policy.ts";
import type { PolicyQuestion } from "../../core/policy/default-policy.ts";

export interface PolicyTables {
  policies: PolicyRow;
  policy_versions: PolicyVersionRow;
  outcome_counts: OutcomeCountRow;
  shadow_counts: ShadowCountRow;
  shadow_domains: ShadowCountRow;
  rule_counts: RuleCountRow;
  hooks: HookRow;
  hook_counts: { hook_id: string; day: number; outcome: HookOutcome; count: number };
  feedback: FeedbackRow;
  decisions: DecisionRow;
  waves: WaveRow;
}

export interface RuleCountRow {
  account_id: string;
  policy: string;
  version: number;
  day: number;
  /** From 0; -1: none fits. */
  rule: number;
  count: number;
}

export interface FeedbackRow {
  id: string;
  account_id: string;
  mailbox: string;
  domain: string;
  outcome: FeedbackOutcome;
  day: number;
  note: string;
  /** Read by 0.3.0 alone, as the one below. */
  account_proposal: "";
  operator_proposal: "";
}

export interface DecisionRow {
  account_id: string;
  id: string;
  at_ms: number;
  decision: Decision;
  reason: string;
  rule: number | null;
  policy: string;
  version: number;
  signals: string;
  domain: string | null;
  mailbox: string | null;
  form: string | null;
  key_id: string | null;
  complete: number;
  subject: string | null;
  asked: PolicyQuestion;
  /** "NAME:ID" of each key of `count_by`, separated by blanks; "" for none. */
  sources: string;
  /** Null but at large and free providers. */
  shape: string | null;
}

export interface WaveRow {
  account_id: string;
  began_ms: number;
  /** Null while it lasts; 0.3.0 alone keeps those that ended. */
  ended_ms: number | null;
  /** Messages of the hour to mailboxes that the account never sent to, and the median of its hours. */
  messages: number;
  usual: number;
}

/** Stays when the policy is removed, so that no version number is used twice. */
export interface PolicyRow {
  account_id: string;
  name: string;
  live_version: number | null;
  shadow_version: number | null;
  next_version: number;
}

export interface PolicyVersionRow {
  account_id: string;
  name: string;
  version: number;
  document: string;
  author: string;
  created_at_ms: number;
}

export interface OutcomeCountRow {
  day: number;
  account_id: string;
  key_id: string;
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
  domain: string;
  count: number;
}

export interface HookRow {
  id: string;
  account_id: string;
  system: HookSystem;
  policy: string;
  challenge: "accept" | "reject";
  secret: string;
  jwks_url: string | null;
  last_call: string | null;
  last_failure: string | null;
  created_at_ms: number;
}

export type HookCountRow = PolicyTables["hook_counts"];
