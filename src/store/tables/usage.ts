/** Tables of what owners used: the truth behind the quota counters, and the dashboard's charts. */
export interface UsageTables {
  usage_days: UsageDayRow;
  charges: ChargeRow;
  usage_writers: UsageWriterRow;
  hour_counts: HourCountRow;
}

/** What one account did in one hour. */
export interface HourCountRow {
  account_id: string;
  /** Since the Unix epoch. */
  hour: number;
  kind: string;
  count: number;
}

/** One owner's UTC day. */
export interface UsageDayRow {
  /** "account:<id>" or "bucket:<bucket>". */
  owner: string;
  /** Days since the Unix epoch. */
  day: number;
  /** Taken from the plan; refunds are taken off. */
  units: number;
  /** Credits spent; refunds are taken off. */
  credits: number;
  requests: number;
  refusals: number;
  latency_le_10: number;
  latency_le_50: number;
  latency_le_100: number;
  latency_le_500: number;
  latency_le_1000: number;
  latency_le_5000: number;
  latency_more: number;
}

/** What a bulk request, or a request paid by credits, took. Single checks on the plan have no row. */
export interface ChargeRow {
  id: string;
  owner: string;
  paid_by: "plan" | "credits";
  units: number;
  /** Units, or credits, that were taken. */
  amount: number;
  /** How much of `amount` was given back. */
  refunded: number;
  /** The UTC day whose counter was moved, in days since the Unix epoch. */
  day: number;
  created_at_ms: number;
}

/** A process that adds to `usage_days`, and the last batch of it that was written. */
export interface UsageWriterRow {
  /** Random, new with each start. */
  writer: string;
  /** From 1. */
  batch: number;
  /** The last day that was counted. */
  day: number;
}
