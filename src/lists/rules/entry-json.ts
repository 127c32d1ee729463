import { isoTime, isoTimeOrNull } from "../../core/calendar.ts";
import type { ListWord } from "../../core/evidence/rule.ts";
import type { FeedStatus } from "../feed-status.ts";

export interface Rule {
  readonly subject: string;
  readonly word: ListWord;
  readonly note: string;
  readonly author: string;
  readonly createdAtMs: number;
  /** Milliseconds since the Unix epoch. From this instant on the entry says nothing. */
  readonly expiresAtMs?: number;
}

export interface Source {
  readonly id: string;
  readonly curated: boolean;
  /** 0: nothing of it is in use. */
  readonly names: number;
  readonly from: "fetch" | "package" | "nowhere";
  readonly fetched_at: string | null;
  readonly asked_at: string | null;
  readonly off: boolean;
  readonly refused: string | null;
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

export const statusJson = (status: FeedStatus): Source => ({
  id: status.id,
  curated: status.curated,
  names: status.names,
  from: status.from,
  fetched_at: isoTimeOrNull(status.fetchedAtMs),
  asked_at: isoTimeOrNull(status.askedAtMs),
  off: status.isOff === true,
  refused: status.refusal?.why ?? null,
  detail: status.refusal?.detail ?? null,
});

export const entryJson = (entry: Rule): OwnEntry => ({
  entry: entry.subject,
  kind: entry.word,
  note: entry.note,
  author: entry.author,
  created_at: isoTime(entry.createdAtMs),
  expires_at: isoTimeOrNull(entry.expiresAtMs),
});
