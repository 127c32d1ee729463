import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isTrustedProxy, type TrustedProxies } from "../../http/request/client-address.ts";
import type { OwnerKey } from "../../ports/admission/owner.ts";
import { type Hold, NoRoom, type Share } from "../../ports/sharing/share.ts";
import { bucketKey } from "../../service/admission/bucket.ts";
import { type Refusal, serviceFull, tooMuchAtOnce } from "../../service/refusals.ts";
import { PacedSocket } from "./paced-socket.ts";

export interface ConnectionTerms {
  /** Of connections. */
  readonly share: Share;
  /** Of turns to have a piece parsed. */
  readonly turns: Share;
  /** Their connections carry the requests of many: none of them is an owner. */
  readonly trustedProxies: TrustedProxies;
}

interface Connection {
  readonly owner: OwnerKey;
  readonly hold: Hold;
  latest: ServerResponse | undefined;
  paced: PacedSocket | undefined;
  /** The order of last use: the smallest is idle for the longest time. */
  usedAt: number;
}

/** The open connections of a listener: each address has its share, and the longest idle makes room for a new one. */
export class Connections {
  readonly #terms: ConnectionTerms;
  readonly #open = new Map<Socket, Connection>();
  #uses = 0;
  #proxied = 0;

  constructor(terms: ConnectionTerms) {
    this.#terms = terms;
  }

  /** Undefined when the connection may stay. */
  admit(socket: Socket): Refusal | undefined {
    const owner = this.#ownerOf(socket);
    for (;;) {
      try {
        const hold = this.#terms.share.take(owner);
        const usedAt = this.#next();
        this.#open.set(socket, { owner, hold, latest: undefined, paced: undefined, usedAt });
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

  /** A request came on this connection. Returns what is to begin it, if not the caller. `isChunked`: so is its body. */
  used(socket: Socket, response: ServerResponse, isChunked = false): PacedSocket | undefined {
    const connection = this.#open.get(socket);
    if (connection === undefined) return undefined;
    const { owner, latest } = connection;
    if (connection.paced === undefined && (isChunked || latest?.writableFinished === false)) {
      connection.paced = new PacedSocket(socket, { share: this.#terms.turns, owner });
    }
    connection.latest = response;
    connection.usedAt = this.#next();
    return connection.paced;
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
