import type { OwnerKey } from "../../../base/owner.ts";
import type { Clock } from "../../../base/clock.ts";
import { SMALL_BODY_OCTETS } from "../../../base/resources.ts";
import { type Hold, NoRoom, type Shares } from "../../../base/shares.ts";
import { bodyCutShort, bodyTooLarge, requestTimedOut } from "../../../base/refusals.ts";
import type { HttpRequest } from "../../answer/route.ts";
import { Pieces } from "./pieces.ts";
import { SlowSenders } from "./slow-senders.ts";

export type Source = HttpRequest;

export interface ReceiverDeps {
  readonly shares: Pick<Shares, "of">;
  readonly clock: Clock;
}

/** A whole body. */
export interface Received {
  /** In memory of their own when they are large. */
  readonly chunks: Uint8Array[];
  readonly octets: number;
  /** Gives its memory back to its owner's share; may be called twice. */
  readonly release: () => void;
}

/** Chunks of a few octets cost the parser as much as large ones; no client sends a body in thousands of them. */
export const isCrumbled = (chunks: number, octets: number): boolean =>
  chunks > 1_000 + octets / 256;

/** Whether a body of `octets` waits for its owner's turn to be decoded. */
export const isLargeBody = (octets: number): boolean => octets > SMALL_BODY_OCTETS;

/**
 * Receives bodies into memory within their owners' shares. Refuses with 400, 408 (too slow), 413, 429 or 503. What
 * is left of a refused body is read and dropped by Node, so that the client can see the answer; the time limit of
 * the request bounds that.
 */
export class Receiver {
  readonly #shares: ReceiverDeps["shares"];
  readonly #slow: SlowSenders;

  constructor({ shares, clock }: ReceiverDeps) {
    this.#shares = shares;
    this.#slow = new SlowSenders(clock);
  }

  receive(source: Source, owner: OwnerKey, maxBytes: number): Promise<Received> {
    const shares = this.#shares;
    return new Promise((resolve, reject) => {
      const receiving = new Receiving({ source, owner, maxBytes, shares }, { resolve, reject });
      receiving.begin(this.#slow);
    });
  }
}

interface Order {
  readonly source: Source;
  readonly owner: OwnerKey;
  readonly maxBytes: number;
  readonly shares: ReceiverDeps["shares"];
}

interface Settle {
  readonly resolve: (received: Received) => void;
  readonly reject: (why: unknown) => void;
}

class Receiving {
  readonly #order: Order;
  readonly #settle: Settle;
  #pieces = new Pieces();
  readonly #reclaim = { reclaim: () => this.#refuse(new NoRoom("large_bodies", "owner")) };
  #isSmall = false;
  #octets = 0;
  #chunks = 0;
  #hold: Hold | undefined;
  /** What the hold covers; a small body is covered whole as soon as its length is known. */
  #covered = 0;
  #stopWatching: () => void = () => undefined;

  constructor(order: Order, settle: Settle) {
    this.#order = order;
    this.#settle = settle;
  }

  begin(slow: SlowSenders): void {
    const { source, owner, shares } = this.#order;
    const declared = Number(source.headers["content-length"] ?? 0);
    this.#isSmall = !isLargeBody(declared);
    this.#covered = this.#isSmall ? declared : 0;
    if (declared > 0) this.#pieces = new Pieces(Math.min(declared, SMALL_BODY_OCTETS));
    const resource = this.#isSmall ? "small_bodies" : "large_bodies";
    try {
      this.#hold = shares.of(resource).take(owner, this.#covered, this.#reclaim);
    } catch (error) {
      source.resume();
      this.#settle.reject(error);
      return;
    }
    source.on("data", this.#take).on("end", this.#finish).on("close", this.#cut);
    source.on("error", this.#cut);
    this.#stopWatching = slow.watch(
      () => this.#octets,
      () => this.#refuse(requestTimedOut()),
    );
  }

  readonly #take = (chunk: Buffer): void => {
    this.#octets += chunk.length;
    this.#chunks += 1;
    if (this.#octets > this.#order.maxBytes || isCrumbled(this.#chunks, this.#octets)) {
      this.#refuse(bodyTooLarge());
      return;
    }
    try {
      this.#cover();
      this.#pieces.add(chunk);
    } catch (error) {
      this.#refuse(error);
    }
  };

  #cover(): void {
    if (this.#isSmall && isLargeBody(this.#octets)) {
      // Its length was not announced: it counted as small until now.
      const small = this.#hold;
      const { owner, shares } = this.#order;
      this.#hold = shares.of("large_bodies").take(owner, this.#octets, this.#reclaim);
      small?.release();
      this.#isSmall = false;
    } else if (this.#octets > this.#covered) {
      this.#hold?.grow(this.#octets - this.#covered);
    }
    this.#covered = Math.max(this.#covered, this.#octets);
  }

  readonly #finish = (): void => {
    this.#stop();
    this.#hold?.keep(); // its memory stays in use until the request is answered
    this.#settle.resolve({
      chunks: this.#pieces.all(),
      octets: this.#octets,
      release: () => this.#hold?.release(),
    });
    this.#pieces.clear();
  };

  readonly #cut = (): void => this.#refuse(bodyCutShort());

  #refuse(why: unknown): void {
    this.#stop();
    this.#pieces.clear();
    this.#hold?.release();
    this.#order.source.resume();
    this.#settle.reject(why);
  }

  #stop(): void {
    const { source } = this.#order;
    this.#stopWatching();
    source.off("data", this.#take).off("end", this.#finish).off("close", this.#cut);
    source.off("error", this.#cut);
    source.on("error", () => undefined); // a connection that breaks after the body matters to nobody
  }
}
