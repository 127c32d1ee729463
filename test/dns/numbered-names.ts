import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface NameServer {
  readonly address: string;
  stop(): void;
}

export interface Weather {
  /** The median where it is spread. */
  readonly delayMs: number;
  /** Sigma of the lognormal distribution of delays; absent: all are the same. */
  readonly sigma?: number;
  /** Of each way. */
  readonly lossShare: number;
  /** One name in this number never answers; 0: none. */
  readonly deadEvery: number;
}

/** A name server in a separate process, whose names begin with a number: see its program. */
export async function startNameServer(weather: Weather): Promise<NameServer> {
  const program = fileURLToPath(new URL("./numbered-names-process.js", import.meta.url));
  const { delayMs, lossShare, deadEvery, sigma = 0 } = weather;
  const args = [program, ...[delayMs, lossShare, deadEvery, sigma].map(String)];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = (): void => void child.kill("SIGKILL");
  process.once("exit", stop); // also when this program fails
  const [port] = (await once(
    createInterface({ input: child.stdout ?? process.stdin }),
    "line",
  )) as [string];
  return {
    address: `127.0.0.1:${port}`,
    stop() {
      process.off("exit", stop);
      stop();
    },
  };
}
