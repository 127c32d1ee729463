import type { Kysely } from "kysely";
import type { Database } from "../../store/schema.ts";
import type { Finding } from "../../cli/commands/doctor.ts";
import { note, ok, wrong } from "./findings.ts";

const CONNECT_MS = 3_000;
/** How long a notice may take from one session to another. */
const NOTICE_MS = 2_000;

/**
 * Whether a session keeps what it asked for: a pooler in transaction mode loses notices (LISTEN), and old ones lose
 * prepared statements. Tried by two sessions on the service's own URL.
 */
export async function examinePooler(url: string): Promise<Finding> {
  const { default: pg } = await import("pg");
  const options = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
  };
  const [listener, sender] = [new pg.Client(options), new pg.Client(options)];
  for (const client of [listener, sender]) client.on("error", () => undefined);
  const advice =
    "Connect to PostgreSQL directly, or set the pooler to session mode (pool_mode = session).";
  try {
    await Promise.all([listener.connect(), sender.connect()]);
    const prepared = { name: "doctor_probe", text: "select 1" };
    await listener.query(prepared);
    await listener.query("listen doctor_probe");
    // While the sender's transaction holds a server session, a pooler gives the listener another one.
    await sender.query("begin");
    await sender.query("notify doctor_probe");
    await listener.query(prepared);
    const heard = notice(listener);
    await sender.query("commit");
    if (await heard) return ok("pooler", "Sessions keep their prepared statements and notices.");
    const says =
      "A notice from one session does not reach another: a connection pooler in transaction mode is between.";
    return wrong("pooler", says, advice);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return wrong("pooler", `A session does not keep what it prepared: ${why}.`, advice);
  } finally {
    await Promise.allSettled([listener.end(), sender.end()]);
  }
}

interface Listener {
  once(event: "notification", heard: () => void): unknown;
}

function notice(listener: Listener): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), NOTICE_MS);
    listener.once("notification", () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Workers say every few seconds that they live. */
const GONE_MS = 60_000;

export async function examineWorkers(db: Kysely<Database>, nowMs: number): Promise<Finding> {
  const { newest } = await db
    .selectFrom("bulk_workers")
    .select(({ fn }) => fn.max("seen_at_ms").as("newest"))
    .executeTakeFirstOrThrow();
  const advice = "Start at least one gatepost worker with the same DATABASE_URL.";
  if (newest === null) {
    return note("workers", "None was ever seen: batches and webhooks wait.", advice);
  }
  const seconds = Math.max(0, Math.round((nowMs - Number(newest)) / 1_000));
  const says = `One was seen ${String(seconds)} s ago`;
  if (seconds * 1_000 <= GONE_MS) return ok("workers", `${says}.`);
  return wrong("workers", `${says}, none since: batches and webhooks wait.`, advice);
}
