import { type Socket, createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { ServerAddress } from "./system-resolvers.ts";
import { answers } from "../message/wire.ts";

/** Packets of one turn together: sent alone, each wakes the server, and read alone, each loses the processor's caches. */
class PacketBatch<To> {
  readonly #hand: (to: To, packet: Uint8Array) => void;
  #to: To[] = [];
  #packets: Uint8Array[] = [];

  constructor(hand: (to: To, packet: Uint8Array) => void) {
    this.#hand = hand;
  }

  add(to: To, packet: Uint8Array): void {
    if (this.#packets.length === 0) setImmediate(this.#flush);
    this.#to.push(to);
    this.#packets.push(packet);
  }

  readonly #flush = (): void => {
    const to = this.#to;
    const packets = this.#packets;
    this.#to = [];
    this.#packets = [];
    // `forEach`, because an iterator would make an array for every packet.
    packets.forEach((packet, at) => this.#hand(to[at] as To, packet));
  };
}

const DRAWN_OCTETS = 4_096;

function random16From(random: (count: number) => Uint8Array): () => number {
  let drawn = random(DRAWN_OCTETS);
  let used = 0;
  return () => {
    if (used === DRAWN_OCTETS) {
      drawn = random(DRAWN_OCTETS);
      used = 0;
    }
    const value = ((drawn[used] ?? 0) << 8) | (drawn[used + 1] ?? 0);
    used += 2;
    return value;
  };
}

const SOCKETS = 8;

const QUERIES_PER_SOCKET = 2_000;

/** The system's default of some 200 KB loses answers when a few hundred come at once. */
const RECEIVE_BUFFER_OCTETS = 4 * 1_024 * 1_024;

const REOPEN_AFTER_MS = 250;

/** Draws of an id that is not in use already; with 2,000 in use one draw in 33 fails. */
const ID_DRAWS = 16;

export interface Listener {
  readonly packet: Uint8Array;
  seat: Seat | undefined;
  answered(message: Uint8Array): void;
  /** The system refused to send, or the server's machine to take it. Never called within `send`. */
  failed(): void;
}

export interface Seat {
  forget(listener: Listener): void;
}

export interface OpenUdpOptions {
  readonly clock: Clock;
  readonly random: (count: number) => Uint8Array;
  /** Something came that answers nothing we asked: late copies, or a forger at work. */
  readonly strayed: () => void;
}

interface UdpOptions extends OpenUdpOptions {
  readonly server: ServerAddress;
  readonly outbox: PacketBatch<PortSocket>;
  readonly inbox: PacketBatch<PortSocket>;
  readonly random16: () => number;
}

export interface UdpSender {
  send(listener: Listener): void;
  close(): void;
}

export function openUdp(given: OpenUdpOptions): (server: ServerAddress) => UdpSender {
  const outbox = new PacketBatch<PortSocket>((socket, packet) => socket.transmit(packet));
  const inbox = new PacketBatch<PortSocket>((socket, message) => socket.received(message));
  const random16 = random16From(given.random);
  return (server) => {
    const options = { ...given, server, outbox, inbox, random16 };
    const slots = Array.from({ length: SOCKETS }, () => new Slot(options));
    return {
      send: (listener) => slots[random16() % SOCKETS]?.send(listener),
      close: () => slots.forEach((slot) => slot.close()),
    };
  };
}

class Slot {
  readonly #options: UdpOptions;
  #current: PortSocket | undefined;
  #next: PortSocket | undefined;
  readonly #retired = new Set<PortSocket>();
  #reopenAtMs = -Infinity;

  constructor(options: UdpOptions) {
    this.#options = options;
  }

  send(listener: Listener): void {
    this.#current ??= this.#open();
    if (this.#current === undefined) {
      this.#options.clock.after(0, () => listener.failed());
      return;
    }
    this.#current.send(listener);
    if (this.#current.sent >= QUERIES_PER_SOCKET) this.#next ??= this.#open();
  }

  close(): void {
    for (const socket of [this.#current, this.#next, ...this.#retired]) socket?.close();
    this.#retired.clear();
  }

  #open(): PortSocket | undefined {
    if (this.#options.clock.monotonicMs() < this.#reopenAtMs) return undefined;
    return new PortSocket(this.#options, this);
  }

  opened(socket: PortSocket): void {
    if (socket !== this.#next) return;
    const old = this.#current;
    this.#current = socket;
    this.#next = undefined;
    if (old === undefined) return;
    this.#retired.add(old);
    old.retire();
  }

  closed(socket: PortSocket): void {
    if (this.#retired.delete(socket)) return;
    this.#reopenAtMs = this.#options.clock.monotonicMs() + REOPEN_AFTER_MS;
    if (socket === this.#current) this.#current = undefined;
    if (socket === this.#next) this.#next = undefined;
  }
}

class PortSocket implements Seat {
  sent = 0;
  readonly #options: UdpOptions;
  readonly #owner: Slot;
  readonly #socket: Socket;
  readonly #listeners = new Map<number, Listener>();
  #state: "opening" | "open" | "retired" | "closed" = "opening";

  constructor(options: UdpOptions, owner: Slot) {
    this.#options = options;
    this.#owner = owner;
    const { host, port } = options.server;
    const family = isIPv6(host) ? 6 : 4;
    this.#socket = createSocket({
      type: `udp${family}`,
      lookup: (address, _options, found) => found(null, address, family), // an address, never a name
    });
    this.#socket.on("error", () => this.#broke());
    this.#socket.on("message", (message) => options.inbox.add(this, message));
    this.#socket.on("connect", () => this.#opened());
    this.#socket.connect(port, host);
  }

  send(listener: Listener): void {
    const { packet } = listener;
    this.sent += 1;
    let id = this.#options.random16();
    for (let draws = 1; draws < ID_DRAWS && this.#listeners.has(id); draws += 1) {
      id = this.#options.random16();
    }
    packet[0] = id >> 8;
    packet[1] = id & 255;
    listener.seat = this;
    this.#listeners.set(id, listener);
    if (this.#state !== "opening") this.#options.outbox.add(this, packet);
  }

  transmit(packet: Uint8Array): void {
    if (this.#state !== "closed") this.#socket.send(packet);
  }

  forget(listener: Listener): void {
    const id = idOf(listener.packet);
    if (this.#listeners.get(id) === listener) this.#remove(listener, id);
    else listener.seat = undefined;
  }

  retire(): void {
    this.#state = "retired";
    this.#closeWhenIdle();
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#socket.close();
    this.#owner.closed(this);
  }

  #closeWhenIdle(): void {
    if (this.#state === "retired" && this.#listeners.size === 0) this.close();
  }

  #opened(): void {
    if (this.#state !== "opening") return;
    this.#state = "open";
    try {
      this.#socket.setRecvBufferSize(RECEIVE_BUFFER_OCTETS);
    } catch {
      // A system with a lower limit of its own: more retries, nothing wrong.
    }
    for (const { packet } of this.#listeners.values()) {
      this.#options.outbox.add(this, packet);
    }
    this.#owner.opened(this);
  }

  received(message: Uint8Array): void {
    const id = idOf(message);
    const listener = this.#listeners.get(id);
    if (listener === undefined || !answers(message, listener.packet)) {
      this.#options.strayed();
      return;
    }
    this.#remove(listener, id);
    listener.answered(message);
  }

  #remove(listener: Listener, id: number): void {
    listener.seat = undefined;
    this.#listeners.delete(id);
    this.#closeWhenIdle();
  }

  /** No socket to be had (EMFILE), or the server's machine refuses (ECONNREFUSED): all here have failed. */
  #broke(): void {
    const failed = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of failed) listener.seat = undefined;
    if (this.#state === "opening") this.close();
    this.#closeWhenIdle();
    for (const listener of failed) listener.failed();
  }
}

const idOf = (message: Uint8Array): number => ((message[0] ?? 0) << 8) | (message[1] ?? 0);
