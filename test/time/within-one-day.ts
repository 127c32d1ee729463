import { dayOf } from "../../src/core/calendar.ts";

/**
 * For counts by the system calendar: runs `work`, and once more if it failed while a UTC day ended.
 * It must start from an empty state each time.
 */
export async function withinOneDay(work: () => Promise<void>): Promise<void> {
  const day = dayOf(Date.now());
  try {
    await work();
  } catch (fault) {
    if (dayOf(Date.now()) === day) throw fault;
    await work();
  }
}
