export { useLooks } from "../app/every.ts";
export { useAction } from "../app/load.ts";
export { useRested } from "../app/rested.ts";
