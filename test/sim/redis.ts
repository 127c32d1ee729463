import type { TicketQueue } from "../../src/adapters/bullmq/ticket-queue.ts";
import type { RedisLink, RedisLinkDeps } from "../../src/adapters/redis/open-redis.ts";
import type { Lifetime } from "./timeline.ts";
import type { Tickets } from "../../src/ports/bulk/tickets.ts";

/** The model of the Redis that several processes share. */
export class SimulatedRedis {
  open(_life: Lifetime, _deps: RedisLinkDeps): RedisLink {
    throw new Error("not in an embedded world");
  }

  openTickets(_life: Lifetime): Tickets {
    throw new Error("not in an embedded world");
  }

  openQueue(): TicketQueue {
    throw new Error("not in an embedded world");
  }
}
