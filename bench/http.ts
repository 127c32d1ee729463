/**
 * `npm run bench:http`: a cached single check by the whole real service, without and with a key, against bare
 * node:http serving the same bytes. All live through the whole run and are asked in turns, so that whatever
 * else the machine does falls on all; a ratio is the median of the ratios of neighbouring rounds. Targets: at
 * least 0.75 without a key, 0.70 with key, rate and quota.
 */
import { execFile, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { CHECKED, type Started, type Usage } from "./http-server.ts";

const ROUNDS = 11;
const ROUND_SECONDS = 2;
const CONNECTIONS = 64;

const autocannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js");
const run = promisify(execFile);

interface Round {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly rssMegabytes: number;
}

interface Contender {
  readonly name: string;
  readonly process: ChildProcess;
  readonly url: string;
  readonly headers: readonly string[];
  readonly rounds: Round[];
}

async function start(server: "service" | "bare"): Promise<readonly Contender[]> {
  const child = fork(new URL("./http-server.js", import.meta.url), [server]);
  const [{ url, key }] = (await once(child, "message")) as [Started];
  const common = { process: child, url: `${url}/api/email/${CHECKED}` };
  if (server === "bare") return [{ ...common, name: "bare node:http", headers: [], rounds: [] }];
  return [
    { ...common, name: "service, no key", headers: [], rounds: [] },
    { ...common, name: "service, key", headers: ["-H", `x-api-key=${key}`], rounds: [] },
  ];
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
  const { stdout } = await run(process.execPath, [
    autocannon,
    ...options,
    ...contender.headers,
    contender.url,
  ]);
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
    `${name.padEnd(16)} ${perSecond.toFixed(0).padStart(7)} requests/s` +
      ` ${cpu.toFixed(1).padStart(6)} us CPU/request ${rss.toFixed(0).padStart(4)} MB RSS\n`,
  );
}

const TARGETS = new Map([
  ["service, no key", 0.75],
  ["service, key", 0.7],
]);

const contenders = [...(await start("service")), ...(await start("bare"))];
const bare = contenders.at(-1);
try {
  for (const contender of contenders) await playRound(contender); // warm up, not counted
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const contender of contenders) contender.rounds.push(await playRound(contender));
  }
  contenders.forEach(report);
  for (const { name, rounds } of contenders) {
    const target = TARGETS.get(name);
    if (target === undefined) continue;
    const ratios = rounds.map(
      ({ perSecond }, at) => perSecond / (bare?.rounds[at]?.perSecond ?? Number.NaN),
    );
    const ratio = median(ratios);
    process.stdout.write(`${name}: ${ratio.toFixed(2)} of bare node:http (target ${target})\n`);
    if (!(ratio >= target)) process.exitCode = 1;
  }
} finally {
  for (const { process: child } of contenders) child.kill();
}
