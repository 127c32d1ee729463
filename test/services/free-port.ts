import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Below the ephemeral ports of systems, so that no connection takes one while its server
 * is stopped. Each process searches its own part of the range.
 */
const FIRST = 10_000;
const EACH = 20;
const PROCESSES = 1_000;

/** A process holds its port numbers on this address until it ends, so that no other takes one while its server is stopped. */
const CLAIMS = "127.0.0.2";

const claimed = new Set<number>();
let tried = 0;

/** A TCP port of 127.0.0.1 that stays free: for servers that cannot choose one, or return to theirs. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < EACH; tries += 1) {
    const port = FIRST + (process.pid % PROCESSES) * EACH + (tried++ % EACH);
    if ((await isOurs(port)) && (await isFree(port))) return port;
  }
  throw new Error("this process has no free port left");
}

async function isOurs(port: number): Promise<boolean> {
  if (claimed.has(port)) return true;
  const claim = await listenOn(CLAIMS, port);
  if (typeof claim !== "string") claim.unref();
  // Only Linux has that address by default; elsewhere no port is claimed.
  else if (claim !== "EADDRNOTAVAIL") return false;
  claimed.add(port);
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn("127.0.0.1", port);
  if (typeof server === "string") return false;
  server.close();
  await once(server, "close");
  return true;
}

/** The server, or the error code of its failure to listen. */
async function listenOn(host: string, port: number): Promise<Server | string> {
  const server = createServer().listen(port, host);
  try {
    await once(server, "listening");
    return server;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code ?? "";
  }
}
