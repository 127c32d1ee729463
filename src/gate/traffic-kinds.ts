import { DAY_MS } from "../core/calendar.ts";
import type { CountWindow, WindowCounts } from "../core/policy/policy.ts";
import type { TrafficKind } from "../store/schema.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

interface CountedKind {
  readonly subject: string;
  /** What is distinct in them; of a tally, its time, the process that counts, and its group. */
  readonly item: string;
  readonly countedMs: number;
  /** A known item is noted again when it was last seen so long ago. */
  readonly againMs: number;
  /** Items of one subject; further ones change nothing, or push out the oldest. */
  readonly most: number;
  readonly full: "stays" | "oldest goes";
  readonly facts: readonly string[];
}

const MOST = 1_000;

const kind = (
  [subject, item]: readonly [string, string],
  countedMs: number,
  facts: readonly string[],
  more: Partial<CountedKind> = {},
): CountedKind => ({
  subject,
  item,
  countedMs,
  againMs: countedMs / 1_440,
  most: MOST,
  full: "stays",
  facts,
  ...more,
});

/** Times of tallies: minutes of an hour by thirty shapes, of several processes. */
const TALLY = { most: Infinity };

export const KINDS: Readonly<Record<TrafficKind, CountedKind>> = {
  spelling: kind(["mailbox", "spelling"], 7 * DAY_MS, ["mailbox_seen"]),
  mailbox: kind(["domain", "mailbox"], DAY_MS, ["domain_mailboxes"]),
  name: kind(["domain", "name below it"], DAY_MS, ["sub_names"]),
  domain: kind(["domain", "itself"], 400 * DAY_MS, ["domain_known_days"]),
  // A domain is new once: it stops counting a day after it was first seen behind the host.
  new_domain: kind(["mail host", "domain"], DAY_MS, ["mx_new_domains"], { againMs: Infinity }),
  message: kind(["mailbox, or who is known there", "message"], DAY_MS, ["sent_10m", "sent_day"]),
  sent: kind(["mailbox", "itself"], 90 * DAY_MS, ["sent_known"]),
  minute: kind(["messages", "minute"], HOUR_MS, ["wave"], TALLY),
  hour: kind(["messages", "hour"], 14 * DAY_MS, ["wave"], TALLY),
  source: kind(
    ["key of count_by", "mailbox"],
    30 * DAY_MS,
    ["count_10m", "count_day", "count_30d"],
    {
      againMs: MINUTE_MS,
      full: "oldest goes",
    },
  ),
  shape_minute: kind(["shapes", "minute and shape"], HOUR_MS, ["shape_wave"], TALLY),
  shape_day: kind(["shapes", "day and shape"], 14 * DAY_MS, ["shape_wave"], TALLY),
};

export type TallyKind = "minute" | "hour" | "shape_minute" | "shape_day";

export const WINDOWS: Readonly<Record<CountWindow, number>> = {
  "10m": 10 * MINUTE_MS,
  day: DAY_MS,
  "30d": 30 * DAY_MS,
};

export function within(times: ReadonlyMap<string, number>, afterMs: number): number {
  let count = 0;
  for (const atMs of times.values()) if (atMs > afterMs) count += 1;
  return count;
}

export function windowsOf(
  items: ReadonlyMap<string, number>,
  without: string,
  nowMs: number,
): WindowCounts {
  let [tenMinutes, day, month] = [0, 0, 0];
  for (const [item, atMs] of items) {
    if (item === without || atMs <= nowMs - WINDOWS["30d"]) continue;
    month += 1;
    if (atMs > nowMs - WINDOWS.day) day += 1;
    if (atMs > nowMs - WINDOWS["10m"]) tenMinutes += 1;
  }
  return { "10m": tenMinutes, day, "30d": month };
}
