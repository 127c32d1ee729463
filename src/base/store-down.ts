/** Out of reach, starting, read-only, out of connections or too slow: the same request may be answered a moment later. */
export class StoreDown extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreDown";
  }
}

export class DiskFull extends StoreDown {
  constructor(options?: ErrorOptions) {
    super("the disk is full", options);
    this.name = "DiskFull";
  }
}

const CAUSES_MAX = 8;

/** The `StoreDown` that `fault` is or was caused by; undefined for any other fault. */
export function storeDownOf(fault: unknown): StoreDown | undefined {
  let one = fault;
  for (let depth = 0; depth < CAUSES_MAX && one instanceof Error; depth += 1) {
    if (one instanceof StoreDown) return one;
    one = one.cause;
  }
  return undefined;
}
