import { sqlRegistrationCache } from "../adapters/sql/registration-cache.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import type { Log } from "../ports/log.ts";
import { createHousekeeping } from "../service/housekeeping.ts";
import type { Tiers } from "../service/tiers.ts";
import { pruneDashboard } from "./dashboard.ts";
import type { Lists } from "./lists.ts";
import type { AccountStore, Ledgers } from "./store.ts";

interface Kept {
  readonly store: AccountStore;
  readonly ledgers: Ledgers;
  readonly tiers: Tiers;
  readonly log: Log;
  readonly lists: Pick<Lists, "prune">;
}

const FIRST_AFTER_MS = 60_000;
const EVERY_MS = 86_400_000;

/** Deletes daily what is kept no longer, first a minute after the start. */
export function startHousekeeping({ store, ledgers, tiers, log, lists }: Kept): {
  stop: () => void;
} {
  const { usage, charges } = ledgers;
  const prune = createHousekeeping({ usage, charges, tiers });
  const registrations = sqlRegistrationCache(store.sql.db);
  let cancel: () => void;
  const round = async (): Promise<void> => {
    try {
      const pruned = await prune(clock.nowMs());
      const expired = await registrations.prune(clock.nowMs());
      await lists.prune();
      await pruneDashboard(store, clock.nowMs());
      log.info("housekeeping", { ...pruned, registrations: expired });
    } catch (fault) {
      log.error("housekeeping failed", fault);
    }
  };
  const arm = (delayMs: number): void => {
    cancel = clock.after(delayMs, () => {
      arm(EVERY_MS);
      void round();
    });
  };
  arm(FIRST_AFTER_MS);
  return { stop: () => cancel() };
}
