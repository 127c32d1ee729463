/** Tables of signed-in browsers and of what they changed. */
export interface DashboardTables {
  login_sessions: SignInRow;
  audit_entries: AuditEntryRow;
  guesses: GuessRow;
}

export interface GuessRow {
  key: string;
  tries: number;
  last_ms: number;
  /** No try is granted before. */
  next_ms: number;
}

export interface SignInRow {
  id: string;
  account_id: string;
  /** SHA-256 of the cookie's token, lower-case hex; unique. */
  token_hash: string;
  created_at_ms: number;
  last_seen_at_ms: number;
  expires_at_ms: number;
  client_address: string;
  user_agent: string;
}

/** Append-only; ids of accounts that are gone stay. */
export interface AuditEntryRow {
  id: string;
  at_ms: number;
  action: string;
  actor_id: string;
  account_id: string;
  detail: string;
  client_address: string;
}
