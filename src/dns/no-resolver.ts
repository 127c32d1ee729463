import { NO_COUNTS, noUnknown } from "./flow/query-timeouts.ts";
import type { Resolver } from "./resolver.ts";

/** For an operator without DNS: every question is answered at once as by a server that refuses it, which is no "no". */
export const noResolver: Resolver = {
  ask: (_question, done) => queueMicrotask(() => done({ kind: "unknown", why: "refused" }, 0)),
  room: () => undefined,
  stats: () => ({
    ...NO_COUNTS,
    unknown: noUnknown(),
    window: 1_000,
    underWay: 0,
    unsettled: 0,
  }),
  close: () => undefined,
};
