import type { Redis } from "ioredis";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { Log } from "../../ports/process/log.ts";
import { ReplyWatch } from "./reply-watch.ts";
import type { Script } from "./scripts.ts";

export interface ConnectionDeps {
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly log: Pick<Log, "info" | "warn">;
}

/** What a script returned, in order; undefined: Redis is down, and the script may have run or not. */
export type Reply = readonly unknown[] | undefined;

/** Runs before anything is counted on a connection that is back; rejects or answers false to be tried again. */
type Mend = () => Promise<void>;

/** After this much silence an accepted connection counts as dead. */
const READY_WITHIN_MS = 1_000;

const ANSWER_WITHIN_MS = 500;
const LATE = Symbol("late");

/** The shortest silence that `ReplyWatch` calls late. */
const SILENT_MS = 500;

/** A Redis that answers with errors (full, read-only, loading) is tried again this often. */
const RETRY_MS = 500;

/**
 * One connection that is up or away. Away, every call comes back at once; the first one that finds out waits
 * for 600 ms at most. Comes back by itself.
 */
export class RedisConnection {
  readonly #client: Redis;
  readonly #deps: ConnectionDeps;
  readonly #watch: ReplyWatch;
  readonly #mends: Mend[] = [];
  readonly #tasks: (() => void)[] = [];
  #isUp = false;
  #lastUpMs = -Infinity;
  #isSaid = false;
  #isJoining = false;
  #isClosed = false;
  #isGathering = false;
  #prefix = "";

  constructor(client: Redis, deps: ConnectionDeps) {
    this.#deps = deps;
    this.#client = client;
    this.#watch = new ReplyWatch(deps.clock, () => {
      this.#lose("no answer", SILENT_MS);
      this.#client.disconnect(true);
    });
    this.#client
      .on("connect", () => this.#expectReady())
      .on("ready", () => void this.#join())
      .on("close", () => this.#lose("closed"))
      // Without a listener an error would end the process; what follows is always "close".
      .on("error", (fault: Error) => this.#say(reasonOf(fault)));
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Since when nothing was counted here; Infinity before the first time. */
  get awayForMs(): number {
    return this.#isUp ? 0 : this.#deps.clock.monotonicMs() - this.#lastUpMs;
  }

  /** Before every key: the counters of this very start of the server, never those of a snapshot of it. */
  get prefix(): string {
    return this.#prefix;
  }

  /** `mend` runs before each connection counts as up. */
  beforeUp(mend: Mend): void {
    this.#mends.push(mend);
  }

  /** `task` runs each time in the step in which it is up. */
  afterUp(task: () => void): void {
    this.#tasks.push(task);
  }

  /** Calls a script. */
  async run(
    script: Script,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<Reply> {
    return this.#isUp ? this.#call(script, keys, values) : undefined;
  }

  /** The same for many at once, which have waited for each other already: it leaves without waiting for more. */
  async runGathered(
    script: Script,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<Reply> {
    return this.#isUp ? this.#send(script, keys, values) : undefined;
  }

  /** The same before the connection is up; only `mend` uses it. Rejects if Redis fails. */
  async mend(
    script: Script,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<void> {
    await this.#inTime(this.#evaluate(script, keys, values));
  }

  /** Every key that begins with the prefix and `kind`, a page at a time. */
  async *keys(kind: string): AsyncIterable<readonly string[]> {
    let cursor = "0";
    do {
      const scan = this.#client.scan(cursor, "MATCH", `${this.#prefix}${kind}*`, "COUNT", 1_000);
      const [next, page] = await this.#inTime(scan);
      yield page;
      cursor = next;
    } while (cursor !== "0");
  }

  async remove(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.#inTime(this.#client.unlink(...keys));
  }

  publish(channel: string, message: string): void {
    // A notice that is lost is made good by the listeners' polls.
    if (this.#isUp) this.#client.publish(channel, message).catch(() => undefined);
  }

  async answers(): Promise<boolean> {
    if (!this.#isUp) return false;
    return this.#inTime(this.#client.ping()).then(
      () => this.#isUp,
      () => false,
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#isUp = false;
    this.#client.disconnect();
  }

  #call(
    script: Script,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<Reply> {
    this.#gather();
    return this.#send(script, keys, values);
  }

  async #send(
    script: Script,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<Reply> {
    this.#watch.sent();
    try {
      return (await this.#evaluate(script, keys, values)) as readonly unknown[];
    } catch (fault) {
      this.#lose(reasonOf(fault));
      if (this.#client.status === "ready") this.#joinLater();
      return undefined;
    } finally {
      this.#watch.answered();
    }
  }

  /** The calls of one turn of the loop leave in one write: a write each costs more than the call. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const { stream } = this.#client;
    stream.cork();
    setImmediate(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  async #evaluate(
    { sha1, lua }: Script,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<unknown> {
    try {
      return await this.#client.evalsha(sha1, keys.length, ...keys, ...values);
    } catch (fault) {
      if (!(fault instanceof Error) || !fault.message.startsWith("NOSCRIPT")) throw fault;
      return this.#client.eval(lua, keys.length, ...keys, ...values);
    }
  }

  #expectReady(): void {
    this.#deps.clock.after(READY_WITHIN_MS, () => {
      const { status } = this.#client;
      if (!this.#isClosed && status === "connect") this.#client.disconnect(true);
    });
  }

  async #join(): Promise<void> {
    if (this.#isUp || this.#isJoining || this.#isClosed) return;
    this.#isJoining = true;
    try {
      await this.#select();
      const info = await this.#inTime(this.#client.info("server"));
      this.#prefix = prefixOf(info);
      // Shows a full or read-only server before a request does.
      await this.#inTime(this.#client.set(`${this.#prefix}probe`, "1", "PX", 1_000));
      for (const mend of this.#mends) await mend();
      if (this.#client.status !== "ready") return;
      this.#isUp = true;
      for (const task of this.#tasks) task();
      if (this.#isSaid) this.#deps.log.info("redis.available");
      this.#isSaid = false;
    } catch (fault) {
      this.#say(reasonOf(fault));
      this.#joinLater();
    } finally {
      this.#isJoining = false;
    }
  }

  /** The driver selects the URL's database, and silently stays in the first one if that fails. */
  async #select(): Promise<void> {
    const { db = 0 } = this.#client.options;
    if (db > 0) await this.#inTime(this.#client.select(db));
  }

  #joinLater(): void {
    this.#deps.clock.after(RETRY_MS, () => {
      if (this.#client.status === "ready") void this.#join();
    });
  }

  #lose(reason: string, silentMs = 0): void {
    if (this.#isUp) this.#lastUpMs = this.#deps.clock.monotonicMs() - silentMs;
    this.#isUp = false;
    this.#say(reason);
  }

  /** One line for each time it goes. */
  #say(reason: string): void {
    if (this.#isSaid || this.#isClosed) return;
    this.#isSaid = true;
    this.#deps.log.warn("redis.unavailable", { reason });
  }

  /** A call that is not watched: a frozen connection is dropped here too. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const { clock } = this.#deps;
    const said = await inTime<T, typeof LATE>(answer, {
      timeoutMs: ANSWER_WITHIN_MS,
      late: LATE,
      clock,
    });
    if (said !== LATE) return said;
    this.#client.disconnect(true);
    throw new Error("no answer");
  }
}

const REASON_MAX = 200;

/** In one line; the driver's messages name hosts and error codes, never the password. */
const reasonOf = (fault: unknown): string =>
  (fault instanceof Error ? fault.message || fault.name : String(fault)).slice(0, REASON_MAX);

/** Of what INFO says: `run_id` is another one after each start of the server. */
function prefixOf(info: string): string {
  const runId = /^run_id:([0-9a-f]{16})/m.exec(info)?.[1];
  if (runId === undefined) throw new Error("the server names no run_id");
  return `gatepost:${runId}:`;
}
