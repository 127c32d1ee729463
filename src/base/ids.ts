import { randomBytes } from "node:crypto";

export const systemIds: Ids = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  hex32: () => randomBytes(16).toString("hex"),
};

export interface Ids {
  bytes(count: number): Uint8Array;
  hex32(): string;
}

/** Makes ids that grow with time, also within one millisecond. */
export function growingIds(ids: Pick<Ids, "hex32">): (nowMs: number) => string {
  let sequence = 0;
  return (nowMs) => {
    sequence = (sequence + 1) % 0x1_0000;
    const place = String(nowMs).padStart(14, "0") + sequence.toString(16).padStart(4, "0");
    return place + ids.hex32().slice(-6);
  };
}
