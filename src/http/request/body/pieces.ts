/** The first block of a body of unknown length. Of smaller ones Node puts several into one piece of memory. */
const FIRST_OCTETS = 4_096;

/** Blocks grow up to this size, which the system takes back as soon as a block is free. */
const BLOCK_OCTETS = 1_048_576;

/**
 * What came of a body so far, copied into blocks. Senders choose the pieces: one of one octet would take 200 times its
 * size, and the memory of one may hold a part of another request.
 */
export class Pieces {
  #blocks: Buffer[] = [];
  /** Octets of the last block. */
  #used = 0;
  #nextOctets: number;

  /** `octets`: of the first block. */
  constructor(octets = FIRST_OCTETS) {
    this.#nextOctets = octets;
  }

  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length;) {
      const block = this.#block();
      const room = block.length - this.#used;
      const part = at === 0 && piece.length <= room ? piece : piece.subarray(at, at + room);
      block.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
    }
  }

  /** All blocks. From 4,096 octets on each has memory of its own, which can be given to a thread. */
  all(): Uint8Array[] {
    const last = this.#blocks.at(-1);
    return last === undefined ? [] : [...this.#blocks.slice(0, -1), last.subarray(0, this.#used)];
  }

  clear(): void {
    this.#blocks = [];
  }

  /** The last block, with room for an octet at least. */
  #block(): Buffer {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#used < last.length) return last;
    const made = Buffer.allocUnsafe(Math.max(1, this.#nextOctets));
    this.#blocks.push(made);
    this.#used = 0;
    this.#nextOctets = Math.min(BLOCK_OCTETS, Math.max(FIRST_OCTETS, 2 * made.length));
    return made;
  }
}
