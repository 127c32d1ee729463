import { randomBytes } from "node:crypto";
import type { Ids } from "./ids.ts";

/** The machine's own source of random bytes. */
export const systemIds: Ids = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  hex32: () => randomBytes(16).toString("hex"),
};
