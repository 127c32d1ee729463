import { DAY_MS } from "../core/calendar.ts";
import { type End, every } from "../base/every.ts";
import type { Delivery } from "./webhook-store.ts";
import { deliver, type DeliverDeps, DELIVERY_LIMITS } from "./deliver.ts";

/** Sends what is queued, beside everything else the process does. */
export interface Dispatcher {
  /**
   * Begins: what a process that died was sending is logged as interrupted, then the queue is worked off.
   * `alone`, no other process can be sending; `among_others`, only what began more than a minute ago is taken for
   * abandoned.
   */
  start(where: "alone" | "among_others"): Promise<void>;
  /** Something was queued. */
  wake(): void;
  /** Sends this one, unless another process has started it, and waits until it is over, up to `timeoutMs`. */
  deliverNow(id: string, timeoutMs: number): Promise<void>;
  /** Claims no more and waits for what is under way, a sweep of the log included: up to 10 s. */
  stop(): Promise<void>;
}

/** How often the queue is looked at for what no notice told of, and how often the log is swept. */
const POLL_MS = 1_000;
/** How often one that is waited for is looked at. */
const PLACE_MS = 250;
const SWEEP_MS = 60_000;

/** A delivery takes 10 s; after a minute its process is gone. */
const ABANDONED_MS = 60_000;
const KEPT_MS = 7 * DAY_MS;

export function createDispatcher(deps: DeliverDeps): Dispatcher {
  const { deliveries, clock, log } = deps;
  const pump = createPump(deps);
  const sweep = async (): Promise<void> => {
    await deliveries.interrupt(clock.nowMs() - ABANDONED_MS);
    await deliveries.prune(clock.nowMs() - KEPT_MS);
  };
  const failed = (fault: unknown): void => log.error("webhooks.sweep_failed", fault);
  const ends: End[] = [];

  return {
    async start(where) {
      const abandonedMs = clock.nowMs() - ABANDONED_MS;
      // Alone, the hour does not matter: the clock may have been set back since.
      const beforeMs = where === "alone" ? Number.MAX_SAFE_INTEGER : abandonedMs;
      const count = await deliveries.interrupt(beforeMs);
      if (count > 0) log.warn("webhooks.interrupted", { count });
      const poll = (): Promise<void> => Promise.resolve(pump.wake());
      ends.push(every({ ms: POLL_MS, firstMs: 0, clock, failed }, poll));
      ends.push(every({ ms: SWEEP_MS, firstMs: 0, clock, failed }, sweep));
    },
    wake: () => pump.wake(),
    async deliverNow(id, timeoutMs) {
      const untilMs = clock.monotonicMs() + timeoutMs;
      while (clock.monotonicMs() < untilMs) {
        const [mine] = await deliveries.claim(clock.nowMs(), DELIVERY_LIMITS, id);
        if (mine !== undefined) return await pump.begin(mine);
        const state = (await deliveries.find(id))?.state;
        if (state !== "queued" && state !== "sending") return;
        await new Promise<void>((resolve) => void clock.after(PLACE_MS, resolve));
      }
    },
    async stop() {
      await Promise.all([pump.stop(), ...ends.map((end) => end())]);
    },
  };
}

/** Claims while there is room and something is queued; each end makes room. */
interface Pump {
  wake(): void;
  /** Resolves when the delivery is over, with any result. */
  begin(delivery: Delivery): Promise<void>;
  stop(): Promise<void>;
}

function createPump(deps: DeliverDeps): Pump {
  const { deliveries, clock, log } = deps;
  const underWay = new Set<Promise<void>>();
  let claiming: Promise<void> | undefined;
  let wanted = false;
  let stopped = false;

  const claimWanted = async (): Promise<void> => {
    while (wanted && !stopped) {
      wanted = false;
      const claimed = await deliveries.claim(clock.nowMs(), DELIVERY_LIMITS);
      for (const delivery of claimed) void begin(delivery);
    }
  };

  const wake = (): void => {
    wanted = true;
    claiming ??= claimWanted()
      .catch((fault: unknown) => log.error("webhooks.queue_failed", fault))
      .finally(() => {
        claiming = undefined;
        // A wake that came between the last look and here would else wait for the next poll.
        if (wanted && !stopped) wake();
      });
  };

  const begin = (delivery: Delivery): Promise<void> => {
    const work = deliver(delivery, deps)
      .catch((fault: unknown) => log.error("webhooks.delivery_failed", fault, { id: delivery.id }))
      .finally(() => {
        underWay.delete(work);
        wake();
      });
    underWay.add(work);
    return work;
  };

  return {
    wake: () => {
      if (!stopped) wake();
    },
    begin,
    async stop() {
      stopped = true;
      await claiming;
      await Promise.all(underWay);
    },
  };
}
