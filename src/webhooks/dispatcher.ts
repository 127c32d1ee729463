import { DAY_MS, isoTime } from "../core/calendar.ts";
import { type End, every } from "../base/every.ts";
import type {
  Deliveries,
  Delivery,
  DeliveryLimits,
  DeliveryOutcome,
  WebhookEndpoints,
  WebhookEvent,
} from "./webhooks-store.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { SecretBox } from "../base/secrets.ts";
import { RESOURCES } from "../base/resources.ts";
import type { WebhookSender } from "./webhook-sender.ts";
import { outcomeOf } from "./outcome-words.ts";
import { sign } from "./verify.ts";

/** The octets of one notification; `data` is JSON text, `nowMs` the time of dispatch. */
export function envelope(event: WebhookEvent, data: string, nowMs: number): Uint8Array {
  const body = { event, timestamp: isoTime(nowMs), data: JSON.parse(data) as unknown };
  return new TextEncoder().encode(JSON.stringify(body));
}

/**
 * Fifty receivers that hang have one place each and share eight more: six stay free for other accounts, whose first
 * delivery never needs one of the eight.
 */
export const DELIVERY_LIMITS: DeliveryLimits = {
  perAccount: RESOURCES.webhooks.perOwner,
  inAll: RESOURCES.webhooks.total,
  beyondFirst: 8,
};

interface DeliverDeps {
  readonly endpoints: Pick<WebhookEndpoints, "find">;
  readonly deliveries: Deliveries;
  readonly box: Pick<SecretBox, "open">;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly log: Log;
  readonly counted?: ((outcome: "accepted" | "failed" | "removed") => void) | undefined;
}

/** Makes the one attempt at a claimed delivery and completes its row. Rejects for faults of the store only. */
export async function deliver(delivery: Delivery, deps: DeliverDeps): Promise<void> {
  const { endpoints, deliveries, clock, counted } = deps;
  // Read now, not when it was queued: a new URL or secret counts at once.
  const endpoint = await endpoints.find(delivery.accountId);
  if (endpoint === undefined) {
    await deliveries.complete(delivery.id, "removed", { durationMs: 0 });
    counted?.("removed");
    return;
  }
  const startedMs = clock.monotonicMs();
  const attempted = await attempt(delivery, endpoint, deps);
  const durationMs = Math.round(clock.monotonicMs() - startedMs);
  await deliveries.complete(delivery.id, "done", { ...attempted, durationMs });
  counted?.(attempted.error === undefined ? "accepted" : "failed");
}

async function attempt(
  { accountId, event, data }: Delivery,
  { url, sealedSecret }: { readonly url: string; readonly sealedSecret: string },
  { box, sender, clock }: DeliverDeps,
): Promise<DeliveryOutcome> {
  const secret = box.open(sealedSecret, accountId);
  if (secret === undefined) return { durationMs: 0, error: SECRET_LOST };
  const body = envelope(event, data, clock.nowMs());
  const result = await sender.post({ url, event, body, signature: sign(secret, body) });
  return outcomeOf(result, 0);
}

const SECRET_LOST =
  "The signing secret cannot be read, because the service's key was changed. Make a new secret.";

export interface Dispatcher {
  /**
   * Begins: what a process that died was sending is logged as interrupted, then the queue is worked off.
   * `alone`, no other process can be sending; `among_others`, only what began more than a minute ago is taken for
   * abandoned.
   */
  start(where: "alone" | "among_others"): Promise<void>;
  wake(): void;
  /** Sends this one, unless another process has started it, and waits until it is over, up to `timeoutMs`. */
  deliverNow(id: string, timeoutMs: number): Promise<void>;
  /** Claims no more and waits for what is under way, a sweep of the log included: up to 10 s. */
  stop(): Promise<void>;
}

const POLL_MS = 1_000;
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
