import type { Clock } from "../../../base/clock.ts";

/** The least octets that a body must bring in each window of this length; a healthy connection brings far more. */
const SPEED_WINDOW_MS = 5_000;
const SPEED_MIN_OCTETS_PER_SECOND = 4_096;
const WINDOW_MIN_OCTETS = (SPEED_MIN_OCTETS_PER_SECOND * SPEED_WINDOW_MS) / 1_000;

const LOOK_EVERY_MS = 1_000;

/** A body on its way in. */
interface Sending {
  readonly octets: () => number;
  readonly cut: () => void;
  windowStartMs: number;
  octetsAtStart: number;
}

/** Cuts bodies that bring less than 4 KiB a second, the first time after 5 s. */
export class SlowSenders {
  readonly #clock: Clock;
  readonly #sending = new Set<Sending>();
  #isLooking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns how to stop watching. */
  watch(octets: () => number, cut: () => void): () => void {
    const windowStartMs = this.#clock.monotonicMs();
    const sending = { octets, cut, windowStartMs, octetsAtStart: octets() };
    this.#sending.add(sending);
    if (!this.#isLooking) this.#lookLater();
    return () => void this.#sending.delete(sending);
  }

  #lookLater(): void {
    this.#isLooking = this.#sending.size > 0;
    if (this.#isLooking) this.#clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const sending of this.#sending) {
      if (nowMs - sending.windowStartMs < SPEED_WINDOW_MS) continue;
      const octets = sending.octets();
      if (octets - sending.octetsAtStart < WINDOW_MIN_OCTETS) {
        this.#sending.delete(sending);
        sending.cut();
      }
      sending.windowStartMs = nowMs;
      sending.octetsAtStart = octets;
    }
    this.#lookLater();
  }
}
