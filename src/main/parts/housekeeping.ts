import { sqlRegistrationCache } from "../../adapters/sql/evidence/registration-cache.ts";
import { systemClock as clock } from "../../adapters/system/clock.ts";
import { DAY_MS } from "../../core/calendar.ts";
import type { Log } from "../../ports/process/log.ts";
import type { Begin } from "../../service/upkeep/elected.ts";
import { createHousekeeping } from "../../service/upkeep/housekeeping.ts";
import type { Tiers } from "../../service/admission/tiers.ts";
import type { Backing } from "./backing.ts";
import { pruneDashboard } from "./dashboard.ts";
import type { Lists } from "../feeds/lists.ts";

interface Kept {
  readonly backing: Pick<Backing, "store" | "ledgers">;
  readonly tiers: Tiers;
  readonly log: Log;
  readonly lists: Pick<Lists, "prune">;
}

const FIRST_AFTER_MS = 60_000;

/** Deletes daily what is kept no longer, first a minute after it began. */
export function housekeepingDuty({ backing, tiers, log, lists }: Kept): Begin {
  const { store, ledgers } = backing;
  const { usage, charges } = ledgers;
  const prune = createHousekeeping({ usage, charges, tiers });
  const registrations = sqlRegistrationCache(store.sql.db);
  const round = async (): Promise<void> => {
    try {
      const pruned = await prune(clock.nowMs());
      const expired = await registrations.prune(clock.nowMs());
      await lists.prune();
      await pruneDashboard(store, clock.nowMs());
      log.info("housekeeping.done", { ...pruned, registrations: expired });
    } catch (fault) {
      log.error("housekeeping.failed", fault);
    }
  };
  return () => {
    let cancel: () => void;
    let running = Promise.resolve();
    const arm = (delayMs: number): void => {
      cancel = clock.after(delayMs, () => {
        arm(DAY_MS);
        running = round();
      });
    };
    arm(FIRST_AFTER_MS);
    return Promise.resolve(async () => {
      cancel();
      await running;
    });
  };
}
