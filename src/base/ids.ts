import { randomBytes } from "node:crypto";

/** The machine's own source of random bytes. */
export const systemIds: Ids = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  hex32: () => randomBytes(16).toString("hex"),
};

/** Everything random, from a cryptographic source. */
export interface Ids {
  /** `count` random bytes. */
  bytes(count: number): Uint8Array;
  /** A new identifier of 32 lower-case hexadecimal digits. */
  hex32(): string;
}
