import type { Clock } from "../../ports/process/clock.ts";
import { Places } from "../../ports/process/places.ts";

/** Questions to one server at the same time, waiting for it, and how long one may wait. */
const IN_FLIGHT_MAX = 2;
const WAITING_MAX = 50;
const WAIT_MS = 10_000;

interface Server {
  readonly places: Places;
  /** Of the monotonic clock: until then the server wants to be left alone. */
  heldUntilMs: number;
}

/** Keeps registries' servers from being asked too much, each by its name. */
export interface ServerSlots {
  /** Runs `work` when the server has room; undefined when it has none in time or is held. */
  run<T>(server: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Asks the server nothing for this time. */
  hold(server: string, forMs: number): void;
}

export function createServerSlots(clock: Pick<Clock, "monotonicMs">): ServerSlots {
  const servers = new Map<string, Server>();
  const serverOf = (name: string): Server => {
    const known = servers.get(name);
    if (known !== undefined) return known;
    const made: Server = { places: new Places(IN_FLIGHT_MAX, WAITING_MAX), heldUntilMs: -Infinity };
    servers.set(name, made);
    return made;
  };
  return {
    async run(name, work) {
      const server = serverOf(name);
      const askedMs = clock.monotonicMs();
      if (server.heldUntilMs > askedMs) return undefined;
      const inTurn = async () => {
        const nowMs = clock.monotonicMs();
        if (server.heldUntilMs > nowMs || nowMs - askedMs > WAIT_MS) return undefined;
        return await work();
      };
      return await server.places.hold(inTurn, () => undefined);
    },
    hold(name, forMs) {
      const server = serverOf(name);
      server.heldUntilMs = Math.max(server.heldUntilMs, clock.monotonicMs() + forMs);
    },
  };
}
