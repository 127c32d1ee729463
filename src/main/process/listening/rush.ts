/** How long work waits for connections that are still to be accepted, and how long it then does not. */
const SPELL_MS = 4;

/** It begins when a connection came in so many turns in a row; those of a few clients come in fewer. */
const TURNS_IN_A_ROW = 8;

/**
 * Tells when many connections come at once. Node accepts one in each turn of the event loop (libuv since 1.45), in the
 * order in which the kernel has them: behind thousands of an attack, others' would wait for as many turns. So what can wait
 * does for some milliseconds, and turns are short until then.
 */
export class Rush {
  readonly #nowMs: () => number;
  #hasCome = false;
  #isWatching = false;
  #inARow = 0;
  #isOn = false;
  #sinceMs = -Infinity;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Whether what can wait is to wait for a later turn. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** A connection came. */
  came(): void {
    this.#hasCome = true;
    if (this.#isWatching) return;
    this.#isWatching = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const nowMs = this.#nowMs();
    this.#inARow = this.#hasCome ? this.#inARow + 1 : 0;
    if (this.#inARow < TURNS_IN_A_ROW) {
      this.#isOn = false;
    } else if (nowMs - this.#sinceMs >= SPELL_MS) {
      this.#isOn = !this.#isOn;
      this.#sinceMs = nowMs;
    }
    this.#isWatching = this.#hasCome;
    this.#hasCome = false;
    if (this.#isWatching) setImmediate(() => this.#turn());
  }
}
