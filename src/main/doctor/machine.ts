import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import type { Finding } from "../../cli/commands/doctor.ts";
import type { FeedStatus } from "../../ports/evidence/feed-refresh.ts";
import { type Config, guessesPublicUrl, publicUrlOf } from "../settings/config.ts";
import { megabytes, note, ok, wrong } from "./findings.ts";

/** A busy process with all bundled lists; see docs/operations/sizing.md. */
const MEMORY_MIN_BYTES = 400 * 1_048_576;

const CGROUP_LIMITS = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

export function examineMemory(read = readLimit): Finding {
  const limits = CGROUP_LIMITS.map(read).filter((limit) => limit > 0);
  const bytes = Math.min(totalmem(), ...limits);
  const says = `${megabytes(bytes)} for this process.`;
  if (bytes >= MEMORY_MIN_BYTES) return ok("memory", says);
  const advice = `Give the container or machine at least ${megabytes(MEMORY_MIN_BYTES)}.`;
  return wrong("memory", says, advice);
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

/** Links, and whether the client addresses behind a proxy are known. */
export function examineUrls(config: Config): readonly Finding[] {
  const base = publicUrlOf(config);
  const links = guessesPublicUrl(config)
    ? note(
        "public URL",
        `It is not set; links say ${base}.`,
        "Set GATEPOST_PUBLIC_URL to the address that clients use.",
      )
    : ok("public URL", `Links say ${base}.`);
  const isBehindProxy = config.publicUrl?.startsWith("https:") === true;
  const trust = config.trustProxy ?? [];
  if (isBehindProxy && trust.length === 0) {
    return [
      links,
      note(
        "proxy",
        "The public URL is https, but no proxy is trusted: all callers seem to have the proxy's address.",
        "Set GATEPOST_TRUST_PROXY to the address of the proxy that ends TLS.",
      ),
    ];
  }
  return [
    links,
    ok("proxy", trust.length === 0 ? "None is trusted." : `${String(trust.length)} trusted.`),
  ];
}
