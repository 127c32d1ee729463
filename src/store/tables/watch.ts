export interface WatchTables {
  watched: WatchedRow;
  watch_events: WatchEventRow;
  alerts: AlertRow;
}

export interface WatchedRow {
  account_id: string;
  domain: string;
  next_ms: number;
  mail: "yes" | "no" | "unknown";
  mail_since_ms: number;
  /** Days in a row with a definitive no, and when the last of them was; days without an answer do not count. */
  no_days: number;
  no_ms: number;
  /** 0 or 1, as SQLite binds no booleans; -1 before the first look. */
  disposable: number;
  registered_ms: number | null;
}

export interface WatchEventRow {
  account_id: string;
  domain: string;
  kind: "domain.dead" | "domain.back" | "domain.changed_hands" | "domain.disposable";
  at_ms: number;
  told_ms: number | null;
}

export interface AlertRow {
  account_id: string;
  kind: string;
  began_ms: number;
  told_ms: number;
  seen_ms: number;
  count: number;
}
