import { dayOf } from "../../src/core/calendar.ts";

/**
 * For what counts by the machine's own calendar: runs `work`, and once more when it failed while a day (UTC) ended.
 * It has to begin from nothing each time.
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
