import { dayOf } from "../core/calendar.ts";
import type { Validation } from "../core/validate.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { VerdictCount, VerdictCounts } from "../ports/verdict-counts.ts";

/** How many UTC days of counts are kept, today included. */
export const VERDICT_DAYS = 30;

/** Domains of one day that are counted; those that come later are not. */
export const VERDICT_DOMAINS_MAX = 20_000;

/** Counts verdicts by domain for back-tests, never addresses. A kill may lose ten seconds of them. */
export interface VerdictRecorder {
  /** Malformed entries have no domain and are not counted. */
  record(validation: Pick<Validation, "result">): void;
  /** Writes what waits, a batch at a time; rejects when the store does, and then what was not written is lost. */
  flush(): Promise<void>;
}

const FLUSH_AFTER_MS = 10_000;

/** Rows of one transaction: short enough to hold up nobody. */
const BATCH = 200;

export interface VerdictRecorderDeps {
  readonly counts: Pick<VerdictCounts, "add">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

export function createVerdictRecorder({
  counts,
  clock,
  log,
}: VerdictRecorderDeps): VerdictRecorder {
  let tallies = new Map<string, { disposable: number; other: number }>();
  let isArmed = false;
  const flush = async (): Promise<void> => {
    const waiting = tallies;
    tallies = new Map();
    const day = dayOf(clock.nowMs());
    const rows: VerdictCount[] = [...waiting].map(([domain, sums]) => ({ day, domain, ...sums }));
    for (let from = 0; from < rows.length; from += BATCH) {
      await counts.add(rows.slice(from, from + BATCH), VERDICT_DOMAINS_MAX);
    }
  };
  const arm = (): void => {
    if (isArmed) return;
    isArmed = true;
    clock.after(FLUSH_AFTER_MS, () => {
      isArmed = false;
      flush().catch((fault: unknown) => log.error("verdicts.flush_failed", fault));
    });
  };
  return {
    record({ result }) {
      if (!result.format) return;
      let tally = tallies.get(result.domain);
      if (tally === undefined) {
        if (tallies.size >= VERDICT_DOMAINS_MAX) return;
        tally = { disposable: 0, other: 0 };
        tallies.set(result.domain, tally);
      }
      if (result.disposable) tally.disposable += 1;
      else tally.other += 1;
      arm();
    },
    flush,
  };
}
