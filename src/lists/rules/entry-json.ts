import { isoTime, isoTimeOrNull } from "../../core/calendar.ts";
import type { ListWord } from "../../core/evidence/rule.ts";
import { type Described, oneOf, orNull, Type } from "../../core/json-schema.ts";
import type { FeedStatus } from "../feed-status.ts";

export interface Rule {
  /** As `listSubjectText` writes it; an address is its keyed hash. */
  readonly subject: string;
  readonly word: ListWord;
  readonly note: string;
  /** Who made it: an account id or the name of a system user. */
  readonly author: string;
  readonly createdAtMs: number;
  /** Milliseconds since the Unix epoch. From this instant on the entry says nothing. */
  readonly expiresAtMs?: number;
}

const text = Type.String();
const flag = Type.Boolean();
const time = Type.String({ format: "date-time" });

/** Records about feeds and rules as the commands and the dashboard show them. */

export const Source = Type.Object({
  id: text,
  curated: flag,
  names: Type.Integer({ minimum: 0, description: "0: nothing of it is in use." }),
  from: oneOf(["fetch", "package", "nowhere"], "Where the names in use come from."),
  fetched_at: orNull(time),
  asked_at: orNull(time),
  off: Type.Boolean({ description: "The operator switched it off: it gives no evidence." }),
  refused: orNull(text, "Why its last answer was not taken."),
  detail: orNull(text),
});
export type Source = Described<typeof Source>;

export const OwnEntry = Type.Object({
  entry: Type.String({
    description: 'A domain, "*.suffix", "mx:host", or "address:<hash>@domain".',
  }),
  kind: Type.Unsafe<ListWord>({ type: "string", description: "What it says." }),
  note: text,
  author: text,
  created_at: time,
  expires_at: orNull(time),
});
export type OwnEntry = Described<typeof OwnEntry>;

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
