import { readFileSync } from "node:fs";

/** `begin` ends what is not measured. */
type Work = (begin: () => void) => Promise<void> | void;

/** The thread's own time, so far: without that of the collector's helpers, as the limit of a thread counts. */
const ranMs = (): number =>
  Number(readFileSync("/proc/self/schedstat", "latin1").split(" ")[0]) / 1e6;

/** Milliseconds that the work takes of this thread, which neighbours on the machine change less than the clock's. */
async function threadMs(work: Work): Promise<number> {
  let start = ranMs();
  await work(() => (start = ranMs()));
  return ranMs() - start;
}

const TRIES = 4;

/** Measures work by plain work of the same kind, because both are as slow as the machine is. */
export class Yardstick {
  readonly #plain: Work;
  #plainMs = 0;

  constructor(plain: Work) {
    this.#plain = plain;
  }

  /** What the plain work took of the thread when it was last done. */
  async plainMs(): Promise<number> {
    if (this.#plainMs === 0) this.#plainMs = await threadMs(this.#plain);
    return this.#plainMs;
  }

  /**
   * How many times as long as the plain work the work takes. When that is more than `wanted`, the least of some tries,
   * each beside plain work that is done anew.
   */
  async times(wanted: number, work: Work): Promise<number> {
    let least = (await threadMs(work)) / (await this.plainMs());
    for (let tries = 1; tries < TRIES && least > wanted; tries += 1) {
      this.#plainMs = await threadMs(this.#plain);
      least = Math.min(least, (await threadMs(work)) / this.#plainMs);
    }
    return least;
  }
}
