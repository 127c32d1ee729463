/** What `/account/*` sends, as far as the pages read it. Times are ISO 8601 in UTC. */
import type { Advice } from "../../core/validate/advice.ts";
import type { EntryFault } from "../../core/address/entry.ts";
import type { SaidBy } from "../../core/validate/explain.ts";
import type { FullResult } from "../../core/validate/result.ts";
import type { Signal } from "../../core/evidence/signals.ts";
import type { Fate } from "../../core/batch/tally.ts";

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly tier: string;
  readonly admin: boolean;
  /** Spellings of each mailbox in its own checks are counted. */
  readonly counts_spellings: boolean;
  readonly created_at: string;
}

export interface SessionState {
  /** Whether visitors may make accounts here. */
  readonly signup: "open" | "closed";
  /** Base of the links and of the examples, without a trailing slash. */
  readonly public_url: string;
  readonly version: string;
  /** Parts of this service that pages need and that are set up. */
  readonly parts: readonly Part[];
  /** Absent for a visitor. */
  readonly account?: Account;
}

export type Part = "lists" | "webhooks";

/** `limit` null: no limit. */
export interface Purse {
  readonly used: number;
  readonly limit: number | null;
  readonly resets_at: string;
}

export interface Allowance {
  readonly tier: string;
  readonly day: Purse;
  readonly month: Purse;
  readonly credits: number;
  readonly rate_per_minute: number | null;
  readonly bulk_limit: number | null;
  readonly premium: boolean;
}

export interface EvidenceShape {
  readonly signal: Signal;
  /** 0 to 100. */
  readonly weight: number;
  readonly subject?: string;
  /** Who says so; absent for a visitor. */
  readonly by?: SaidBy;
  readonly lists: readonly ListBehind[];
}

/** One list behind a signal. Null: it came with the program. */
export interface ListBehind {
  readonly id: string;
  readonly curated: boolean;
  /** When the list was first seen to hold the name. */
  readonly since: string | null;
  readonly fetched_at: string | null;
}

export interface DenialFields {
  readonly requires_upgrade?: readonly string[];
  readonly upgrade_url?: string;
  readonly upgrade_message?: string;
  readonly unsupported_features?: readonly string[];
  readonly temporarily_unavailable_features?: readonly string[];
}

export type Result = FullResult & DenialFields;

/** One line of the answer to a check: first the core facts, last everything. */
export interface CheckStep {
  readonly step: "core" | "full";
  readonly result: Result;
  readonly evidence: readonly EvidenceShape[];
  /** What the premium results mean, one piece for each asked check. */
  readonly advice: readonly Advice[];
  readonly fault?: EntryFault;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

export interface UsageDay {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly units: number;
  readonly credits: number;
  readonly requests: number;
  readonly refusals: number;
  /** Requests by latency: one count for each edge and one for what is above. */
  readonly latency: readonly number[];
}

export interface Usage {
  readonly days: readonly UsageDay[];
  readonly latency_edges_ms: readonly number[];
  readonly allowance: Allowance;
}

export interface CreditEntry {
  readonly amount: number;
  readonly balance_after: number;
  readonly reason: "grant" | "charge" | "refund";
  readonly reference: string;
  readonly created_at: string;
}

export interface Credits {
  readonly balance: number;
  readonly entries: readonly CreditEntry[];
}

export interface Webhook {
  readonly url: string;
  readonly events: readonly string[];
}

export interface WebhookState {
  /** Every event there is. */
  readonly known_events: readonly string[];
  readonly webhook: Webhook | null;
}

export interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly session: string | null;
  /** The receiver's HTTP status; null when none came. */
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
  readonly attempted_at: string;
  /** The first 1 KiB of the answer. */
  readonly response: string | null;
}

export interface Plan {
  readonly name: string;
  readonly rate_per_minute: number | null;
  readonly daily: number | null;
  readonly monthly: number | null;
  readonly bulk_limit: number | null;
  readonly premium: boolean;
}

export interface SignIn {
  readonly id: string;
  readonly current: boolean;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly client_address: string;
  readonly user_agent: string;
}

export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly actor: string;
  readonly subject: string;
  readonly detail: string;
  readonly client_address: string;
}

export interface AdminAccount extends Account {
  readonly credits: number;
  readonly disabled: boolean;
  readonly origin: string;
}

export interface SystemState {
  readonly version: string;
  readonly node: string;
  readonly started_at: string;
  readonly probes: readonly { readonly name: string; readonly ok: boolean }[];
  readonly facts: readonly { readonly name: string; readonly value: string }[];
}

/** One entry of a finished list. */
export interface ListRow {
  readonly entry: string;
  readonly fate: Fate;
  readonly confidence: number;
  readonly signals: readonly Signal[];
}
