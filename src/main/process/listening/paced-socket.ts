import type { Socket } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isHeld } from "../../../http/answer/held-connections.ts";
import type { OwnerKey } from "../../../base/owner.ts";
import { NoRoom, type Share } from "../../../base/shares.ts";

/** What the parser gets at once, in octets; in chunks of one octet (RFC 9112 section 7.1) that is 0.5 ms of work. */
const PIECE_OCTETS = 1_024;

/** Of a head: full of empty fields that is 1 ms. */
const HEAD_PIECE_OCTETS = 16_384;

/** What a request costs of the share beside its head. It takes as long as 200 octets of chunks; for less it goes before them. */
const REQUEST_COST = 128;

/** Of a body of known length, which the parser hands on whole. */
const BODY_PIECE_OCTETS = 65_536;

/** Requests that wait for their answers; those behind them are not parsed yet. */
const UNANSWERED_MAX = 16;

export interface Pace {
  /** Of octets that are parsed in one turn of the event loop. */
  readonly share: Share;
  readonly owner: OwnerKey;
}

interface Piece {
  readonly octets: number;
  /** Of the share: octets of a body in chunks, and as many as would take as long. */
  readonly cost: number;
}

type Parse = (this: Socket, octets: Buffer) => void;

/**
 * Gives Node's parser what a connection sends in pieces, each in its owner's turn. Left alone, Node parses up to 2 MiB of
 * a connection in one round: 35,000 pipelined requests, or 350,000 chunks of one octet.
 */
export class PacedSocket {
  readonly #socket: Socket;
  readonly #pace: Pace;
  readonly #parse: Parse | undefined;
  /** Sent and not yet parsed: at most what the socket reads ahead. */
  #pending: Buffer[] = [];
  /** Parsed at once with the one that told to pace. */
  readonly #parsed: (() => void)[] = [];
  #unanswered = 0;
  #awaitsTurn = false;
  /** Octets of a body of known length that are still to come; at most one piece too many. */
  #bodyLeft = 0;
  /** The latest request, where its body comes in chunks. */
  #chunked: IncomingMessage | undefined;

  constructor(socket: Socket, pace: Pace) {
    this.#socket = socket;
    this.#pace = pace;
    socket.on("data", this.#take); // with this listener Node reads by its own, which can be taken off
    this.#parse = socket.listeners("data").find((one) => one !== this.#take) as Parse | undefined;
    if (this.#parse === undefined) socket.off("data", this.#take);
    else socket.off("data", this.#parse).on("resume", this.#hold);
    socket.once("close", () => this.#drop()); // not only in its turn: thousands that wait for one hold 64 KiB each
  }

  /** A request came on this connection: `handle` is called now, or in turn when too many wait for their answers. */
  began(response: ServerResponse, handle: () => void): void {
    const { req } = response;
    this.#bodyLeft = Number(req.headers["content-length"] ?? 0); // none beside chunks: Node's parser refuses both
    this.#chunked = req.headers["transfer-encoding"] === undefined ? undefined : req;
    const begin = (): void => {
      this.#unanswered += 1;
      response.once("close", () => {
        this.#unanswered -= 1;
        this.#goOn();
      });
      handle();
    };
    if (this.#isFull() || this.#parsed.length > 0) this.#parsed.push(begin);
    else begin();
  }

  readonly #take = (octets: Buffer): void => {
    // After its last answer it is read to see its end alone.
    if (isHeld(this.#socket)) {
      this.#socket.destroy();
      return;
    }
    this.#pending.push(octets);
    this.#socket.pause();
    this.#goOn();
  };

  /** Node resumes a connection whenever it wants more of it. */
  readonly #hold = (): void => {
    if (this.#pending.length === 0) return;
    this.#socket.pause();
    this.#goOn();
  };

  #goOn(): void {
    if (this.#awaitsTurn || this.#isFull()) return;
    // Without a turn in the share it would ask for one again at once, for ever, and nothing else would run.
    if (this.#socket.destroyed) {
      this.#drop();
      return;
    }
    const mayParse = this.#pending.length > 0 && !isHeldByNode(this.#socket);
    if (this.#parsed.length === 0 && !mayParse) return;
    this.#awaitsTurn = true;
    void this.#takeTurn();
  }

  async #takeTurn(): Promise<void> {
    const { share, owner } = this.#pace;
    const work = async (): Promise<void> => {
      if (this.#socket.destroyed) return;
      if (this.#parsed.length > 0) this.#beginParsed();
      else this.#parsePiece();
      await nextRound();
    };
    // A small request goes before the pieces of those who pour.
    const amount = this.#parsed.length > 0 ? PIECE_OCTETS : this.#nextPiece().cost;
    try {
      await share.run(owner, work, amount);
    } catch (error) {
      this.#socket.destroy();
      if (!(error instanceof NoRoom)) throw error;
    }
    this.#awaitsTurn = false;
    this.#goOn();
  }

  #isFull(): boolean {
    return this.#unanswered >= UNANSWERED_MAX;
  }

  #drop(): void {
    this.#pending = [];
    this.#parsed.length = 0;
  }

  #beginParsed(): void {
    while (!this.#isFull() && this.#parsed.length > 0) this.#parsed.shift()?.();
  }

  #nextPiece(): Piece {
    const [first = EMPTY] = this.#pending;
    if (this.#chunked?.complete === false) {
      const octets = Math.min(first.length, PIECE_OCTETS);
      return { octets, cost: octets };
    }
    if (this.#bodyLeft === 0) return headIn(first);
    const most = Math.max(PIECE_OCTETS, Math.min(BODY_PIECE_OCTETS, this.#bodyLeft));
    const octets = Math.min(first.length, most);
    return { octets, cost: Math.min(octets, PIECE_OCTETS) };
  }

  #parsePiece(): void {
    const socket = this.#socket;
    const [first, ...rest] = this.#pending;
    // What follows a refusal is dropped: its parser may serve another connection by now.
    if (first === undefined || socket.writableEnded || isHeld(socket)) {
      this.#pending = [];
    } else {
      const { octets } = this.#nextPiece();
      const left = first.subarray(octets);
      this.#pending = left.length > 0 ? [left, ...rest] : rest;
      this.#bodyLeft = Math.max(0, this.#bodyLeft - octets);
      this.#parse?.call(socket, first.subarray(0, octets));
    }
    if (this.#pending.length === 0 && !isHeldByNode(socket)) socket.resume();
  }
}

const EMPTY = Buffer.alloc(0);

const HEAD_END = "\r\n\r\n";

/** Up to the end of a request's head, where there is one: what stands behind a request that is refused is not parsed. */
function headIn(first: Buffer): Piece {
  const most = first.subarray(0, HEAD_PIECE_OCTETS);
  const end = most.indexOf(HEAD_END);
  const octets = end < 0 ? most.length : end + HEAD_END.length;
  const cost = Math.ceil((octets * PIECE_OCTETS) / HEAD_PIECE_OCTETS);
  return { octets, cost: end < 0 ? cost : cost + REQUEST_COST };
}

/** Whether Node reads no more until the client has taken its answers; it then insists on being given nothing. */
const isHeldByNode = (socket: Socket): boolean =>
  (socket as Socket & { readonly _paused?: boolean })._paused === true;
