import { randomBytes } from "node:crypto";

export const systemIds: Ids = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  hex32: () => randomBytes(16).toString("hex"),
};

export interface Ids {
  bytes(count: number): Uint8Array;
  hex32(): string;
}
