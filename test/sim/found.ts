import type { RunOptions } from "./run.ts";

/** Runs that ended with a violation once, with the shortest faults that `npm run sim` printed. */
export const FOUND: readonly (RunOptions & { readonly name: string })[] = [];
