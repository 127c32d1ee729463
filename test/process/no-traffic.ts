import type { OwnTraffic } from "../../src/main/feeds/own-traffic.ts";

/** Observes nothing and counts for nobody. */
export const noTraffic: Pick<OwnTraffic, "observe" | "ownEvidence"> = {
  observe: () => undefined,
  ownEvidence: () => Promise.resolve(() => []),
};
