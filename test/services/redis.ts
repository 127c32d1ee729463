import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PATIENCE_MS } from "../time/until.ts";
import { type Child, startChild } from "./child.ts";
import { freePort } from "./free-port.ts";

/** A private Redis on loopback that keeps nothing on disk. */
export interface RedisServer {
  readonly port: number;
  /** "redis://127.0.0.1:port" */
  readonly url: string;
  /** "end": in order; "kill": at once. Waits for the end. */
  stop(how: "end" | "kill"): Promise<void>;
  /** After `stop`: an empty one on the same port; resolves when it answers. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface RedisOptions {
  /** Further command-line options, such as `--maxmemory`. */
  readonly options?: readonly string[];
}

export async function startRedis({ options = [] }: RedisOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-redis-"));
  const port = await freePort();
  const ours = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const launch = (): Child =>
    startChild("redis-server", [...ours, "--appendonly", "no", ...options]);
  let server = launch();
  const stop = (how: "end" | "kill"): Promise<void> =>
    server.end(how === "end" ? "SIGTERM" : "SIGKILL");
  await untilAnswers(port, server);
  return {
    port,
    url: `redis://127.0.0.1:${String(port)}`,
    stop,
    async start() {
      server = launch();
      await untilAnswers(port, server);
    },
    async close() {
      await stop("kill");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilAnswers(port: number, server: Child): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await answersPing(port))) {
    if (!server.isRunning() || Date.now() > deadline) {
      throw new Error("the test's Redis does not answer");
    }
    await pause(20);
  }
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.on("data", (data) => {
      resolve(data.toString().startsWith("+PONG"));
      socket.destroy();
    });
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
  });
}
