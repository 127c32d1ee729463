import { CLOCKS_APART_MS, type Elections } from "../../ports/process/elections.ts";

/** Elections among the candidates of one process: alone, a candidate is elected at once and always. */
export function memoryElections(): Elections {
  const held = new Map<string, { readonly candidate: string; readonly untilMs: number }>();
  return {
    hold(duty, candidate, { nowMs, leaseMs }) {
      const holder = held.get(duty);
      const isTaken =
        holder !== undefined && holder.candidate !== candidate && holder.untilMs > nowMs;
      if (!isTaken) held.set(duty, { candidate, untilMs: nowMs + leaseMs + CLOCKS_APART_MS });
      return Promise.resolve(!isTaken);
    },
    resign(duty, candidate) {
      if (held.get(duty)?.candidate === candidate) held.delete(duty);
      return Promise.resolve();
    },
  };
}
