/** Tables of accounts, their keys and their money. */
export interface AccountTables {
  accounts: AccountRow;
  api_keys: ApiKeyRow;
  credit_entries: CreditEntryRow;
}

export interface AccountRow {
  id: string;
  /** Lower case; unique. */
  email: string;
  tier: "free" | "starter" | "pro";
  origin: "operator" | "signup";
  /** 0 or 1: SQLite binds no booleans. */
  admin: number;
  /** Always the sum of the account's `credit_entries.amount`; both change in one statement's transaction. */
  credit_balance: number;
  /** How many `credit_entries` there are: the newest one's sequence. */
  credit_entries: number;
  /** PHC string of argon2id; null: sign-in is impossible. */
  password_hash: string | null;
  disabled_at_ms: number | null;
  /** Sealed; null: no token was made yet. */
  token_secret: string | null;
  /** Above 0: its decisions are counted in `traffic`. */
  traffic_since: number;
  /** 0 or 1: its decisions are logged in `decisions`. */
  decision_log: number;
  created_at_ms: number;
}

export interface ApiKeyRow {
  id: string;
  account_id: string;
  name: string;
  /** SHA-256 of the whole key, lower-case hex; unique. */
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
  /** 1 for the account's first entry; no gaps. */
  sequence: number;
  /** Positive: granted or given back; negative: spent or taken back. Never 0. */
  amount: number;
  balance_after: number;
  reason: "grant" | "charge" | "refund";
  /** The operator's words for a grant, else the id of the charge. */
  reference: string;
  created_at_ms: number;
}
