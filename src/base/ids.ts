/** Everything random, from a cryptographic source. */
export interface Ids {
  /** `count` random bytes. */
  bytes(count: number): Uint8Array;
  /** A new identifier of 32 lower-case hexadecimal digits. */
  hex32(): string;
}
