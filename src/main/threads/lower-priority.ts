import { getPriority, setPriority } from "node:os";

const LOWEST = 19;

/**
 * Lowers the priority of the thread that calls it, where several threads want the same core. It counts from what the
 * process has: to raise it again needs a privilege.
 */
export function lowerPriority(by: number): void {
  // Elsewhere the priority is that of the whole process.
  if (process.platform === "linux") setPriority(Math.min(LOWEST, getPriority() + by));
}
