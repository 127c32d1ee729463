import { randomBytes } from "node:crypto";

export const systemIds: Ids = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  hex32: () => randomBytes(16).toString("hex"),
};

/** Everything random, from a cryptographic source. */
export interface Ids {
  bytes(count: number): Uint8Array;
  /** A new identifier of 32 lower-case hexadecimal digits. */
  hex32(): string;
}
