import { after, before } from "node:test";
import { hasTool, testWithTools } from "../process/require-tool.ts";
import { type RedisServer, startRedis } from "./redis.ts";

/** Registers tests on a Redis for this file, or one visible skip named `what` without Redis. */
export function withRedis(what: string, register: (server: () => RedisServer) => void): void {
  if (!hasTool("redis-server")) {
    testWithTools(["redis-server"], what, () => Promise.resolve());
    return;
  }
  let running: RedisServer | undefined;
  before(async () => {
    running = await startRedis();
  });
  after(() => running?.close());
  register(() => {
    if (running === undefined) throw new Error("the test's Redis is not started yet");
    return running;
  });
}
