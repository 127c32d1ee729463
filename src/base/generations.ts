/** A map that forgets its old half whole. No order of use is kept, so a read costs one or two look-ups. */
export class Generations<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  get(key: string): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const aged = this.#old.get(key);
    if (aged !== undefined) {
      this.#old.delete(key);
      this.#young.set(key, aged);
    }
    return aged;
  }

  set(key: string, value: V): void {
    this.#old.delete(key);
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Entries of the young half: what bounds the whole to twice the size at which it is turned. */
  get youngSize(): number {
    return this.#young.size;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  turn(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }
}
