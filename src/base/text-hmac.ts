import { Buffer } from "node:buffer";
import { hash } from "node:crypto";

const ALGORITHM = "sha256";
const BLOCK_OCTETS = 64;
const DIGEST_OCTETS = 32;

const SCRATCH = Buffer.alloc(BLOCK_OCTETS + 3 * 1_024);

/**
 * HMAC-SHA-256 (RFC 2104) of texts in UTF-8 under one key of at most 64 octets, by hashes that need no object: it takes two fifths
 * of the time of `createHmac`, and leaves the garbage collector nothing.
 */
export class TextHmac {
  readonly #inner: Buffer;
  /** The outer block, and behind it room for the inner hash. */
  readonly #outer: Buffer;

  /** Throws a `RangeError` for a key that is longer than a block. */
  constructor(key: Uint8Array) {
    if (key.length > BLOCK_OCTETS)
      throw new RangeError("a key of HMAC-SHA-256 has at most 64 octets here");
    this.#inner = Buffer.alloc(BLOCK_OCTETS, 0x36);
    this.#outer = Buffer.alloc(BLOCK_OCTETS + DIGEST_OCTETS, 0x5c);
    for (const [at, octet] of key.entries()) {
      this.#inner[at] = 0x36 ^ octet;
      this.#outer[at] = 0x5c ^ octet;
    }
  }

  /** 32 octets. */
  of(text: string): Buffer {
    const most = BLOCK_OCTETS + 3 * text.length;
    const input = most <= SCRATCH.length ? SCRATCH : Buffer.alloc(most);
    this.#inner.copy(input);
    const end = BLOCK_OCTETS + input.write(text, BLOCK_OCTETS);
    const inner = hash(ALGORITHM, input.subarray(0, end), "binary");
    this.#outer.write(inner, BLOCK_OCTETS, "binary");
    return Buffer.from(hash(ALGORITHM, this.#outer, "binary"), "binary");
  }
}
