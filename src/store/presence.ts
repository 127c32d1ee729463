import { sql as raw } from "kysely";
import type { Clock } from "../base/clock.ts";
import { type End, every } from "../base/every.ts";
import { DAY_MS } from "../core/calendar.ts";
import { deleteRows, putRow } from "./rows.ts";
import type { Db } from "./schema.ts";

const BEAT_EVERY_MS = 10_000;
const GONE_AFTER_MS = 30_000;

/** Nobody misses a server for longer. */
const MISSED_MS = DAY_MS;

const PREFIX = "process ";

interface Present {
  readonly name: string;
  readonly startedMs: number;
  readonly seenMs: number;
}

interface Gone {
  readonly name: string;
  readonly seconds: number;
}

/** PostgreSQL's time in milliseconds: the machines' own clocks may differ. */
export async function databaseNowMs(db: Db): Promise<number> {
  const now = raw<{
    now: number;
  }>`select floor(extract(epoch from clock_timestamp()) * 1000) as now`;
  return (await now.execute(db)).rows[0]?.now ?? NaN;
}

async function presentRows(db: Db): Promise<readonly Present[]> {
  const rows = await db
    .selectFrom("installation")
    .selectAll()
    .where("name", "like", `${PREFIX}%`)
    .execute();
  return rows.map(({ name, value }) => ({
    ...(JSON.parse(value) as Omit<Present, "name">),
    name: name.slice(PREFIX.length),
  }));
}

interface PresenceDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly name: string;
  readonly failed: (fault: unknown) => void;
}

/** Says on PostgreSQL that this server or worker is there, until it stops; one that is killed leaves its row. */
export function keepPresence({ db, clock, name, failed }: PresenceDeps): End {
  let startedMs: number | undefined;
  const beat = async (): Promise<void> => {
    const seenMs = await databaseNowMs(db);
    startedMs ??= seenMs;
    const value = JSON.stringify({ startedMs, seenMs });
    await putRow(db, "installation", { name: PREFIX + name }, { value });
    for (const other of await presentRows(db)) {
      if (seenMs - other.seenMs < MISSED_MS) continue;
      await deleteRows(db, "installation", { name: PREFIX + other.name });
    }
  };
  const end = every({ ms: BEAT_EVERY_MS, firstMs: 0, clock, failed }, beat);
  return async () => {
    await end();
    await deleteRows(db, "installation", { name: PREFIX + name }).catch(failed);
  };
}

export const goneServers = async (db: Db): Promise<readonly Gone[]> =>
  goneAmong(await presentRows(db));

/** Those that fell silent while others are there, and in whose place none was started since. */
export function goneAmong(servers: readonly Present[]): readonly Gone[] {
  const newestMs = Math.max(...servers.map(({ seenMs }) => seenMs));
  const silent = servers.filter(({ seenMs }) => newestMs - seenMs > GONE_AFTER_MS);
  const started = servers.map(({ startedMs }) => startedMs).sort((one, other) => one - other);
  return silent
    .toSorted((one, other) => one.seenMs - other.seenMs)
    .flatMap(({ name, seenMs }) => {
      const successor = started.findIndex((startedMs) => startedMs > seenMs);
      if (successor < 0) return [{ name, seconds: Math.round((newestMs - seenMs) / 1_000) }];
      started.splice(successor, 1);
      return [];
    });
}
