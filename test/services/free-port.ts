import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems hand out by themselves, so that no connection of anybody takes one while its server
 * is stopped; and each process has some of its own, so that no two test files choose the same.
 */
const FIRST = 10_000;
const EACH = 20;
const PROCESSES = 1_000;

let tried = 0;

/** A TCP port of 127.0.0.1 that is free, and stays so: for servers that cannot choose one, or come back to theirs. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < EACH; tries += 1) {
    const port = FIRST + (process.pid % PROCESSES) * EACH + (tried++ % EACH);
    if (await isFree(port)) return port;
  }
  throw new Error("this process has no free port left");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
