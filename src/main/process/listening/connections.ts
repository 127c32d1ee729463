import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isTrustedProxy } from "../../../http/request/client-address.ts";
import type { OwnerKey } from "../../../base/owner.ts";
import { type Hold, NoRoom, type Share } from "../../../base/shares.ts";
import { bucketKey } from "../../../accounts/admission/bucket.ts";
import { type Refusal, serviceFull, tooMuchAtOnce } from "../../../base/refusals.ts";
import { type HoldTerms, isHeld } from "../../../http/answer/held-connections.ts";
import type { Head } from "./head.ts";
import { TARGET_MAX_CHARACTERS } from "../../../http/request/target.ts";
import { PacedSocket } from "./paced-socket.ts";

export interface ConnectionTerms extends HoldTerms {
  /** Of connections. */
  readonly share: Share;
  /** Of octets that are parsed in one turn of the event loop. */
  readonly reading: Share;
}

type UsedHead = Pick<Head, "isChunked" | "isLong">;

const SHORT: UsedHead = { isChunked: false, isLong: false };

const NONE = (): boolean => false;

type Ordered = Map<Socket, Connection>;

interface Connection {
  readonly owner: OwnerKey;
  /** All connections of that owner. */
  readonly owned: Ordered;
  readonly hold: Hold;
  /** Node reads it; false while it waits for its parser. */
  isRead: boolean;
  latest: ServerResponse | undefined;
  /**
   * Octets that Node had read when it parsed the latest request, with what came behind it in the same read; or, of a
   * request with a long body, when its answer was taken.
   */
  octets: number;
  paced: PacedSocket | undefined;
}

/** How long new connections are paced after the last that had to be. */
const ALERT_MS = 10_000;

/** When Node has read more of a body in chunks, or of a head that is broken, at once, all connections are paced. Ordinary clients send less. */
const CHUNKS_AT_ONCE_OCTETS = 4_096;

/** How many connections are looked at to find an idle one. Busy ones go to the end, so that the next look begins behind them. */
const LOOKED_AT_MAX = 1_024;

/** Of a request without its body, whole. */
const HEAD_MAX_OCTETS = TARGET_MAX_CHARACTERS + 16_384;

/** Of all connections together; a head takes about three times as much memory. */
const HEADS_MAX_OCTETS = 16_777_216;

/** Shorter ones are not looked at: those of 10,000 connections take 40 MB. */
const SHORT_HEAD_OCTETS = 4_096;

interface UnfinishedHead {
  readonly socket: Socket;
  readonly octets: number;
}

/** Connections that are paced in one turn of the event loop: about 4 ms. */
const PACED_PER_TURN = 200;

/**
 * The open connections of a listener: each address has its share, and the longest idle makes room for a new one. When none
 * is idle, an address with less than an equal part takes from the one that has most.
 */
export class Connections {
  readonly #terms: ConnectionTerms;
  /** In the order of last use: the first is idle for the longest time. */
  readonly #open: Ordered = new Map();
  /** Of each owner, in the same order. */
  readonly #owned = new Map<OwnerKey, Ordered>();
  #proxied = 0;
  /** Runs while all connections are paced. */
  #alert: NodeJS.Timeout | undefined;

  constructor(terms: ConnectionTerms) {
    this.#terms = terms;
  }

  /** Undefined when the connection may stay. */
  admit(socket: Socket): Refusal | undefined {
    const owner = this.#ownerOf(socket);
    for (;;) {
      try {
        const hold = this.#terms.share.take(owner);
        const owned = this.#owned.get(owner) ?? new Map();
        this.#owned.set(owner, owned);
        this.#toEnd(socket, {
          owner,
          owned,
          hold,
          isRead: false,
          latest: undefined,
          octets: 0,
          paced: undefined,
        });
        socket.once("close", () => this.#close(socket));
        return undefined;
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error;
        const isOverall = error.why === "all";
        if (isOverall ? this.#shed(this.#open) : this.#shed(this.#owned.get(owner), isHeld))
          continue;
        if (isOverall && this.#takeFromLargest(owner)) continue;
        return isOverall ? serviceFull() : tooMuchAtOnce();
      }
    }
  }

  /** Node reads this connection from now on. */
  begun(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.isRead = true;
    if (this.#alert !== undefined) this.#pace(socket, connection);
  }

  /** A request came on this connection. Returns what is to begin it, if not the caller. */
  used(socket: Socket, response: ServerResponse, head: UsedHead = SHORT): PacedSocket | undefined {
    const connection = this.#open.get(socket);
    if (connection === undefined) return undefined;
    const { latest, octets } = connection;
    connection.latest = response;
    this.#toEnd(socket, connection);
    connection.octets = socket.bytesRead;
    if (hasLongBody(response, head)) {
      response.once("close", () => (connection.octets = socket.bytesRead));
    }
    const isHeavy = !isIdle({ latest }) || head.isLong; // behind a request without its answer it is pipelined
    if (connection.paced === undefined && (isHeavy || head.isChunked)) {
      this.#pace(socket, connection);
      if (isHeavy || connection.octets - octets > CHUNKS_AT_ONCE_OCTETS) this.paceAll();
    }
    return connection.paced;
  }

  /** Node could not read what came on this connection as a request. A long head costs as much when it is broken. */
  broken(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.paced !== undefined) return;
    const isHead = connection.latest?.req.complete !== false;
    if (isHead && socket.bytesRead - connection.octets > CHUNKS_AT_ONCE_OCTETS) this.paceAll();
  }

  /**
   * Node has read up to 64 KiB at once, which may cost 30 ms, and others may have sent as much in the same turn: an
   * attack comes on many connections. Ordinary ones are read by Node alone, which costs a request 5 to 10 us less.
   */
  paceAll(): void {
    if (this.#alert === undefined) this.#paceSome(this.#open.entries());
    clearTimeout(this.#alert);
    this.#alert = setTimeout(() => (this.#alert = undefined), ALERT_MS).unref();
  }

  #paceSome(left: Iterator<[Socket, Connection], undefined>): void {
    for (let paced = 0; paced < PACED_PER_TURN; paced += 1) {
      const { value }: IteratorResult<[Socket, Connection], undefined> = left.next();
      if (value === undefined) return;
      this.#pace(...value);
    }
    setImmediate(() => this.#paceSome(left));
  }

  #pace(socket: Socket, connection: Connection): void {
    if (!connection.isRead) return;
    connection.paced ??= new PacedSocket(socket, {
      share: this.#terms.reading,
      owner: connection.owner,
    });
  }

  /**
   * Closes connections whose request heads are not finished, where an owner has more than an equal part of
   * `HEADS_MAX_OCTETS` and all together hold more: 8,000 of 60 KB would take 0.9 GB until their time is over. Node says
   * nothing of a head until it has all of it, so this is to be called again and again.
   */
  boundHeads(): void {
    if (this.#open.size * HEAD_MAX_OCTETS <= HEADS_MAX_OCTETS) return;
    const heads = new Map<OwnerKey, UnfinishedHead[]>();
    let total = 0;
    for (const [socket, { owner, latest, octets }] of this.#open) {
      const read = socket.bytesRead - octets;
      if (read <= SHORT_HEAD_OCTETS || !isIdle({ latest }) || latest?.req.complete === false)
        continue;
      total += read;
      const owned = heads.get(owner);
      if (owned === undefined) heads.set(owner, [{ socket, octets: read }]);
      else owned.push({ socket, octets: read });
    }
    if (total <= HEADS_MAX_OCTETS) return;
    for (const owned of heads.values()) closeBeyond(owned, HEADS_MAX_OCTETS / heads.size);
  }

  #toEnd(socket: Socket, connection: Connection): void {
    this.#open.delete(socket);
    this.#open.set(socket, connection);
    connection.owned.delete(socket);
    connection.owned.set(socket, connection);
  }

  #ownerOf({ remoteAddress = "" }: Socket): OwnerKey {
    if (!isTrustedProxy(remoteAddress, this.#terms.trustedProxies)) return bucketKey(remoteAddress);
    this.#proxied += 1;
    return `bucket:proxied ${String(this.#proxied)}`;
  }

  /** Closes the longest idle of these connections; false when none is idle, but for those that `mustStay`. */
  #shed(ordered: Ordered = new Map(), mustStay: (socket: Socket) => boolean = NONE): boolean {
    let looks = 0;
    for (const [socket, connection] of ordered) {
      if (isIdle(connection) && !mustStay(socket)) {
        this.#close(socket);
        socket.destroy();
        return true;
      }
      looks += 1;
      if (looks >= Math.min(LOOKED_AT_MAX, ordered.size)) return false;
      this.#toEnd(socket, connection);
    }
    return false;
  }

  /**
   * Closes the connection of the largest owner that was unused for the longest time, also one at work. False: this owner
   * has its equal part already, or no other has more than that.
   */
  #takeFromLargest(owner: OwnerKey): boolean {
    const own = this.#owned.get(owner)?.size ?? 0;
    let largest: Ordered = new Map();
    for (const owned of this.#owned.values()) if (owned.size > largest.size) largest = owned;
    const equalPart = this.#open.size / (this.#owned.size + (own === 0 ? 1 : 0));
    const [socket] = largest.keys();
    if (socket === undefined || own + 1 > equalPart || largest.size <= equalPart) return false;
    this.#close(socket);
    socket.destroy();
    return true;
  }

  #close(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    this.#open.delete(socket);
    const { owner, owned, hold } = connection;
    owned.delete(socket);
    if (owned.size === 0) this.#owned.delete(owner);
    hold.release();
  }
}

const hasLongBody = ({ req }: ServerResponse, { isChunked }: UsedHead): boolean =>
  isChunked || Number(req.headers["content-length"] ?? 0) > SHORT_HEAD_OCTETS;

function closeBeyond(heads: readonly UnfinishedHead[], most: number): void {
  let kept = 0;
  for (const { socket, octets } of heads) {
    if (kept + octets > most) socket.destroy();
    else kept += octets;
  }
}

const isIdle = ({ latest }: Pick<Connection, "latest">): boolean =>
  latest === undefined || latest.writableFinished;
