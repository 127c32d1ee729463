import type { Kysely } from "kysely";
import type { ListTopic, ListWord } from "../core/evidence/rule.ts";
import type { BulkTables } from "./tables/bulk.ts";
import type { PolicyTables } from "./tables/policy.ts";
import type { WatchEventRow, WatchTables } from "./tables/watch.ts";

export interface Database extends BulkTables, PolicyTables, WatchTables {
  accounts: AccountRow;
  api_keys: ApiKeyRow;
  credit_entries: CreditEntryRow;
  login_sessions: SignInRow;
  audit_entries: AuditEntryRow;
  guesses: { key: string; tries: number; last_ms: number; next_ms: number };
  list_files: { name: string; version: string; content: Uint8Array; changed_at_ms: number };
  installation: { name: string; value: string };
  operator_entries: RuleRow;
  operator_changes: { id: number; changes: number };
  traffic: TrafficTableRow;
  domain_mail: DomainMailRow;
  /** Without `registered_at_ms` the registry has no such domain, or no date for it. */
  registrations: { domain: string; registered_at_ms: number | null; expires_at_ms: number };
  usage_days: UsageDayRow;
  /** A process that adds to `usage_days`, and the last batch of it that was written. */
  usage_writers: { writer: string; batch: number; day: number };
  charges: ChargeRow;
  /** Written by 0.3.0 alone. */
  hour_counts: { account_id: string };
  /** Written by 0.3.0 alone. */
  refusal_counts: { account_id: string };
  /** `events` stand between commas; "" is all. */
  webhook_endpoints: { account_id: string; url: string; events: string; sealed_secret: string };
  webhook_deliveries: WebhookDeliveryRow;
  /** One row, with id 1: a claim updates it first, so that processes claim one after the other. */
  webhook_claims: { id: number; claims: number };
  schema_migrations: { number: number; name: string; applied_at_ms: number };
}

export type Db = Kysely<Database>;

export interface AccountRow {
  id: string;
  email: string;
  tier: "free" | "starter" | "pro";
  origin: "operator" | "signup";
  /** 0 or 1: SQLite binds no booleans. */
  admin: number;
  /** Always the sum of the account's `credit_entries.amount`; both change in one statement's transaction. */
  credit_balance: number;
  credit_entries: number;
  password_hash: string | null;
  disabled_at_ms: number | null;
  token_secret: string | null;
  second_factor: string | null;
  traffic_since: number;
  decision_log: number;
  limits: string | null;
  created_at_ms: number;
}

export interface ApiKeyRow {
  id: string;
  account_id: string;
  name: string;
  key_hash: string;
  prefix: string;
  last_four: string;
  created_at_ms: number;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
  /** JSON array of a publishable key's origins; null: the key is a secret one. */
  origins: string | null;
  /** JSON of a publishable key's `PageTerms`; null: the standard ones. */
  page: string | null;
}

/** Append-only: no row is ever changed, and none is deleted while its account exists. */
export interface CreditEntryRow {
  account_id: string;
  sequence: number;
  amount: number;
  balance_after: number;
  reason: "grant" | "charge" | "refund";
  reference: string;
  created_at_ms: number;
}

export interface SignInRow {
  id: string;
  account_id: string;
  token_hash: string;
  created_at_ms: number;
  last_seen_at_ms: number;
  expires_at_ms: number;
  client_address: string;
  user_agent: string;
}

export interface AuditEntryRow {
  id: string;
  at_ms: number;
  action: string;
  actor_id: string;
  account_id: string;
  detail: string;
  client_address: string;
}

export interface RuleRow {
  subject: string;
  topic: ListTopic;
  word: ListWord;
  note: string;
  author: string;
  created_at_ms: number;
  expires_at_ms: number | null;
}

export interface TrafficTableRow {
  account_id: string;
  /** The hash of a mailbox, a domain or a mail host; no two accounts share one. */
  subject: string;
  kind: TrafficKind;
  item: string;
  first_ms: number;
  last_ms: number;
  /** What one process counted in this minute or hour; 0 for other kinds. */
  count: number;
}

export type TrafficKind =
  | "spelling"
  | "mailbox"
  | "name"
  | "domain"
  | "new_domain"
  | "message"
  | "sent"
  | "minute"
  | "hour"
  | "source"
  | "shape_minute"
  | "shape_day";

export interface DomainMailRow {
  domain: string;
  /** Separated by blanks, as no name and no address holds one. */
  hosts: string;
  addresses: string;
  disposable: number;
  day: number;
}

export interface UsageDayRow {
  owner: string;
  day: number;
  units: number;
  credits: number;
  requests: number;
  refusals: number;
}

/** What a bulk request, or a request paid by credits, took. Single checks on the plan have no row. */
export interface ChargeRow {
  id: string;
  owner: string;
  paid_by: "plan" | "credits";
  units: number;
  amount: number;
  refunded: number;
  /** The UTC day whose counter was moved, in days since the Unix epoch. */
  day: number;
  created_at_ms: number;
}

export interface WebhookDeliveryRow {
  id: string;
  account_id: string;
  event:
    | "bulk.completed"
    | "gate.alert"
    | "gate.wave"
    | "service.health"
    | "test.ping"
    | WatchEventRow["kind"];
  session: string | null;
  data: string;
  state: "queued" | "sending" | "done" | "removed" | "interrupted" | "dropped";
  queued_at_ms: number;
  attempted_at_ms: number | null;
  duration_ms: number | null;
  status: number | null;
  error: string | null;
  snippet: string | null;
}

/** SQLite cuts text at NUL when it compares, and PostgreSQL refuses it: each NUL is stored and looked for as U+FFFD. */
export const withoutNul = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;
