import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isTrustedProxy, type TrustedProxies } from "../../../http/request/client-address.ts";
import type { OwnerKey } from "../../../ports/admission/owner.ts";
import { type Hold, NoRoom } from "../../../ports/sharing/hold.ts";
import type { Share } from "../../../ports/sharing/share.ts";
import { bucketKey } from "../../../service/admission/bucket.ts";
import { type Refusal, serviceFull, tooMuchAtOnce } from "../../../service/refusals.ts";
import { PacedSocket } from "./paced-socket.ts";

export interface ConnectionTerms {
  /** Of connections. */
  readonly share: Share;
  /** Of octets that are parsed in one turn of the event loop. */
  readonly reading: Share;
  /** Their connections carry the requests of many: none of them is an owner. */
  readonly trustedProxies: TrustedProxies;
}

interface Connection {
  readonly owner: OwnerKey;
  readonly hold: Hold;
  /** Node reads it; false while it waits for its parser. */
  isRead: boolean;
  latest: ServerResponse | undefined;
  /** Octets that Node had read when it parsed the latest request, with what came behind it in the same read. */
  octets: number;
  paced: PacedSocket | undefined;
  /** The order of last use: the smallest is idle for the longest time. */
  usedAt: number;
}

/** How long new connections are paced after the last that had to be. */
const ALERT_MS = 10_000;

/** When Node has read more of a body in chunks at once, all connections are paced. Ordinary clients send less. */
const CHUNKS_AT_ONCE_OCTETS = 4_096;

/** Connections that are paced in one turn of the event loop: about 4 ms. */
const PACED_PER_TURN = 200;

/** The open connections of a listener: each address has its share, and the longest idle makes room for a new one. */
export class Connections {
  readonly #terms: ConnectionTerms;
  readonly #open = new Map<Socket, Connection>();
  #uses = 0;
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
        this.#open.set(socket, {
          owner,
          hold,
          isRead: false,
          latest: undefined,
          octets: 0,
          paced: undefined,
          usedAt: this.#next(),
        });
        socket.once("close", () => this.#close(socket));
        return undefined;
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error;
        const isOverall = error.why === "all";
        if (this.#shed(isOverall ? undefined : owner)) continue;
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

  /** A request came on this connection. Returns what is to begin it, if not the caller. `isChunked`: so is its body. */
  used(socket: Socket, response: ServerResponse, isChunked = false): PacedSocket | undefined {
    const connection = this.#open.get(socket);
    if (connection === undefined) return undefined;
    const { latest, octets } = connection;
    connection.latest = response;
    connection.usedAt = this.#next();
    connection.octets = socket.bytesRead;
    const isPipelined = latest?.writableFinished === false;
    if (connection.paced === undefined && (isChunked || isPipelined)) {
      this.#pace(socket, connection);
      if (isPipelined || connection.octets - octets > CHUNKS_AT_ONCE_OCTETS) this.#paceAll();
    }
    return connection.paced;
  }

  /**
   * Node has read up to 64 KiB at once, which may cost 30 ms, and others may have sent as much in the same turn: an
   * attack comes on many connections. Ordinary ones are read by Node alone, which costs a request 5 to 10 us less.
   */
  #paceAll(): void {
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

  #next(): number {
    this.#uses += 1;
    return this.#uses;
  }

  #ownerOf({ remoteAddress = "" }: Socket): OwnerKey {
    if (!isTrustedProxy(remoteAddress, this.#terms.trustedProxies)) return bucketKey(remoteAddress);
    this.#proxied += 1;
    return `bucket:proxied ${String(this.#proxied)}`;
  }

  /** Closes the longest idle connection, of the owner if one is named; false when none is idle. */
  #shed(owner: OwnerKey | undefined): boolean {
    let longest: Socket | undefined;
    let usedAt = Infinity;
    for (const [socket, connection] of this.#open) {
      if (owner !== undefined && connection.owner !== owner) continue;
      if (connection.usedAt >= usedAt || !isIdle(connection)) continue;
      longest = socket;
      usedAt = connection.usedAt;
    }
    if (longest === undefined) return false;
    this.#close(longest);
    longest.destroy();
    return true;
  }

  #close(socket: Socket): void {
    this.#open.get(socket)?.hold.release();
    this.#open.delete(socket);
  }
}

const isIdle = ({ latest }: Connection): boolean => latest === undefined || latest.writableFinished;
