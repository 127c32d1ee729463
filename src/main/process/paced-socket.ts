import type { Socket } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import type { OwnerKey } from "../../ports/admission/owner.ts";
import { NoRoom, type Share } from "../../ports/sharing/share.ts";

/** What the parser gets at once, in octets; in chunks of one octet (RFC 9112 section 7.1) that is 8 ms of work. */
const PIECE_OCTETS = 16_384;

/** Requests that wait for their answers; those behind them are not parsed yet. */
const UNANSWERED_MAX = 32;

export interface Pace {
  /** Of turns: one piece in each round of the event loop. */
  readonly share: Share;
  readonly owner: OwnerKey;
}

type Parse = (this: Socket, octets: Buffer) => void;

/**
 * Gives Node's parser what a connection sends in pieces, each in its owner's turn. Left alone, Node parses up to 2 MiB of
 * a connection in one round: 35,000 pipelined requests, or 350,000 chunks of one octet. It costs every request 15 us,
 * so only connections that pipeline or send chunks are paced, from then on.
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

  constructor(socket: Socket, pace: Pace) {
    this.#socket = socket;
    this.#pace = pace;
    socket.on("data", this.#take); // with this listener Node reads by its own, which can be taken off
    this.#parse = socket.listeners("data").find((one) => one !== this.#take) as Parse | undefined;
    if (this.#parse === undefined) socket.off("data", this.#take);
    else socket.off("data", this.#parse).on("resume", this.#hold);
  }

  /** A request came on this connection: `handle` is called now, or in turn when too many wait for their answers. */
  began(response: ServerResponse, handle: () => void): void {
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
    const mayParse = this.#pending.length > 0 && !isHeldByNode(this.#socket);
    if (this.#parsed.length === 0 && !mayParse) return;
    this.#awaitsTurn = true;
    void this.#takeTurn();
  }

  async #takeTurn(): Promise<void> {
    const { share, owner } = this.#pace;
    try {
      await share.run(owner, async () => {
        if (this.#parsed.length > 0) this.#beginParsed();
        else this.#parsePiece();
        await nextRound();
      });
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

  #beginParsed(): void {
    if (this.#socket.destroyed) this.#parsed.length = 0;
    while (!this.#isFull() && this.#parsed.length > 0) this.#parsed.shift()?.();
  }

  #parsePiece(): void {
    const socket = this.#socket;
    const [first, ...rest] = this.#pending;
    // What follows a refusal is dropped: its parser may serve another connection by now.
    if (first === undefined || socket.destroyed || socket.writableEnded) {
      this.#pending = [];
    } else {
      const left = first.subarray(PIECE_OCTETS);
      this.#pending = left.length > 0 ? [left, ...rest] : rest;
      this.#parse?.call(socket, first.subarray(0, PIECE_OCTETS));
    }
    if (this.#pending.length === 0 && !isHeldByNode(socket)) socket.resume();
  }
}

/** Whether Node reads no more until the client has taken its answers; it then insists on being given nothing. */
const isHeldByNode = (socket: Socket): boolean =>
  (socket as Socket & { readonly _paused?: boolean })._paused === true;
