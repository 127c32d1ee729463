import { PassThrough, type Readable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { ownerKey } from "../../base/owner.ts";
import type { Shares } from "../../base/shares.ts";
import type { BulkProgress } from "../../bulk/bulk.ts";
import type { Caller, CallerInForce } from "../../accounts/admission/caller.ts";

/** A comment keeps proxies from closing a quiet stream. */
export const COMMENT_EVERY_MS = 15_000;

/** How often the caller's key is looked at; a revoked one ends the stream within 5 s. */
export const LOOK_EVERY_MS = 2_000;

/** The most unread octets of one stream: a client that reads less is gone. */
const UNREAD_MAX_BYTES = 65_536;

export interface EventStreamDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly isInForce: CallerInForce;
  readonly shares: Pick<Shares, "of">;
}

/** Server-sent events of sessions, all of them in one place so that they can be counted and stopped. */
export class EventStreams {
  readonly #deps: EventStreamDeps;
  readonly #open = new Set<PassThrough>();

  constructor(deps: EventStreamDeps) {
    this.#deps = deps;
  }

  /**
   * A body of `progress` events, the last one `completed` or `failed`. `follow` may refuse. Throws `NoRoom` when the
   * owner has its share open.
   */
  async open(
    caller: Caller,
    follow: () => Promise<AsyncIterable<BulkProgress>>,
  ): Promise<Readable> {
    const hold = this.#deps.shares.of("event_streams").take(ownerKey(caller.owner));
    let progress: AsyncIterable<BulkProgress>;
    try {
      progress = await follow();
    } catch (error) {
      hold.release();
      throw error;
    }
    const body = new PassThrough();
    this.#open.add(body);
    const { clock } = this.#deps;
    const ending = [
      every(clock, COMMENT_EVERY_MS, () => write(body, ":\n\n")),
      every(clock, LOOK_EVERY_MS, () => void this.#endUnlessInForce(body, caller)),
    ];
    body.once("close", () => {
      for (const end of ending) end();
      this.#open.delete(body);
      hold.release();
    });
    void this.#tell(body, progress);
    return body;
  }

  /** Ends every stream at once. */
  stop(): void {
    for (const body of this.#open) finish(body);
  }

  async #tell(body: PassThrough, progress: AsyncIterable<BulkProgress>): Promise<void> {
    const steps = progress[Symbol.asyncIterator]();
    body.once("close", () => void steps.return?.());
    try {
      for (;;) {
        const step = await steps.next();
        if (step.done === true || body.writableEnded || body.destroyed) return;
        write(body, eventText(step.value));
      }
    } catch (error) {
      this.#deps.log.error("http.events_failed", error);
    } finally {
      finish(body);
    }
  }

  async #endUnlessInForce(body: PassThrough, caller: Caller): Promise<void> {
    try {
      if (!(await this.#deps.isInForce(caller))) finish(body);
    } catch (error) {
      this.#deps.log.error("http.events_poll_failed", error);
      finish(body); // nobody can say whether the key is in force
    }
  }
}

/** Returns a function that ends it. */
function every(clock: Clock, ms: number, task: () => void): () => void {
  let callOff = clock.after(ms, again);
  function again(): void {
    task();
    callOff = clock.after(ms, again);
  }
  return () => callOff();
}

function eventText(progress: BulkProgress): string {
  const { status } = progress;
  const name = status === "completed" || status === "failed" ? status : "progress";
  return `event: ${name}\ndata: ${JSON.stringify(progress)}\n\n`;
}

function write(body: PassThrough, text: string): void {
  if (body.writableEnded || body.destroyed) return;
  body.write(text);
  if (body.writableLength + body.readableLength > UNREAD_MAX_BYTES) body.destroy();
}

function finish(body: PassThrough): void {
  if (!body.writableEnded && !body.destroyed) body.end();
}
