import { DAY_MS, isoTime } from "../core/calendar.ts";
import type { Clock } from "../base/clock.ts";
import { type End, every } from "../base/every.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { notFound, noWebhook, tooManyPings } from "../base/refusals.ts";
import { RESOURCES } from "../base/resources.ts";
import type { SecretBox } from "../base/secrets.ts";
import type { Announcement } from "../bulk/jobs/announce.ts";
import type { Tx } from "../store/transaction.ts";
import type { Db, WebhookDeliveryRow } from "../store/schema.ts";
import { sign } from "./verify.ts";
import { deliveryOutcome, type WebhookSender } from "./webhook-sender.ts";
import {
  type Deliveries,
  type Delivery,
  type DeliveryLimits,
  type DeliveryOutcome,
  enqueueIn,
  type WebhookEndpoint,
  WebhookEndpoints,
  type WebhookEvent,
} from "./webhooks-store.ts";

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

/** Queued deliveries of one account; its receiver hangs or is far too slow when there are more. */
const WAITING_MAX = 500;

const PINGS_A_MINUTE = 10;
const MINUTE_MS = 60_000;
const PING_DATA = JSON.stringify({ message: "Webhook endpoint verified." });

/** Longer than a delivery, because a ping may wait for one of the account's places. */
const PING_WAIT_MS = 25_000;
const PLACE_MS = 250;

const POLL_MS = 1_000;
const SWEEP_MS = 60_000;

/** A delivery takes 10 s; after a minute its process is gone. */
const ABANDONED_MS = 60_000;
const KEPT_MS = 7 * DAY_MS;

const SECRET_LOST =
  "The signing secret cannot be read, because the service's key was changed. Make a new secret.";

/** Queues one event of an account in a transaction, where the account wants it. */
export type Announce = (
  tx: Tx,
  accountId: string,
  event: WebhookEvent,
  data: object,
) => Promise<void>;

/** The parts that whoever tells accounts of alerts, waves and changes needs. */
export interface AnnounceDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Log;
  /** Tells the account, in the transaction that notes it. */
  readonly announce: Announce;
  /** Call it after that transaction. */
  readonly announced: () => void;
}

/** Events that an empty selection does not have. */
const CHOSEN_ONLY: ReadonlySet<WebhookEvent> = new Set([
  "gate.wave",
  "gate.alert",
  "service.health",
]);

interface DispatcherDeps {
  readonly endpoints: WebhookEndpoints;
  readonly deliveries: Deliveries;
  readonly box: SecretBox;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Log;
  readonly counted?: ((outcome: "accepted" | "failed" | "removed") => void) | undefined;
  /** Wakes the process that sends what is announced here; absent: this one sends it. */
  readonly wakeOther?: (() => void) | undefined;
}

/** Queues messages and sends them: claims while there is room, and each end makes room. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #underWay = new Set<Promise<void>>();
  #ends: readonly End[] = [];
  #claiming: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;
  #isFailing = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  readonly announcement: Announcement = {
    write: async (tx, { owner, session, stats }) => {
      if (owner.kind !== "account") return;
      const message = { event: "bulk.completed", session, data: { session, stats } } as const;
      await this.#queue(tx, owner.accountId, message);
    },
    written: () => {
      const { wakeOther } = this.#deps;
      if (wakeOther === undefined) this.wake();
      else wakeOther();
    },
  };

  /** Queues an event in the transaction that notes it; call `announcement.written` after it. */
  readonly announce: Announce = (tx, accountId, event, data) =>
    this.#queue(tx, accountId, { event, session: null, data });

  /** Where the account wants the event: an empty selection is all that there were at first. */
  async #queue(
    tx: Tx,
    account_id: string,
    { data, ...message }: Pick<Delivery, "event" | "session"> & { readonly data: object },
  ): Promise<void> {
    const endpoint = await new WebhookEndpoints(tx.sql).find(account_id);
    if (endpoint === undefined) return;
    const isWanted = endpoint.events.includes(message.event);
    const isUnselected = endpoint.events.length === 0 && !CHOSEN_ONLY.has(message.event);
    if (!isWanted && !isUnselected) return;
    const delivery = this.#delivery({ account_id, ...message, data: JSON.stringify(data) });
    await enqueueIn(tx, delivery, { waiting: WAITING_MAX });
  }

  /** Sends test.ping, or once more a message whose attempt is over; the log row. Throws a `Refusal`. */
  async ping(accountId: string, again?: string): Promise<WebhookDeliveryRow> {
    const { endpoints, deliveries, clock } = this.#deps;
    if ((await endpoints.find(accountId)) === undefined) throw noWebhook();
    const message =
      again === undefined
        ? { account_id: accountId, event: "test.ping" as const, session: null, data: PING_DATA }
        : await deliveries.sent(accountId, again);
    if (message === undefined) throw notFound();
    const recent = { sinceMs: clock.nowMs() - MINUTE_MS, most: PINGS_A_MINUTE };
    const delivery = this.#delivery(message);
    const { id } = delivery;
    const queued = await deliveries.enqueue(delivery, { waiting: WAITING_MAX, recent });
    if (queued === "too_many") throw tooManyPings(PINGS_A_MINUTE);
    await this.#deliverNow(id);
    const row = await deliveries.find(id);
    if (row === undefined) throw new Error(`ping ${id}: its log row is gone`);
    return row;
  }

  #delivery(message: Omit<Delivery, "id" | "queued_at_ms">): Delivery {
    const { ids, clock } = this.#deps;
    return { ...message, id: ids.hex32(), queued_at_ms: clock.nowMs() };
  }

  /**
   * Begins: what a process that died was sending is logged as interrupted, then the queue is worked off.
   * `alone`, no other process can be sending; `among_others`, only what began more than a minute ago is taken for
   * abandoned.
   */
  async start(where: "alone" | "among_others"): Promise<void> {
    const { deliveries, clock, log } = this.#deps;
    const interrupt = async (beforeMs: number): Promise<void> => {
      const count = await deliveries.interrupt(beforeMs);
      if (count > 0) log.warn("webhooks.interrupted", { count });
    };
    // Alone, the hour does not matter: the clock may have been set back since.
    if (where === "alone") await interrupt(Number.MAX_SAFE_INTEGER);
    const failed = (fault: unknown): void => log.error("webhooks.sweep_failed", fault);
    const poll = (): Promise<void> => Promise.resolve(this.wake());
    const sweep = async (): Promise<void> => {
      await interrupt(clock.nowMs() - ABANDONED_MS);
      await deliveries.prune(clock.nowMs() - KEPT_MS);
    };
    const atOnce = { firstMs: 0, clock, failed };
    this.#ends = [
      every({ ms: POLL_MS, ...atOnce }, poll),
      every({ ms: SWEEP_MS, ...atOnce }, sweep),
    ];
  }

  /** Claims no more and waits for what is under way, a sweep of the log included: up to 10 s. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const ended = this.#ends.map((end) => end());
    await this.#claiming;
    await Promise.all([...this.#underWay, ...ended]);
  }

  wake(): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    this.#claiming ??= this.#claimWanted()
      .then(
        () => void (this.#isFailing = false),
        (fault: unknown) => {
          // One outage is one line.
          if (!this.#isFailing) this.#deps.log.error("webhooks.queue_failed", fault);
          this.#isFailing = true;
        },
      )
      .finally(() => {
        this.#claiming = undefined;
        // A wake that came between the last look and here would else wait for the next poll.
        if (this.#isWanted) this.wake();
      });
  }

  async #claimWanted(): Promise<void> {
    const { deliveries, clock } = this.#deps;
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      const claimed = await deliveries.claim(clock.nowMs(), DELIVERY_LIMITS);
      for (const delivery of claimed) void this.#begin(delivery);
    }
  }

  /** Sends this one, unless another process has started it, and waits until it is over or the time is. */
  async #deliverNow(id: string): Promise<void> {
    const { deliveries, clock } = this.#deps;
    const untilMs = clock.monotonicMs() + PING_WAIT_MS;
    while (clock.monotonicMs() < untilMs) {
      const [mine] = await deliveries.claim(clock.nowMs(), DELIVERY_LIMITS, id);
      if (mine !== undefined) return await this.#begin(mine);
      const state = (await deliveries.find(id))?.state;
      if (state !== "queued" && state !== "sending") return;
      await new Promise<void>((resolve) => void clock.after(PLACE_MS, resolve));
    }
  }

  #begin(delivery: WebhookDeliveryRow): Promise<void> {
    const { id } = delivery;
    const work = this.deliver(delivery)
      .catch((fault: unknown) => this.#deps.log.error("webhooks.delivery_failed", fault, { id }))
      .finally(() => {
        this.#underWay.delete(work);
        this.wake();
      });
    this.#underWay.add(work);
    return work;
  }

  /** Makes the one attempt at a claimed delivery and completes its row. Rejects for faults of the store only. */
  async deliver(delivery: WebhookDeliveryRow): Promise<void> {
    const { endpoints, deliveries, clock, counted } = this.#deps;
    // Read now, not when it was queued: a new URL or secret counts at once.
    const endpoint = await endpoints.find(delivery.account_id);
    if (endpoint === undefined) {
      await deliveries.complete(delivery.id, "removed", { duration_ms: 0 });
      counted?.("removed");
      return;
    }
    const startedMs = clock.monotonicMs();
    const outcome = await this.#attempt(delivery, endpoint);
    const duration_ms = Math.round(clock.monotonicMs() - startedMs);
    await deliveries.complete(delivery.id, "done", { ...outcome, duration_ms });
    counted?.(outcome.error === undefined ? "accepted" : "failed");
  }

  async #attempt(
    { account_id, event, data }: WebhookDeliveryRow,
    { url, sealedSecret }: WebhookEndpoint,
  ): Promise<DeliveryOutcome> {
    const { box, sender, clock } = this.#deps;
    const secret = box.open(sealedSecret, account_id);
    if (secret === undefined) return { error: SECRET_LOST };
    const body = envelope(event, data, clock.nowMs());
    return deliveryOutcome(await sender.post({ url, event, body, signature: sign(secret, body) }));
  }
}
