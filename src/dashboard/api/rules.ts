import type { ListWord } from "../../core/evidence/rule.ts";
import { call } from "./client.ts";

/** What `/account/admin/lists` sends. Times are ISO 8601 in UTC, null for what is absent. */

export interface Source {
  readonly id: string;
  readonly curated: boolean;
  /** 0: nothing of it is in use. */
  readonly names: number;
  readonly from: "fetch" | "package" | "nowhere";
  readonly fetched_at: string | null;
  readonly asked_at: string | null;
  /** Why its last answer was not taken. */
  readonly refused: string | null;
  readonly detail: string | null;
}

export interface Outcome {
  readonly id: string;
  readonly kind: "accepted" | "unchanged" | "refused";
  readonly why: string | null;
  readonly detail: string | null;
}

export interface OwnEntry {
  /** A domain, "*.suffix", "mx:host", or "address:<hash>@domain". */
  readonly entry: string;
  readonly kind: ListWord;
  readonly note: string;
  readonly author: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

export interface FoundEntries {
  readonly entries: readonly OwnEntry[];
  /** How many fit, of which the first are sent. */
  readonly total: number;
}

export interface ReportShape {
  readonly id: string;
  readonly entry: string;
  readonly domain: string;
  readonly wrong: string;
  readonly reason: string;
  readonly created_at: string;
}

export interface OpenReports {
  /** Oldest first. */
  readonly reports: readonly ReportShape[];
  readonly total: number;
}

export interface BackTestShape {
  readonly days: number;
  readonly domains: number;
  readonly checks: number;
  readonly changed_domains: number;
  readonly changed_checks: number;
  /** Those with the most checks. */
  readonly changed: readonly {
    readonly domain: string;
    readonly becomes: "disposable" | "fine";
    readonly checks: number;
  }[];
  readonly untestable: number;
}

/** Why and until when; `lastDay` is YYYY-MM-DD or "". */
export interface Details {
  readonly note: string;
  readonly lastDay: string;
}

/** As the server takes them: no last day is no member. */
export const detailsBody = ({ note, lastDay }: Details): { note: string; expires?: string } => ({
  note,
  ...(lastDay !== "" && { expires: lastDay }),
});

/** Of those in `accept` the operator says that they really changed so much. */
export const refreshSources = (
  accept: readonly string[],
): Promise<{ readonly outcomes: readonly Outcome[] }> =>
  call("POST", "admin/lists/refresh", { accept });

export const backTest = (text: string): Promise<BackTestShape> =>
  call("POST", "admin/lists/test", { text });
