import type { Redis } from "ioredis";
import type { Clock } from "../../ports/process/clock.ts";
import type { Ids } from "../../ports/process/ids.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { Log } from "../../ports/process/log.ts";
import type { Notices } from "../../ports/process/notices.ts";
import type { RateCounter } from "../../ports/admission/rate-counter.ts";
import type { RequestCounter } from "../../ports/admission/request-counter.ts";
import type { UnitJournal } from "../../ports/admission/unit-journal.ts";
import type { UsageLedger } from "../../ports/admission/usage.ts";
import { clientOf, readRedisUrl } from "./client-options.ts";
import { RedisConnection } from "./connection.ts";
import { redisNotices } from "./notices.ts";
import { RedisQuotaCounter } from "./quota-counter.ts";
import { redisRateCounter } from "./rate-counter.ts";
import { redisRequestCounter } from "./request-counter.ts";

export interface RedisLinkDeps {
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly ids: Ids;
  readonly ledger: Pick<UsageLedger, "unitsUsed" | "take">;
  /** Writes what is granted to the same ledger. */
  readonly journal: UnitJournal;
  /** Rate windows of this process, for when Redis is away. */
  readonly localRates: RateCounter;
  /** A clock shared by all processes of a test; absent: the server's clock. */
  readonly timeMs?: () => number;
  /** Opens a connection with each call; absent: to the URL. */
  readonly connect?: () => Redis;
}

/** What all processes share through one Redis or Valkey. */
export interface RedisLink {
  readonly rates: RateCounter;
  readonly quotas: RedisQuotaCounter;
  readonly requests: RequestCounter;
  readonly notices: Notices;
  /** Asks, and waits for 500 ms at most. */
  answers(): Promise<boolean>;
  /** As of the last call. */
  isUp(): boolean;
  /** Writes what waits for the ledger, rejects when it cannot; leaves no socket and no timer that keeps the process, in any case. */
  close(): Promise<void>;
}

/** How long a start waits for Redis; after that Redis counts as down. */
const START_WITHIN_MS = 1_000;

/**
 * Opens the link; `url` is "redis://" or "rediss://". Rejects for another URL only: a Redis out of reach is a
 * link that is not up, and comes up by itself.
 */
export async function openRedis(url: string, deps: RedisLinkDeps): Promise<RedisLink> {
  const parsed = readRedisUrl(url);
  const { clock, localRates: local, timeMs } = deps;
  const time = (): number | "" => timeMs?.() ?? "";
  const { connect = () => clientOf(parsed, deps.ids) } = deps;
  const connection = new RedisConnection(connect(), deps);
  const quotas = new RedisQuotaCounter({ ...deps, connection, time });
  const notices = redisNotices(connect(), connection);
  const timely = { timeoutMs: START_WITHIN_MS, late: undefined, clock };
  await inTime(Promise.all([firstUp(connection), notices.listens]), timely);
  return {
    rates: redisRateCounter({ connection, local, time }),
    quotas,
    requests: redisRequestCounter({ connection, quotas, local, clock, time }),
    notices,
    answers: () => connection.answers(),
    isUp: () => connection.isUp,
    async close() {
      try {
        await quotas.flush();
      } finally {
        notices.close();
        connection.close();
      }
    },
  };
}

const firstUp = (connection: RedisConnection): Promise<void> =>
  new Promise((resolve) => connection.afterUp(resolve));
