import { sqlDomainMails } from "../../lists/domain-mail.ts";
import { sqlVerdictCounts } from "../../lists/verdict-counts.ts";
import type { SqlDatabase } from "../../store/database.ts";
import { dayOf } from "../../core/calendar.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import {
  type CountedVerdict,
  createVerdictRecorder,
  MAIL_DOMAINS_KEPT,
  type Observed,
  VERDICT_DAYS,
} from "../../lists/verdict-recorder.ts";

/** What this process's checks leave behind, by domain. */
export interface OwnTraffic {
  /** Of each fresh verdict. */
  readonly observe: (validation: Observed) => void;
  /** Of each verdict that was kept and told again by a decision. */
  readonly observeAgain: (verdict: CountedVerdict) => void;
  /** Deletes what is kept no longer; to be called daily by one process. */
  readonly prune: () => Promise<void>;
  /** Writes what waits. Never rejects: what cannot be written is logged and lost. */
  readonly flush: () => Promise<void>;
}

export interface OwnTrafficParts {
  readonly sql: Pick<SqlDatabase, "db">;
  readonly clock: Clock;
  readonly log: Log;
}

/** For every process and thread that checks entries, on its own connection. */
export function openOwnTraffic({ sql: { db }, clock, log }: OwnTrafficParts): OwnTraffic {
  const counts = sqlVerdictCounts(db);
  const mails = sqlDomainMails(db);
  const recorder = createVerdictRecorder({ counts, mails, clock, log });
  return {
    observe: (validation) => recorder.record(validation),
    observeAgain: (verdict) => recorder.count(verdict),
    async prune() {
      const today = dayOf(clock.nowMs());
      const fromDay = today - VERDICT_DAYS + 1;
      await counts.prune(fromDay);
      await mails.prune(fromDay, MAIL_DOMAINS_KEPT);
    },
    async flush() {
      await recorder.flush().catch((fault: unknown) => {
        log.error("verdicts.flush_failed", fault);
      });
    },
  };
}
