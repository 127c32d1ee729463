import type { OwnTraffic } from "../../src/main/lists.ts";

/** Observes and counts nothing. */
export const noTraffic: Pick<OwnTraffic, "observe"> = {
  observe: () => undefined,
};
