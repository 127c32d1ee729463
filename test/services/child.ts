import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";

/** A server in a separate process; it ends with this process, except on SIGKILL. */
export interface Child {
  /** Sends the signal and waits until the process has exited; does nothing if it already has. */
  end(signal: NodeJS.Signals): Promise<void>;
  readonly isRunning: () => boolean;
}

export function startChild(
  program: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Child {
  const child: ChildProcess = spawn(program, args, { stdio: "ignore", ...options });
  child.on("error", () => undefined); // shows as a server that never answers
  const killed = (): void => void child.kill("SIGKILL");
  process.once("exit", killed);
  child.once("exit", () => process.off("exit", killed));
  const isRunning = (): boolean =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    isRunning,
    async end(signal) {
      if (child.pid === undefined) return;
      child.kill(signal);
      await endOf(child);
    },
  };
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How a process ended; at once if it has already exited. */
export async function endOf(child: ChildProcess): Promise<ProcessEnd> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return { code: child.exitCode, signal: child.signalCode };
}
