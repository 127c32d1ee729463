/**
 * `npm run bench:http`: a cached single check through the real HTTP face against bare node:http serving the
 * same bytes. Both servers live through the whole run and are asked in turns, so that whatever else the
 * machine does falls on both; the ratio is the median of the ratios of neighbouring rounds. Target: a ratio of at least 0.75.
 */
import { execFile, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { CHECKED, type Usage } from "./http-server.ts";

const ROUNDS = 11;
const ROUND_SECONDS = 2;
const CONNECTIONS = 64;
const TARGET_RATIO = 0.75;

const autocannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js");
const run = promisify(execFile);

interface Round {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly rssMegabytes: number;
}

interface Contender {
  readonly name: "app" | "bare";
  readonly process: ChildProcess;
  readonly url: string;
  readonly rounds: Round[];
}

async function start(name: "app" | "bare"): Promise<Contender> {
  const child = fork(new URL("./http-server.js", import.meta.url), [name]);
  const [url] = (await once(child, "message")) as [string];
  return { name, process: child, url: `${url}/api/email/${CHECKED}`, rounds: [] };
}

async function usageOf({ process: child }: Contender): Promise<Usage> {
  const answer = once(child, "message");
  child.send("usage");
  const [usage] = (await answer) as [Usage];
  return usage;
}

async function playRound(contender: Contender): Promise<Round> {
  const before = await usageOf(contender);
  const options = ["-j", "-n", "-c", String(CONNECTIONS), "-d", String(ROUND_SECONDS)];
  const { stdout } = await run(process.execPath, [autocannon, ...options, contender.url]);
  const result = JSON.parse(stdout) as {
    readonly "2xx": number;
    readonly non2xx: number;
    readonly errors: number;
    readonly duration: number;
  };
  if (result.non2xx + result.errors > 0)
    throw new Error(`${contender.name}: not every answer was 200`);
  const after = await usageOf(contender);
  const requests = result["2xx"];
  return {
    perSecond: requests / result.duration,
    cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
    rssMegabytes: after.rssBytes / 1_048_576,
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function report({ name, rounds }: Contender): void {
  const perSecond = median(rounds.map((round) => round.perSecond));
  const cpu = median(rounds.map((round) => round.cpuMicroseconds));
  const rss = rounds.at(-1)?.rssMegabytes ?? Number.NaN;
  process.stdout.write(
    `${name.padEnd(5)} ${perSecond.toFixed(0).padStart(7)} requests/s` +
      ` ${cpu.toFixed(1).padStart(6)} us CPU/request ${rss.toFixed(0).padStart(4)} MB RSS\n`,
  );
}

const contenders = [await start("app"), await start("bare")] as const;
try {
  for (const contender of contenders) await playRound(contender); // warm up, not counted
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const contender of contenders) contender.rounds.push(await playRound(contender));
  }
  contenders.forEach(report);
  const [app, bare] = contenders;
  const ratio = median(
    app.rounds.map(({ perSecond }, at) => perSecond / (bare.rounds[at]?.perSecond ?? Number.NaN)),
  );
  process.stdout.write(`ratio ${ratio.toFixed(2)} of bare node:http (target ${TARGET_RATIO})\n`);
  process.exitCode = ratio >= TARGET_RATIO ? 0 : 1;
} finally {
  for (const { process: child } of contenders) child.kill();
}
