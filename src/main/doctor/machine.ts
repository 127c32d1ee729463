import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import type { Finding } from "../../cli/commands/doctor.ts";
import type { FeedStatus } from "../../lists/feed-status.ts";
import { RESOURCES } from "../../base/resources.ts";
import type { Config } from "../settings/config.ts";
import { megabytes, note, ok, wrong } from "./findings.ts";

const MIB = 1_048_576;

/** An embedded service with a batch of 100,000 entries; see docs/operations/sizing.md. */
export const WORK_BYTES = 245 * MIB;

/** Bodies that are received and parsed at once, at the most. */
const BODY_BYTES = Object.values(RESOURCES).reduce(
  (all, { unit, total }) => all + (unit === "octets" ? total : 0),
  0,
);

const CGROUP_LIMITS = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/** What a process may use, against what sizing.md says that it takes. */
export function examineMemory(
  { cacheMb }: Pick<Config, "cacheMb">,
  { total, read }: MemoryFacts = { total: totalmem(), read: readLimit },
): Finding {
  const limits = CGROUP_LIMITS.map(read).filter((limit) => limit > 0);
  const bytes = Math.min(total, ...limits);
  const least = WORK_BYTES + cacheMb * MIB;
  const full = least + BODY_BYTES;
  const says = `${megabytes(bytes)} for this process; it takes up to ${megabytes(least)}, and ${megabytes(full)} with all bodies that it may hold.`;
  const advice = `Give the container or machine ${megabytes(full)}, or lower GATEPOST_CACHE_MB (${String(cacheMb)}).`;
  if (bytes < least) return wrong("memory", says, advice);
  return bytes < full ? note("memory", says, advice) : ok("memory", says);
}

interface MemoryFacts {
  readonly total: number;
  /** The limit in a file; 0: none. */
  readonly read: (path: string) => number;
}

function readLimit(path: string): number {
  try {
    return Number(readFileSync(path, "utf8")) || 0; // "max" is no limit
  } catch {
    return 0;
  }
}

/** Feeds that were not fetched for 3 days miss new disposable domains. */
const FEED_OLD_DAYS = 3;
const DAY_MS = 86_400_000;

export function examineFeeds(
  feeds: readonly FeedStatus[],
  refresh: Config["listsRefresh"],
  nowMs: number,
): Finding {
  if (refresh === "off") {
    return note(
      "feeds",
      "Fetching is off; only bundled lists are used.",
      "Set GATEPOST_LISTS_REFRESH=daily.",
    );
  }
  const old = feeds.filter(
    ({ confirmedAtMs = 0 }) => nowMs - confirmedAtMs > FEED_OLD_DAYS * DAY_MS,
  );
  if (old.length === 0) return ok("feeds", "All were confirmed in the last 3 days.");
  const ids = old.map(({ id }) => id).join(", ");
  return note(
    "feeds",
    `Not confirmed in the last 3 days: ${ids}.`,
    "Run gatepost lists refresh, or see gatepost lists status for the reason.",
  );
}
