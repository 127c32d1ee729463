type WhenFull<Full> = () => Full;

const neverFull: WhenFull<never> = () => {
  throw new Error("there is room for everybody in the line");
};

/** A bounded number of places; who finds none waits in line. */
export class Places {
  #free: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number, waitingMax = Infinity) {
    this.#free = count;
    this.#waitingMax = waitingMax;
  }

  /** Runs `work` in a place of its own; what `whenFull` gives or throws where the line is full. */
  async hold<T, Full = never>(
    work: () => Promise<T>,
    whenFull: WhenFull<Full> = neverFull as WhenFull<Full>,
  ): Promise<T | Full> {
    if (this.#free > 0) this.#free -= 1;
    else if (this.#waiting.length >= this.#waitingMax) return whenFull();
    else await new Promise<void>((resolve) => this.#waiting.push(resolve)); // is given a place, see below
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
