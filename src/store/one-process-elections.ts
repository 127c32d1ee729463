import type { Elections } from "./elections.ts";

/** Of one process: it is elected to everything, always. */
export const alone: Elections = {
  hold: () => Promise.resolve(true),
  resign: () => Promise.resolve(),
};
