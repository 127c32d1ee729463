import type { Db } from "./schema.ts";
import type { Tx } from "./transaction.ts";

export interface Means {
  /** The key that this database is used with. Throws when the one of the settings is another. */
  readonly secretKey: (db: Db) => Promise<Uint8Array>;
}

/** One step of the schema. A published step is never edited; the next one corrects it. */
export interface Migration {
  readonly name: string;
  /** Statements for both engines, each ended by a semicolon at the end of its line. */
  readonly sql?: string;
  readonly postgres?: string;
  readonly sqlite?: string;
  /** What SQL cannot say, after all statements. It uses `tx` alone, and slices of rows where there may be many. */
  readonly code?: (tx: Tx, means: Means) => Promise<void>;
}

const TABLES = `
create table accounts (
  id text primary key, email text not null unique, tier text not null, origin text not null, admin integer not null,
  credit_balance bigint not null check (credit_balance >= 0), credit_entries bigint not null,
  password_hash text, token_secret text, disabled_at_ms bigint, created_at_ms bigint not null,
  traffic_since bigint not null default 1, decision_log integer not null default 0
);
create table api_keys (
  id text primary key, account_id text not null references accounts (id), name text not null,
  key_hash text not null unique, prefix text not null, last_four text not null,
  created_at_ms bigint not null, last_used_at_ms bigint, revoked_at_ms bigint, origins text, page text
);
create index api_keys_account on api_keys (account_id, created_at_ms);
create table credit_entries (
  account_id text not null references accounts (id), sequence bigint not null,
  amount bigint not null check (amount <> 0), balance_after bigint not null,
  reason text not null, reference text not null, created_at_ms bigint not null,
  primary key (account_id, sequence)
);
create table guesses (
  key text primary key, tries integer not null, last_ms bigint not null, next_ms bigint not null
);
create table login_sessions (
  id text primary key, account_id text not null references accounts (id), token_hash text not null unique,
  created_at_ms bigint not null, last_seen_at_ms bigint not null, expires_at_ms bigint not null,
  client_address text not null, user_agent text not null
);
create index login_sessions_account on login_sessions (account_id);
create table audit_entries (
  id text primary key, at_ms bigint not null, action text not null, actor_id text not null,
  account_id text not null, detail text not null, client_address text not null
);
create index audit_entries_account on audit_entries (account_id, at_ms);
create index audit_entries_at on audit_entries (at_ms);

create table usage_days (
  owner text not null, day integer not null,
  units bigint not null default 0, credits bigint not null default 0,
  requests bigint not null default 0, refusals bigint not null default 0,
  latency_le_10 bigint not null default 0, latency_le_50 bigint not null default 0,
  latency_le_100 bigint not null default 0, latency_le_500 bigint not null default 0,
  latency_le_1000 bigint not null default 0, latency_le_5000 bigint not null default 0,
  latency_more bigint not null default 0,
  primary key (owner, day)
);
create index usage_days_day on usage_days (day);
create table hour_counts (
  account_id text not null, hour integer not null, kind text not null, count bigint not null,
  primary key (account_id, hour, kind)
);
create table usage_writers (writer text primary key, batch bigint not null, day integer not null);
create table charges (
  id text primary key, owner text not null, paid_by text not null, units bigint not null, amount bigint not null,
  refunded bigint not null check (refunded <= amount), day integer not null, created_at_ms bigint not null
);
create index charges_created on charges (created_at_ms);

create table webhook_endpoints (
  account_id text primary key references accounts (id), url text not null, events text not null,
  sealed_secret text not null
);
create table webhook_deliveries (
  id text primary key, account_id text not null references accounts (id), event text not null, session text,
  data text not null, state text not null, queued_at_ms bigint not null, attempted_at_ms bigint,
  duration_ms bigint, status integer, error text, snippet text
);
create index webhook_deliveries_state on webhook_deliveries (state, account_id, queued_at_ms);
create index webhook_deliveries_account on webhook_deliveries (account_id, queued_at_ms);
create index webhook_deliveries_queued on webhook_deliveries (queued_at_ms);
create table webhook_claims (id integer primary key, claims bigint not null);
insert into webhook_claims (id, claims) values (1, 0);

create table jobs (
  session text primary key, owner text not null, client_address text not null, origin text not null,
  state text not null, is_running integer not null, spam_trap integer not null, announced integer not null,
  charge_id text not null, dns_down_since_ms bigint, expires_at_ms bigint, table_header text,
  total bigint not null, unique_count bigint not null, processed bigint not null,
  invalid_format bigint not null, disposable bigint not null, invalid_dns bigint not null, valid bigint not null,
  chunk_count bigint not null, open_chunks bigint not null, accepted_at_ms bigint not null,
  served_turn bigint not null, table_pages bigint not null
);
create unique index jobs_running on jobs (owner) where is_running = 1;
create index jobs_owner on jobs (owner, accepted_at_ms);
create index jobs_expiry on jobs (expires_at_ms);
create index jobs_untold on jobs (expires_at_ms) where announced = 0;
create table chunks (
  session text not null, number integer not null, entries integer not null, available_at_ms bigint,
  lease_worker text, lease_token text, claims integer not null,
  content bytea not null, results bytea, valid bytea, answered text,
  primary key (session, number)
);
create index chunks_open on chunks (session, available_at_ms) where available_at_ms is not null;
create index chunks_leased on chunks (lease_worker) where lease_worker is not null;
create index chunks_answered on chunks (session) where answered is not null;
create table table_pages (
  session text not null, number integer not null, content bytea not null, primary key (session, number)
);
create table bulk_workers (
  worker text primary key, entries_per_second bigint not null, seen_at_ms bigint not null
);
create table retry_keys (
  owner text not null, key text not null, body_hash text not null, token text not null, session text, answer text,
  locked_until_ms bigint not null, primary key (owner, key)
);
create index retry_keys_session on retry_keys (session);
create table account_lists (
  id text primary key, account_id text not null, name text not null, octets bigint not null, row_count bigint not null,
  choice text not null, fixes bytea not null, runs text not null, version bigint not null,
  created_at_ms bigint not null, expires_at_ms bigint not null
);
create index account_lists_account on account_lists (account_id);
create index account_lists_expiry on account_lists (expires_at_ms);
create table account_list_parts (
  list text not null, number integer not null, content bytea not null, primary key (list, number)
);

create table operator_entries (
  subject text not null, topic text not null, word text not null, note text not null, author text not null,
  created_at_ms bigint not null, expires_at_ms bigint, primary key (subject, topic)
);
create table operator_changes (id integer primary key, changes bigint not null);
insert into operator_changes (id, changes) values (1, 0);
create table verdict_counts (
  day integer not null, domain text not null, disposable bigint not null, other bigint not null,
  no_mail integer not null default 0, no_answer integer not null default 0, primary key (day, domain)
);
create index verdict_counts_domain on verdict_counts (domain);
create table traffic (
  account_id text not null, subject text not null, kind text not null, item text not null,
  first_ms bigint not null, last_ms bigint not null, primary key (account_id, subject, kind, item)
);
create index traffic_oldest on traffic (account_id, last_ms);
create index traffic_kind on traffic (kind, last_ms);
create table domain_mail (
  domain text primary key, hosts text not null, addresses text not null, disposable integer not null,
  day integer not null
);
create index domain_mail_day on domain_mail (day);
create table registrations (domain text primary key, registered_at_ms bigint, expires_at_ms bigint not null);
create index registrations_expires on registrations (expires_at_ms);
create table list_files (
  name text primary key, version text not null, content bytea not null, changed_at_ms bigint not null
);
create table installation (name text primary key, value text not null);

create table policies (
  account_id text not null, name text not null, live_version integer, shadow_version integer,
  next_version integer not null, primary key (account_id, name)
);
create table policy_versions (
  account_id text not null, name text not null, version integer not null, document text not null,
  author text not null, created_at_ms bigint not null, primary key (account_id, name, version)
);
create table outcome_counts (
  day integer not null, account_id text not null, key_id text not null, form text not null, decision text not null,
  reason text not null, count bigint not null,
  primary key (account_id, day, key_id, form, decision, reason)
);
create index outcome_counts_day on outcome_counts (day);
create table shadow_counts (
  account_id text not null, policy text not null, version integer not null, day integer not null,
  live text not null, shadow text not null, domain text not null default '', count bigint not null,
  primary key (account_id, policy, version, day, live, shadow, domain)
);
create index shadow_counts_day on shadow_counts (day);
create table shadow_domains (
  account_id text not null, policy text not null, version integer not null, day integer not null,
  live text not null, shadow text not null, domain text not null default '', count bigint not null,
  primary key (account_id, policy, version, day, live, shadow, domain)
);
create index shadow_domains_day on shadow_domains (day);
create table hooks (
  id text primary key, account_id text not null, system text not null, policy text not null,
  challenge text not null, secret text not null, jwks_url text, last_call text, last_failure text,
  created_at_ms bigint not null
);
create index hooks_account on hooks (account_id);
create table feedback (
  account_id text not null, id text not null, mailbox text not null, domain text not null, outcome text not null,
  day integer not null, note text not null, account_proposal text not null, operator_proposal text not null,
  primary key (account_id, id)
);
create index feedback_mailbox on feedback (account_id, mailbox);
create index feedback_domain on feedback (account_id, domain);
create index feedback_proposed on feedback (domain) where operator_proposal <> '';
create index feedback_day on feedback (day);
create table decisions (
  account_id text not null, id text not null, at_ms bigint not null, decision text not null, reason text not null,
  rule integer, policy text not null, version integer not null, signals text not null, domain text, mailbox text,
  form text, key_id text, complete integer not null, primary key (account_id, id)
);
create index decisions_at on decisions (at_ms);
create table hook_counts (
  hook_id text not null, day integer not null, outcome text not null, count bigint not null,
  primary key (hook_id, day, outcome)
);
create index hook_counts_day on hook_counts (day);
`;

/** One process alone counts in memory. Unlogged: after a crash of PostgreSQL the rows are made anew from `usage_days`. */
const COUNTERS = `
create unlogged table counters (
  owner text primary key, seen_ms bigint not null, opened_ms bigint not null, used integer not null,
  day integer not null, in_day bigint not null, in_month bigint not null,
  passed integer not null, taken integer not null, times integer not null,
  rate integer, units integer, daily bigint, monthly bigint
) with (fillfactor = 50);
`;

/** Counters of 0.2.0 lack the row that says that they are whole; with it nothing waits for the ledger. */
const COUNTERS_WHOLE = `
insert into counters (owner, seen_ms, opened_ms, used, day, in_day, in_month, passed, taken, times)
values ('', 0, 0, 0, 0, 0, 0, 0, 0, 0) on conflict do nothing;
`;

/** Messages that accounts ask about, and when far more of them than usual went out. */
const MESSAGES_SENT = `
alter table traffic add column count bigint not null default 0;
alter table decisions add column asked text not null default 'signup';
create table waves (
  account_id text not null, began_ms bigint not null, ended_ms bigint, messages bigint not null, usual bigint not null,
  primary key (account_id, began_ms)
);
create unique index waves_open on waves (account_id) where ended_ms is null;
`;

const LIST_HISTORY = `
create table list_history (
  id text primary key, account_id text not null, name text not null, row_count bigint not null,
  checked bigint not null, good bigint not null, disposable bigint not null, no_mail bigint not null,
  bad_format bigint not null, charged bigint not null, created_at_ms bigint not null
);
create index list_history_account on list_history (account_id, created_at_ms);
create index list_history_created on list_history (created_at_ms);
`;

/** How often each rule of each version decided; -1 for what no rule fits. Of a shadow, how often it would have. */
const RULE_COUNTS = `
create table rule_counts (
  account_id text not null, policy text not null, version integer not null, day integer not null,
  rule integer not null, count bigint not null, primary key (account_id, policy, version, day, rule)
);
create index rule_counts_day on rule_counts (day);
`;

const REFUSAL_COUNTS = `
create table refusal_counts (
  account_id text not null, day integer not null, key_id text not null, code text not null, count bigint not null,
  primary key (account_id, day, key_id, code)
);
create index refusal_counts_day on refusal_counts (day);
`;

const DECISION_SOURCES = `
alter table decisions add column sources text not null default '';
alter table decisions add column shape text;
`;

const WATCH = `
create table watched (
  account_id text not null, domain text not null, next_ms bigint not null, mail text not null,
  mail_since_ms bigint not null, no_days integer not null, no_ms bigint not null, disposable integer not null,
  registered_ms bigint, primary key (account_id, domain)
);
create index watched_next on watched (next_ms);
create table watch_events (
  account_id text not null, domain text not null, kind text not null, at_ms bigint not null, told_ms bigint,
  primary key (account_id, domain, kind, at_ms)
);
create index watch_events_untold on watch_events (account_id, kind, at_ms) where told_ms is null;
create index watch_events_at on watch_events (account_id, at_ms);
create table alerts (
  account_id text not null, kind text not null, began_ms bigint not null, told_ms bigint not null,
  seen_ms bigint not null, count bigint not null, primary key (account_id, kind)
);
`;

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001-tables", sql: TABLES, postgres: COUNTERS },
  {
    name: "0002-account-limits",
    sql: "alter table accounts add column limits text;",
    postgres: COUNTERS_WHOLE,
  },
  { name: "0003-decision-subjects", sql: "alter table decisions add column subject text;" },
  { name: "0004-messages-sent", sql: MESSAGES_SENT },
  { name: "0005-second-factor", sql: "alter table accounts add column second_factor text;" },
  { name: "0006-list-history", sql: LIST_HISTORY },
  { name: "0007-rule-counts", sql: RULE_COUNTS },
  { name: "0008-refusal-counts", sql: REFUSAL_COUNTS },
  { name: "0009-decision-sources", sql: DECISION_SOURCES },
  { name: "0010-watch", sql: WATCH },
];
