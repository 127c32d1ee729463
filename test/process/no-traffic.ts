import type { OwnTraffic } from "../../src/main/feeds/own-traffic.ts";

/** Observes and counts nothing. */
export const noTraffic: Pick<OwnTraffic, "observe"> = {
  observe: () => undefined,
};
