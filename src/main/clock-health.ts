import { sql as raw } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Trouble, Watched } from "../base/health.ts";
import { DAY_MS } from "../core/calendar.ts";
import { databaseNowMs } from "../store/presence.ts";
import type { Db } from "../store/schema.ts";

/** What another machine wrote a moment ago may be ahead by as much. */
const SLACK_MS = 60_000;

/** After so long the new time counts: nobody set it back. */
const JUMP_TOLD_MS = 3_600_000;

const SPANS = [
  [DAY_MS, "days"],
  [3_600_000, "hours"],
  [60_000, "minutes"],
] as const;

function spanOf(ms: number): string {
  const [unitMs, unit] = SPANS.find(([least]) => Math.abs(ms) >= 2 * least) ?? [1_000, "seconds"];
  return `${String(Math.round(Math.abs(ms) / unitMs))} ${unit}`;
}

const clockTrouble = (says: string): Trouble => ({
  says: `This machine's clock ${says}.`,
  toDo: "Set it (NTP): quotas, sessions, keys and leases go by it.",
});

export interface KnownTime {
  readonly ms: number;
  readonly of: "written" | "PostgreSQL";
}

export const postgresTime = async (db: Db): Promise<KnownTime> => ({
  ms: await databaseNowMs(db),
  of: "PostgreSQL",
});

/** The newest of the times that an embedded service writes now and then. */
export async function newestWritten(db: Db): Promise<KnownTime> {
  const { rows } = await raw<Record<string, number | null>>`select
    (select max(applied_at_ms) from schema_migrations) as migrated,
    (select max(at_ms) from audit_entries) as noted,
    (select max(at_ms) from decisions) as decided,
    (select max(created_at_ms) from charges) as charged`.execute(db);
  return { ms: Math.max(...Object.values(rows[0] ?? {}).map(Number)), of: "written" };
}

export function clockBeside(nowMs: number, { ms, of }: KnownTime): Trouble | undefined {
  const aheadMs = nowMs - ms;
  if (aheadMs >= -SLACK_MS && (of === "written" || aheadMs <= SLACK_MS)) return undefined;
  const way = aheadMs < 0 ? "behind" : "ahead of";
  const what = of === "written" ? "times that are in the database" : "that of PostgreSQL";
  return clockTrouble(`is ${spanOf(aheadMs)} ${way} ${what}`);
}

export function clockPart(
  clock: Pick<Clock, "nowMs" | "monotonicMs">,
  known: () => Promise<KnownTime>,
): Watched {
  const offset = (): number => clock.nowMs() - clock.monotonicMs();
  let usualMs = offset();
  let jumpedMs: number | undefined;
  return {
    async look() {
      const jump = offset() - usualMs;
      const atMs = clock.monotonicMs();
      if (Math.abs(jump) <= SLACK_MS || atMs - (jumpedMs ?? atMs) >= JUMP_TOLD_MS) {
        usualMs += jump;
        jumpedMs = undefined;
        return clockBeside(clock.nowMs(), await known());
      }
      jumpedMs ??= atMs;
      return clockTrouble(`jumped ${spanOf(jump)} ${jump > 0 ? "ahead" : "back"}`);
    },
  };
}
