import type { Redis } from "ioredis";
import type { TicketQueue } from "../../../src/adapters/bullmq/ticket-queue.ts";
import {
  openRedis,
  type RedisLink,
  type RedisLinkDeps,
} from "../../../src/adapters/redis/open-redis.ts";
import type { Clock } from "../../../src/ports/process/clock.ts";
import type { Tickets } from "../../../src/ports/bulk/tickets.ts";
import type { Chance } from "../chance.ts";
import type { Lifetime, Timeline } from "../timeline.ts";
import { SimulatedClient, type SimulatedServer } from "./client.ts";
import { Keyspace } from "./keyspace.ts";
import { effectOf } from "./script-effects.ts";
import { ticketsOf, TicketBox } from "./tickets.ts";

/** The Redis that several processes share. The real adapters run on it; only the driver's clients are simulated. */
export class SimulatedRedis implements SimulatedServer {
  readonly timeline: Timeline;
  readonly keys: Keyspace;
  readonly clients = new Set<SimulatedClient>();
  /** Scripts that the server knows. */
  readonly scripts = new Set<string>();
  readonly tickets: TicketBox;
  runId = "";
  /** It does not answer before this; what arrives is done then. */
  silentUntilMs = 0;
  /** It takes no connection before this. */
  refusesUntilMs = 0;
  readonly #chance: Chance;
  readonly #subscribers = new Map<SimulatedClient, string>();

  constructor(timeline: Timeline, chance: Chance) {
    this.timeline = timeline;
    this.#chance = chance;
    this.keys = new Keyspace(() => timeline.beganMs + timeline.nowMs);
    this.tickets = new TicketBox(this);
    this.#begin();
  }

  get refuses(): boolean {
    return this.timeline.nowMs < this.refusesUntilMs;
  }

  get silenceMs(): number {
    return Math.max(0, this.silentUntilMs - this.timeline.nowMs);
  }

  /** One way over the network. */
  wayMs(): number {
    return this.#chance.between(0.1, 1);
  }

  loses(): boolean {
    return this.#chance.isTrue(0.5);
  }

  open(life: Lifetime, deps: RedisLinkDeps): Promise<RedisLink> {
    const connect = (): Redis => this.connect(life) as unknown as Redis;
    return openRedis("redis://redis.test", { ...deps, connect });
  }

  connect(life: Lifetime): SimulatedClient {
    return new SimulatedClient(this, life);
  }

  openTickets(life: Lifetime, clock: Clock): Tickets {
    return ticketsOf(this.tickets, life, clock);
  }

  openQueue(life: Lifetime, clock: Clock): TicketQueue {
    return this.tickets.queueOf(life, clock);
  }

  evalsha(sha1: string, count: number, rest: readonly unknown[]): unknown {
    if (!this.scripts.has(sha1)) throw new Error("NOSCRIPT No matching script.");
    return effectOf(this.keys, sha1, rest.slice(0, count).map(String), rest.slice(count));
  }

  subscribe(client: SimulatedClient, channel: string): void {
    this.#subscribers.set(client, channel);
  }

  unsubscribe(client: SimulatedClient): void {
    this.#subscribers.delete(client);
  }

  publish(channel: string, message: string): void {
    for (const [client, its] of this.#subscribers) {
      if (its === channel) client.receive(channel, message);
    }
  }

  /** Every connection breaks. */
  cut(): void {
    for (const client of this.clients) client.cut();
  }

  /** It ends, loses all that it held, and takes connections again so many milliseconds later. */
  restart(awayMs: number): void {
    this.refusesUntilMs = this.timeline.nowMs + awayMs;
    this.cut();
    this.keys.clear();
    this.scripts.clear();
    this.tickets.clear();
    this.#begin();
  }

  /** The process is gone: its connections break. */
  died(life: Lifetime): void {
    for (const client of this.clients) if (client.life === life) client.disconnect();
    this.tickets.died(life);
  }

  #begin(): void {
    this.runId = Buffer.from(this.#chance.bytes(20)).toString("hex");
  }
}
