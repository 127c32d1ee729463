import type { TicketQueue } from "../../../src/adapters/bullmq/ticket-queue.ts";
import type { Ticket, Tickets } from "../../../src/ports/bulk/tickets.ts";
import type { Clock } from "../../../src/ports/process/clock.ts";
import { inTime } from "../../../src/ports/process/in-time.ts";
import type { Lifetime } from "../timeline.ts";
import type { SimulatedServer } from "./client.ts";

const LOCK_MS = 10_000;
const STALLED_MAX = 1;
const TAKE_WITHIN_MS = 3_000;
const ADD_WITHIN_MS = 2_000;

type Reachable = Pick<SimulatedServer, "timeline" | "wayMs" | "refuses" | "silenceMs">;

interface Waiting {
  readonly life: Lifetime;
  readonly give: (id: string) => void;
}

/** The queue of tickets: each id is there once, out to one worker at a time, and given out once more when that one died. */
export class TicketBox {
  readonly #redis: Reachable;
  readonly #ids = new Map<string, { stalls: number }>();
  #ready: string[] = [];
  #waiting: Waiting[] = [];

  constructor(redis: Reachable) {
    this.#redis = redis;
  }

  clear(): void {
    this.#ids.clear();
    this.#ready = [];
  }

  died(life: Lifetime): void {
    this.#waiting = this.#waiting.filter((one) => one.life !== life);
  }

  queueOf(life: Lifetime, clock: Clock): TicketQueue {
    return {
      wake: async ({ session, chunks }) => {
        const added = this.#reach(life).then(() => {
          for (let number = 0; number < chunks; number += 1)
            this.#add(`${session}-${String(number)}`);
          return true;
        });
        if (await inTime(added, { timeoutMs: ADD_WITHIN_MS, late: false, clock })) return;
        throw new Error("the tickets' Redis does not answer");
      },
      close: () => Promise.resolve(),
    };
  }

  /** The next id, which is then out to this worker. */
  async next(life: Lifetime): Promise<string> {
    await this.#reach(life);
    const id = this.#ready.shift();
    if (id === undefined) return await new Promise((give) => this.#waiting.push({ life, give }));
    this.#lock(id);
    return id;
  }

  /** Ends a wait that has no answer yet. */
  leave(life: Lifetime): void {
    this.died(life);
  }

  async done(life: Lifetime, id: string): Promise<void> {
    await this.#reach(life);
    this.#ids.delete(id);
  }

  /** Resolves when a call of this process has arrived, which takes as long as Redis is away. */
  #reach(life: Lifetime): Promise<void> {
    const { timeline } = this.#redis;
    return new Promise((arrived) => {
      const send = (): void => {
        timeline.after(life, this.#redis.wayMs(), () => {
          const isParted = life.partedUntilMs > timeline.nowMs;
          if (!this.#redis.refuses && this.#redis.silenceMs === 0 && !isParted) arrived();
          else timeline.after(life, 500, send);
        });
      };
      send();
    });
  }

  #add(id: string): void {
    if (this.#ids.has(id)) return;
    this.#ids.set(id, { stalls: 0 });
    this.#offer(id);
  }

  #offer(id: string): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#ready.push(id);
      return;
    }
    this.#lock(id);
    const { timeline } = this.#redis;
    const partedMs = Math.max(0, next.life.partedUntilMs - timeline.nowMs);
    timeline.after(next.life, this.#redis.wayMs() + partedMs, () => next.give(id));
  }

  #lock(id: string): void {
    const ticket = this.#ids.get(id);
    this.#redis.timeline.after(undefined, LOCK_MS, () => {
      if (ticket === undefined || this.#ids.get(id) !== ticket) return;
      ticket.stalls += 1;
      if (ticket.stalls > STALLED_MAX) this.#ids.delete(id);
      else this.#offer(id);
    });
  }
}

/** A worker's side. */
export function ticketsOf(box: TicketBox, life: Lifetime, clock: Clock): Tickets {
  let asked: Promise<string> | undefined;
  let isClosed = false;
  let endTake = (): void => undefined;
  return {
    async take(): Promise<Ticket | undefined> {
      if (isClosed) return undefined;
      asked ??= box.next(life);
      const closed = new Promise<undefined>((resolve) => (endTake = () => resolve(undefined)));
      const first = Promise.race([asked, closed]);
      const id = await inTime(first, { timeoutMs: TAKE_WITHIN_MS, late: undefined, clock });
      if (id === undefined) return undefined;
      asked = undefined;
      return { done: () => box.done(life, id) };
    },
    close() {
      isClosed = true;
      box.leave(life);
      endTake();
      return Promise.resolve();
    },
  };
}
