/**
 * `npm run bench:counters`: a cached single check with a key whose rate, day and month are counted in PostgreSQL,
 * compared with the same counted in memory and with bare node:http writing the same bytes. Measured in turns; a ratio is the
 * median of the ratios of neighbouring rounds. Target: 0.40 of bare.
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
    await start("./counters-server.js", "postgres", "PostgreSQL"),
    await start("./counters-server.js", "memory", "memory"),
    await start("./http-server.js", "bare", "bare node:http"),
  ],
  new Map([["PostgreSQL", 0.4]]),
);
