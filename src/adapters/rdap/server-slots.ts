import type { Clock } from "../../ports/clock.ts";

/** Questions to one server at the same time, waiting for it, and how long one may wait. */
const IN_FLIGHT_MAX = 2;
const WAITING_MAX = 50;
const WAIT_MS = 10_000;

interface Server {
  inFlight: number;
  readonly waiting: (() => void)[];
  /** Of the monotonic clock: until then the server wants to be left alone. */
  heldUntilMs: number;
}

/** Keeps registries' servers from being asked too much, each by its name. */
export interface ServerSlots {
  /** Runs `work` when the server has room; undefined when it has none in time or is held. */
  run<T>(server: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Leaves the server alone for so long. */
  hold(server: string, forMs: number): void;
}

export function createServerSlots(clock: Pick<Clock, "monotonicMs">): ServerSlots {
  const servers = new Map<string, Server>();
  const serverOf = (name: string): Server => {
    const known = servers.get(name);
    if (known !== undefined) return known;
    const made: Server = { inFlight: 0, waiting: [], heldUntilMs: -Infinity };
    servers.set(name, made);
    return made;
  };
  return {
    async run(name, work) {
      const server = serverOf(name);
      const askedMs = clock.monotonicMs();
      if (server.heldUntilMs > askedMs || !(await room(server))) return undefined;
      try {
        const nowMs = clock.monotonicMs();
        if (server.heldUntilMs > nowMs || nowMs - askedMs > WAIT_MS) return undefined;
        return await work();
      } finally {
        leave(server);
      }
    },
    hold(name, forMs) {
      const server = serverOf(name);
      server.heldUntilMs = Math.max(server.heldUntilMs, clock.monotonicMs() + forMs);
    },
  };
}

async function room(server: Server): Promise<boolean> {
  if (server.inFlight < IN_FLIGHT_MAX) {
    server.inFlight += 1;
    return true;
  }
  if (server.waiting.length >= WAITING_MAX) return false;
  await new Promise<void>((resolve) => server.waiting.push(resolve));
  return true;
}

/** Hands the place to whoever waits longest. */
function leave(server: Server): void {
  const next = server.waiting.shift();
  if (next === undefined) server.inFlight -= 1;
  else next();
}
