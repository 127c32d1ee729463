import { EventEmitter } from "node:events";
import { createHash } from "node:crypto";
import type { Lifetime, Timeline } from "../timeline.ts";
import type { Keyspace } from "./keyspace.ts";

type Status = "connecting" | "connect" | "ready" | "close" | "reconnecting" | "end";

/** The server and the network before it. */
export interface SimulatedServer {
  readonly timeline: Timeline;
  readonly runId: string;
  readonly keys: Keyspace;
  /** Scripts that the server knows. */
  readonly scripts: Set<string>;
  readonly clients: Set<SimulatedClient>;
  /** It takes no connection. */
  readonly refuses: boolean;
  /** For how long it will not answer. */
  readonly silenceMs: number;
  /** How long one way takes. */
  wayMs(): number;
  /** Whether what a broken connection had sent is lost. */
  loses(): boolean;
  evalsha(sha1: string, count: number, rest: readonly unknown[]): unknown;
  publish(channel: string, message: string): void;
  subscribe(client: SimulatedClient, channel: string): void;
  unsubscribe(client: SimulatedClient): void;
}

/** A call that was sent and has no answer yet. */
interface Pending {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (fault: Error) => void;
}

const BACK_OFF_MIN_MS = 50;
const BACK_OFF_MAX_MS = 2_000;

/**
 * The driver's client as `adapters/redis` uses it: never queues, keeps order, comes back by itself. What was sent may
 * be done although its answer is lost.
 */
export class SimulatedClient extends EventEmitter {
  readonly options = { db: 0 };
  readonly stream = { cork: () => undefined, uncork: () => undefined };
  status: Status = "connecting";
  readonly #redis: SimulatedServer;
  readonly life: Lifetime;
  #attempts = 0;
  /** What was sent on an earlier connection finds no client any more. */
  #connection = 0;
  #arrivesMs = 0;
  #answeredMs = 0;
  readonly #pending = new Set<Pending>();

  constructor(redis: SimulatedServer, life: Lifetime) {
    super();
    this.#redis = redis;
    this.life = life;
    this.#connect();
  }

  evalsha(sha1: string, count: number, ...rest: readonly unknown[]): Promise<unknown> {
    return this.#call(() => this.#redis.evalsha(sha1, count, rest));
  }

  eval(lua: string, count: number, ...rest: readonly unknown[]): Promise<unknown> {
    const sha1 = createHash("sha1").update(lua).digest("hex");
    return this.#call(() => {
      this.#redis.scripts.add(sha1);
      return this.#redis.evalsha(sha1, count, rest);
    });
  }

  info(): Promise<unknown> {
    return this.#call(() => `# Server\r\nrun_id:${this.#redis.runId}\r\n`);
  }

  ping(): Promise<unknown> {
    return this.#call(() => "PONG");
  }

  set(key: string, value: string, _unit: "PX", livesMs: number): Promise<unknown> {
    return this.#call(() => this.#redis.keys.set(key, value, livesMs));
  }

  scan(_cursor: string, _match: "MATCH", pattern: string): Promise<unknown> {
    return this.#call(() => ["0", this.#redis.keys.keys(pattern.slice(0, -1))]);
  }

  unlink(...keys: readonly string[]): Promise<unknown> {
    return this.#call(() => this.#redis.keys.unlink(...keys));
  }

  publish(channel: string, message: string): Promise<unknown> {
    return this.#call(() => this.#redis.publish(channel, message));
  }

  subscribe(channel: string): Promise<unknown> {
    return this.#call(() => this.#redis.subscribe(this, channel));
  }

  disconnect(isToReconnect = false): void {
    if (this.status === "end") return;
    this.#drop(isToReconnect);
  }

  /** The connection breaks. */
  cut(): void {
    if (this.status !== "end" && this.status !== "reconnecting") this.#drop(true);
  }

  /** A message of a channel. */
  receive(channel: string, message: string): void {
    const { timeline } = this.#redis;
    const connection = this.#connection;
    timeline.after(this.life, this.#redis.wayMs() + this.#partedMs, () => {
      if (connection === this.#connection) this.emit("message", channel, message);
    });
  }

  /** For how long the network between both carries nothing. */
  get #partedMs(): number {
    return Math.max(0, this.life.partedUntilMs - this.#redis.timeline.nowMs);
  }

  get #silenceMs(): number {
    return Math.max(this.#redis.silenceMs, this.#partedMs);
  }

  #connect(): void {
    const { timeline } = this.#redis;
    this.#attempts += 1;
    this.#connection += 1;
    const connection = this.#connection;
    timeline.after(this.life, this.#redis.wayMs(), () => {
      if (connection !== this.#connection || this.status === "end") return;
      if (this.#redis.refuses) {
        this.emit("error", new Error("connect ECONNREFUSED"));
        this.#drop(true);
        return;
      }
      this.status = "connect";
      this.emit("connect");
      // A server that does not answer is not ready.
      const waitMs = this.#redis.wayMs() + this.#silenceMs;
      timeline.after(this.life, waitMs, () => this.#becomeReady(connection));
    });
  }

  #becomeReady(connection: number): void {
    if (connection !== this.#connection || this.status !== "connect") return;
    this.status = "ready";
    this.#attempts = 0;
    this.#redis.clients.add(this);
    this.emit("ready");
  }

  #drop(isToReconnect: boolean): void {
    this.#connection += 1;
    this.#redis.clients.delete(this);
    this.#redis.unsubscribe(this);
    const pending = [...this.#pending];
    this.#pending.clear();
    this.status = isToReconnect ? "reconnecting" : "end";
    if (!this.life.isAlive) return;
    this.emit("close");
    for (const { reject } of pending) reject(new Error("Connection is closed."));
    if (!isToReconnect) return;
    const backOffMs = Math.min(
      BACK_OFF_MAX_MS,
      BACK_OFF_MIN_MS * 2 ** Math.min(this.#attempts, 10),
    );
    this.#redis.timeline.after(this.life, backOffMs, () => {
      if (this.status !== "reconnecting") return;
      this.status = "connecting";
      this.#connect();
    });
  }

  /** Sends a call; the server does `work` in its turn. */
  #call(work: () => unknown): Promise<unknown> {
    if (this.status !== "ready") return Promise.reject(new Error("Stream isn't writeable"));
    const { timeline } = this.#redis;
    this.#arrivesMs = Math.max(this.#arrivesMs, timeline.nowMs + this.#redis.wayMs());
    return new Promise((resolve, reject) => {
      const pending = { resolve, reject };
      this.#pending.add(pending);
      this.#arrive(work, pending, this.#connection);
    });
  }

  #arrive(work: () => unknown, pending: Pending, connection: number): void {
    const { timeline } = this.#redis;
    timeline.after(undefined, this.#arrivesMs - timeline.nowMs, () => {
      if (this.#silenceMs > 0) {
        this.#arrivesMs = timeline.nowMs + this.#silenceMs;
        this.#arrive(work, pending, connection);
        return;
      }
      // What a broken connection had sent arrived or not.
      if (connection !== this.#connection && this.#redis.loses()) return;
      this.#answer(work, pending);
    });
  }

  #answer(work: () => unknown, pending: Pending): void {
    let end: () => void;
    try {
      const answer = work();
      end = () => pending.resolve(answer);
    } catch (fault) {
      end = () => pending.reject(fault as Error);
    }
    const { timeline } = this.#redis;
    const wayMs = this.#redis.wayMs() + this.#partedMs;
    this.#answeredMs = Math.max(this.#answeredMs, timeline.nowMs + wayMs);
    timeline.after(this.life, this.#answeredMs - timeline.nowMs, () => {
      if (this.#pending.delete(pending)) end();
    });
  }
}
