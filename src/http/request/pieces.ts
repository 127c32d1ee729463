/** Buffers that are kept apart; each takes some 200 octets besides those it holds. */
const APART_MAX = 1_024;

/** What came of a body so far. Senders choose the pieces; those of one octet would take 200 times their size. */
export class Pieces {
  readonly #joined: Buffer[] = [];
  #apart: Uint8Array[] = [];

  add(piece: Uint8Array): void {
    this.#apart.push(piece);
    if (this.#apart.length < APART_MAX) return;
    this.#joined.push(Buffer.concat(this.#apart));
    this.#apart = [];
  }

  all(): Uint8Array[] {
    return [...this.#joined, ...this.#apart];
  }

  clear(): void {
    this.#joined.length = 0;
    this.#apart = [];
  }
}
