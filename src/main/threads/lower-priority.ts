import { getPriority, setPriority } from "node:os";

const LOWEST = 19;

/** Counts from the priority of the process: to raise it again needs a privilege. */
export function lowerPriority(by: number): void {
  // Elsewhere the priority is that of the whole process.
  if (process.platform === "linux") setPriority(Math.min(LOWEST, getPriority() + by));
}
