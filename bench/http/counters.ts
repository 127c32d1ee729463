/**
 * `npm run bench:redis`: a cached single check with a key whose rate, day and month are counted in Redis,
 * compared with the same counted in memory and with bare node:http writing the same bytes. Measured in turns; a ratio is the
 * median of the ratios of neighbouring rounds. Target: 0.40 of bare. The script calls of a check are counted
 * by a test, not here.
 */
import { CHECKED } from "./http-result.ts";
import { compare, type Contender, launch } from "./http-rounds.ts";

async function start(file: string, kind: string, name: string): Promise<Contender> {
  const { url, key, process: child } = await launch(new URL(file, import.meta.url), kind);
  const headers = key === "" ? [] : ["-H", `x-api-key=${key}`];
  return { name, process: child, url: `${url}/api/email/${CHECKED}`, headers, rounds: [] };
}

await compare(
  [
    await start("./redis-server.js", "redis", "Redis"),
    await start("./redis-server.js", "memory", "memory"),
    await start("./http-server.js", "bare", "bare node:http"),
  ],
  new Map([["Redis", 0.4]]),
);
