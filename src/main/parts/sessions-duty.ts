import { pruneSessions } from "../../adapters/sql/bulk/prune-sessions.ts";
import { systemClock as clock } from "../../adapters/system/clock.ts";
import type { Log } from "../../ports/process/log.ts";
import { keepSessions } from "../../service/bulk/keep-house.ts";
import type { Backing } from "./backing.ts";
import type { Duties } from "../feeds/duties.ts";

/** Deletes expired sessions on PostgreSQL, whose own vacuum makes the disk forget them. */
export function sessionsDuty({ store }: Pick<Backing, "store">, log: Log): Duties {
  const sessions = { prune: (nowMs: number) => pruneSessions(store.sql.db, nowMs) };
  const scrub = (): Promise<void> => Promise.resolve();
  return { sessions: () => Promise.resolve(keepSessions({ sessions, scrub, clock, log })) };
}
