import type { Clock } from "../../src/base/clock.ts";
import type { OpenUdpOptions, Listener, UdpSender } from "../../src/dns/transport/udp.ts";

interface Alarm {
  readonly atMs: number;
  readonly number: number;
  task: (() => void) | undefined;
}

/** A clock that jumps from one alarm to the next; a heap, because thousands are set at once. */
export class SimulatedClock implements Clock {
  readonly #heap: Alarm[] = [];
  #nowMs = 0;
  #count = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, task: () => void): () => void {
    this.#count += 1;
    const alarm: Alarm = { atMs: this.#nowMs + Math.max(0, delayMs), number: this.#count, task };
    this.#heap.push(alarm);
    this.#up(this.#heap.length - 1);
    return () => void (alarm.task = undefined);
  }

  /** Runs what falls due until `isOver`, or until the given time. */
  run(isOver: () => boolean, untilMs: number): void {
    while (!isOver()) {
      const alarm = this.#heap[0];
      if (alarm === undefined || alarm.atMs > untilMs) return;
      this.#pop();
      this.#nowMs = alarm.atMs;
      alarm.task?.();
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return a !== undefined;
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number);
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }

  #up(index: number): void {
    for (let at = index; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(child, at)) return;
      this.#swap(at, child);
      at = child;
    }
  }
}

/** Pseudo-random numbers from 0 to 1, the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A draw from the normal distribution (Box and Muller). */
const normal = (draw: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());

/** The path to a resolver and the resolver itself. */
export interface SimulatedPath {
  /** Of the whole round trip. */
  readonly medianMs: number;
  /** Sigma of the lognormal distribution; 0: every round trip takes the median. */
  readonly sigma?: number;
  /** Share of datagrams lost, each way. */
  readonly loss?: number;
  /** Share of names that are never answered. */
  readonly dead?: number;
  /** Share of names whose zones are broken: SERVFAIL. */
  readonly broken?: number;
  /** The resolver drops what is asked while this many questions wait, dead ones for 4 s among them. */
  readonly waitingMax?: number;
  /** It answers SERVFAIL instead of dropping. */
  readonly isFrank?: boolean;
  /** The resolver refuses more questions a second than this. */
  readonly refusesAbove?: number;
}

const DEAD_HELD_MS = 4_000;
const OUT_SHARE = 0.2;

interface Sent {
  readonly listener: Listener;
  isWanted: boolean;
}

/** A resolver behind a path, for any number of clients. */
export class SimulatedServer {
  path: SimulatedPath;
  /** Most questions it had at once that it was going to answer. */
  mostWaiting = 0;
  #waiting = 0;
  #dead = 0;
  #second = { number: 0, asked: 0 };
  readonly #clock: SimulatedClock;
  readonly #draw: () => number;

  constructor(path: SimulatedPath, clock: SimulatedClock, draw: () => number) {
    this.path = path;
    this.#clock = clock;
    this.#draw = draw;
  }

  readonly openUdp = (_options: OpenUdpOptions): (() => UdpSender) => {
    return () => ({ send: (listener) => this.#send(listener), close: () => undefined });
  };

  #send(listener: Listener): void {
    const query: Sent = { listener, isWanted: true };
    listener.seat = { forget: () => void (query.isWanted = false) };
    // A part of the round trip passes before the server sees it, so a place there is not the sender's by right.
    const outMs = this.path.medianMs * OUT_SHARE * this.#draw();
    this.#clock.after(outMs, () => this.#arrived(query, outMs));
  }

  #arrived(query: Sent, outMs: number): void {
    const { listener } = query;
    const { loss = 0 } = this.path;
    const fate = this.#fate(listener.packet);
    if (this.#draw() < loss || fate === "dropped") return;
    const tripMs = this.#tripMs() - outMs;
    if (fate === "dead") {
      this.#dead += 1;
      this.#clock.after(DEAD_HELD_MS, () => void (this.#dead -= 1));
      return;
    }
    this.#waiting += 1;
    this.mostWaiting = Math.max(this.mostWaiting, this.#waiting);
    const isLost = this.#draw() < loss;
    this.#clock.after(tripMs, () => {
      this.#waiting -= 1;
      if (isLost || !query.isWanted) return;
      listener.seat = undefined;
      listener.answered(answerTo(listener.packet, fate));
    });
  }

  #isTooFast(): boolean {
    const number = Math.floor(this.#clock.monotonicMs() / 1_000);
    if (number !== this.#second.number) this.#second = { number, asked: 0 };
    this.#second.asked += 1;
    return this.#second.asked > (this.path.refusesAbove ?? Infinity);
  }

  #tripMs(): number {
    const { medianMs, sigma = 0 } = this.path;
    return sigma === 0 ? medianMs : medianMs * Math.exp(sigma * normal(this.#draw));
  }

  #fate(packet: Uint8Array): "found" | "servfail" | "refused" | "dead" | "dropped" {
    const { dead = 0, broken = 0, waitingMax = Infinity, isFrank = false } = this.path;
    if (this.#isTooFast()) return "refused";
    if (this.#waiting + this.#dead >= waitingMax) return isFrank ? "servfail" : "dropped";
    const lot = lotOf(packet);
    if (lot < dead) return "dead";
    return lot < dead + broken ? "servfail" : "found";
  }
}

/** From 0 to 1, by the digits of the name's first label: a dead name is dead each time it is asked. */
function lotOf(packet: Uint8Array): number {
  const length = packet[12] ?? 0;
  return lotOfNumber(Number(Buffer.from(packet).toString("latin1", 14, 13 + length)));
}

/** Names with a lot below the share of dead ones are dead. */
export const lotOfNumber = (number: number): number => ((number * 7_919) % 10_007) / 10_007;

const RCODES = { found: 0, servfail: 2, refused: 5 };

/** The question with one MX record, or with a response code alone. */
function answerTo(packet: Uint8Array, fate: keyof typeof RCODES): Buffer {
  let end = 12;
  while ((packet[end] ?? 0) !== 0) end += 1 + (packet[end] ?? 0);
  const question = packet.subarray(0, end + 5);
  const record = fate === "found" ? MX_RECORD : Buffer.alloc(0);
  const message = Buffer.concat([question, record]);
  message[2] = 0x81;
  message[3] = 0x80 | RCODES[fate];
  message.writeUInt16BE(fate === "found" ? 1 : 0, 6);
  message.writeUInt16BE(0, 8);
  message.writeUInt16BE(0, 10);
  return message;
}

/** The asked name, MX, IN, 60 s: 10 of the asked name. */
const MX_RECORD = Buffer.from("c00c000f00010000003c0004000ac00c", "hex");
