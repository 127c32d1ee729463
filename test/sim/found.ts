import { LOADS } from "./faults.ts";
import type { RunOptions } from "./run.ts";

/** Runs that ended with a violation once, with the shortest faults that `npm run sim` printed, or all of the seed. */
export const FOUND: readonly (RunOptions & { readonly name: string })[] = [
  {
    name: "a stop loses the webhook of a batch that is marked as announced",
    seed: 302,
    days: 926,
    servers: 3,
    workers: 2,
    load: LOADS.light,
  },
];
