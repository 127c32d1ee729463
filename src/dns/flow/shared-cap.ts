/** Tries under way, over all clients and threads. Each thread has a cell of its own, which can be cleared if it dies. */
export class SharedCap {
  readonly max: number;
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array;
  readonly #own: 0 | 1;

  private constructor(max: number, memory: SharedArrayBuffer, own: 0 | 1) {
    this.max = max;
    this.memory = memory;
    this.#cells = new Int32Array(memory);
    this.#own = own;
  }

  static open(max: number): SharedCap {
    return new SharedCap(max, new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT), 0);
  }

  static join(max: number, memory: SharedArrayBuffer): SharedCap {
    return new SharedCap(max, memory, 1);
  }

  get underWay(): number {
    return Atomics.load(this.#cells, 0) + Atomics.load(this.#cells, 1);
  }

  limit(part: number): number {
    return Math.ceil(this.max * part);
  }

  take(limit: number): boolean {
    Atomics.add(this.#cells, this.#own, 1);
    // Read after the add: of two threads that take the last place at once, at least one sees the sum.
    if (this.underWay <= limit) return true;
    this.giveBack();
    return false;
  }

  giveBack(): void {
    Atomics.sub(this.#cells, this.#own, 1);
  }

  /** The other thread has ended: frees what it held. */
  clearOther(): void {
    Atomics.store(this.#cells, 1 - this.#own, 0);
  }
}
