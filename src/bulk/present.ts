import type { Tally } from "../core/batch/tally.ts";
import type { Session } from "./session-store.ts";
import type { BulkProgress, BulkStats, CompletedSummary } from "./bulk.ts";

interface Counted {
  readonly session: string;
  readonly total: number;
  readonly unique: number;
  readonly tally: Tally;
}

/** The bulk summary, keys in the contract's order. */
export function statsOf({ session, total, unique, tally }: Counted): BulkStats {
  const { invalidFormat, invalidDns, disposable, valid } = tally;
  return {
    total,
    unique,
    invalid_format: invalidFormat,
    invalid_dns: invalidDns,
    disposable,
    valid,
    session,
  };
}

export function progressOf({ session, state, unique, processed }: Session): BulkProgress {
  const progress = { session, status: state, email_count: unique };
  return state === "pending" ? progress : { ...progress, processed_count: processed };
}

export function summaryOf(session: Session): CompletedSummary {
  const { session: hash, ...counts } = statsOf(session);
  return {
    session: hash,
    status: "completed",
    email_count: session.unique,
    processed_count: session.processed,
    ...counts,
  };
}
