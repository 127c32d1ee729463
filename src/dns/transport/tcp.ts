import { connect, type Socket } from "node:net";
import type { Until, UnknownReason } from "../../core/mail/lookup.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { Clock } from "../../base/clock.ts";
import { Lane } from "./lane.ts";
import type { ServerAddress } from "./system-resolvers.ts";
import { answers } from "../message/wire.ts";

const PIPELINED_MAX = 64;

/** Servers may close at any time (RFC 7766 section 6.2.3). The second connection serves this query alone. */
const SENDS_MAX = 2;

const STRAYS_MAX = 64;

/** An unused connection is kept this long (RFC 7766 section 6.2.3 asks for seconds). */
const IDLE_MS = 2_000;

const LENGTH_OCTETS = 2;
const FRAME_MAX_OCTETS = LENGTH_OCTETS + 0xffff;

interface TcpQuestion {
  readonly packet: Uint8Array;
  readonly by?: OwnerKey | undefined;
  readonly until?: Until | undefined;
}

type TakeOutcome = (outcome: Uint8Array | UnknownReason) => void;

interface TcpQuery extends TcpQuestion {
  readonly done: TakeOutcome;
  id: number;
  sends: number;
  isFinished: boolean;
  connection: TcpConnection | undefined;
  cancelDeadline: () => void;
}

export class TcpPipe {
  readonly #server: ServerAddress;
  readonly #clock: Clock;
  readonly #lane: Lane<TcpQuery>;
  readonly #connections = new Set<TcpConnection>();
  #shared: TcpConnection | undefined;
  #closed = false;
  #nextId = 0;

  constructor(server: ServerAddress, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
    this.#lane = new Lane({ start: (query) => this.#start(query), size: () => PIPELINED_MAX });
  }

  /** Calls `done` once, never before it returns; nothing after `close`. */
  ask(question: TcpQuestion, timeoutMs: number, done: TakeOutcome): void {
    const query: TcpQuery = {
      ...question,
      packet: Uint8Array.from(question.packet),
      done,
      id: 0,
      sends: 0,
      isFinished: false,
      connection: undefined,
      cancelDeadline: this.#clock.after(Math.max(0, timeoutMs), () => this.#expire(query)),
    };
    this.#lane.add(query);
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#connections) connection.destroy();
  }

  #start(query: TcpQuery): void {
    if (query.isFinished || this.#closed) {
      this.#lane.release(query);
      return;
    }
    query.sends += 1;
    if (query.until?.isPast === true) {
      this.finish(query, "deadline");
      return;
    }
    this.#nextId = (this.#nextId + 1) & 0xffff; // nobody off the path can forge into a connection
    query.id = this.#nextId;
    query.packet.set([query.id >> 8, query.id & 0xff]);
    query.connection = query.sends === 1 ? (this.#shared ??= this.#open()) : this.#open();
    query.connection.send(query);
  }

  #open(): TcpConnection {
    const connection = new TcpConnection(this.#server, this.#clock, this);
    this.#connections.add(connection);
    return connection;
  }

  #expire(query: TcpQuery): void {
    if (query.isFinished) return;
    this.finish(query, "timeout");
    query.connection?.forget(query);
  }

  finish(query: TcpQuery, outcome: Uint8Array | UnknownReason): void {
    query.isFinished = true;
    query.cancelDeadline();
    this.#lane.over(query, typeof outcome !== "string");
    query.done(outcome);
    if (query.sends > 0) this.#lane.release(query);
  }

  /** The connection can be used no more; `left` were sent on it and have no answer. */
  broken(connection: TcpConnection, left: readonly TcpQuery[]): void {
    this.#connections.delete(connection);
    if (this.#shared === connection) this.#shared = undefined;
    if (this.#closed) {
      for (const query of left) query.cancelDeadline();
      return;
    }
    for (const query of left) {
      if (query.sends >= SENDS_MAX) this.finish(query, "network");
      else this.#start(query);
    }
  }
}

class TcpConnection {
  readonly #clock: Clock;
  readonly #owner: TcpPipe;
  readonly #socket: Socket;
  readonly #asked = new Map<number, TcpQuery>();
  readonly #frame = Buffer.allocUnsafe(FRAME_MAX_OCTETS);
  #filled = 0;
  #strays = 0;
  #isBroken = false;
  #cancelIdle = (): void => undefined;

  constructor(server: ServerAddress, clock: Clock, owner: TcpPipe) {
    this.#clock = clock;
    this.#owner = owner;
    this.#socket = connect({ host: server.host, port: server.port, noDelay: true });
    this.#socket.on("data", (chunk) => this.#received(chunk));
    for (const end of ["error", "close", "end"]) this.#socket.on(end, () => this.destroy());
  }

  send(query: TcpQuery): void {
    this.#cancelIdle();
    this.#asked.set(query.id, query);
    const length = Buffer.allocUnsafe(LENGTH_OCTETS);
    length.writeUInt16BE(query.packet.length);
    this.#socket.write(Buffer.concat([length, query.packet]));
  }

  forget(query: TcpQuery): void {
    this.#asked.delete(query.id);
    if (this.#filled > 0) this.destroy();
    else this.#restWhenIdle();
  }

  destroy(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#cancelIdle();
    this.#socket.destroy();
    this.#owner.broken(this, [...this.#asked.values()]);
  }

  #received(chunk: Buffer): void {
    let used = 0;
    while (used < chunk.length && !this.#isBroken) {
      const wanted = this.#frameOctets() - this.#filled;
      const copied = chunk.copy(this.#frame, this.#filled, used, used + wanted);
      this.#filled += copied;
      used += copied;
      if (this.#filled === this.#frameOctets()) this.#complete();
    }
  }

  #frameOctets(): number {
    const isLengthKnown = this.#filled >= LENGTH_OCTETS;
    return LENGTH_OCTETS + (isLengthKnown ? this.#frame.readUInt16BE(0) : 0);
  }

  #complete(): void {
    const message = Buffer.from(this.#frame.subarray(LENGTH_OCTETS, this.#filled));
    this.#filled = 0;
    const query = this.#asked.get(message.length < 2 ? -1 : message.readUInt16BE(0));
    if (query === undefined || !answers(message, query.packet)) {
      this.#strays += 1;
      if (this.#strays > STRAYS_MAX) this.destroy();
      return;
    }
    this.#asked.delete(query.id);
    this.#restWhenIdle();
    this.#owner.finish(query, message);
  }

  #restWhenIdle(): void {
    if (this.#asked.size > 0 || this.#isBroken) return;
    this.#cancelIdle();
    this.#cancelIdle = this.#clock.after(IDLE_MS, () => this.destroy());
  }
}
