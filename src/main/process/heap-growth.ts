import { setFlagsFromString } from "node:v8";

/**
 * Lets V8's heap grow by half of what lives before it collects. By default a heap of 73 MB grows to 202 MB: after 200,000
 * different checks 462 MB were resident, of which the caches need a quarter.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString("--heap-growing-percent=50");
}
