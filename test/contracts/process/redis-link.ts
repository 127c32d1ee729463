import type { TestContext } from "node:test";
import { Redis } from "ioredis";
import { memoryRateCounter } from "../../../src/adapters/memory/rate-counter.ts";
import { UnsavedUnits } from "../../../src/adapters/memory/unsaved-units.ts";
import {
  openRedis,
  type RedisLink,
  type RedisLinkDeps,
} from "../../../src/adapters/redis/open-redis.ts";
import { type SqlCharges, sqlCharges } from "../../../src/adapters/sql/admission/charges.ts";
import { patientClock } from "../../time/real-clock.ts";
import { countingIds, type RecordingLog, recordingLog, type Stores } from "../stores.ts";

/** One process's link and the stores it writes to. */
export interface LinkedProcess {
  readonly link: RedisLink;
  readonly log: RecordingLog;
  readonly charges: SqlCharges;
  /** Units that this process has not written yet. */
  readonly journal: UnsavedUnits;
}

/** `server` as a separate user, with only the rights that docs/operations.md asks for. */
export async function asOwnUser(server: string): Promise<string> {
  const client = new Redis(server);
  try {
    await client.acl("SETUSER", "gatepost", "on", ">word", ...OWN_RIGHTS);
  } finally {
    client.disconnect();
  }
  const url = new URL(server);
  url.username = "gatepost";
  url.password = "word";
  return url.href;
}

const OWN_RIGHTS = ["~gatepost:*", "&gatepost:*", "+@all", "-@dangerous", "+info"] as const;

let processes = 0;

/**
 * Opens the link of another "process" that shares the ledger of `stores`; closed after the test. Its Redis has
 * twenty times as long to answer as it really has, unless `more` has a clock.
 */
export async function linkProcess(
  t: TestContext,
  url: string,
  stores: Pick<Stores, "sql" | "usage">,
  more: Partial<RedisLinkDeps> = {},
): Promise<LinkedProcess> {
  const log = recordingLog();
  const { clock = patientClock } = more;
  const { usage: ledger } = stores;
  const journal = new UnsavedUnits({ ledger, clock, log });
  const counting = countingIds();
  const name = (processes += 1).toString(16);
  const ids = { ...counting, hex32: () => `${name}${counting.hex32().slice(name.length)}` };
  const common = { clock, log, ids, ledger, journal, localRates: memoryRateCounter() };
  const link = await openRedis(url, { ...common, ...more });
  t.after(() => link.close().catch(() => undefined));
  const charges = sqlCharges({ db: stores.sql.db, counter: link.quotas, ids });
  return { link, log, charges, journal };
}

/** Empties the server, as if it had long been known to be empty: nothing has to settle. */
export async function emptyRedis(url: string): Promise<void> {
  const client = new Redis(url);
  try {
    await client.flushall();
    const runId = /^run_id:([0-9a-f]{16})/m.exec(await client.info("server"))?.[1] ?? "";
    await client.set(`gatepost:${runId}:since`, "0");
  } finally {
    client.disconnect();
  }
}
