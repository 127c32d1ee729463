/** Servers in separate processes that live through a whole run and are measured in turns. */
import { execFile, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { promisify } from "node:util";

const ROUNDS = 11;
const ROUND_SECONDS = 2;
const CONNECTIONS = 32;

const autocannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js");
const run = promisify(execFile);

/** A server's address, and a key that it knows. */
export interface Started {
  readonly url: string;
  readonly key: string;
}

/** What one server has used since it started. */
export interface Usage {
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
}

/** In the server's process: sends its address, and its resource use on request. */
export async function tell(starting: () => Promise<Started>): Promise<void> {
  if (process.send === undefined) return;
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() });
  });
  // A normal exit ends what the server has started; a signal would not.
  for (const end of ["disconnect", "SIGTERM"]) process.on(end, () => process.exit(0));
  process.send(await starting());
}

/** Starts a server that reports its address. */
export async function launch(
  file: URL,
  kind: string,
): Promise<Started & { readonly process: ChildProcess }> {
  const child = fork(file, [kind]);
  const [started] = (await once(child, "message")) as [Started];
  return { ...started, process: child };
}

interface Round {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly rssMegabytes: number;
}

export interface Contender {
  readonly name: string;
  readonly process: ChildProcess;
  readonly url: string;
  readonly headers: readonly string[];
  readonly rounds: Round[];
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

/** Asks all in turns; `targets` are shares of the last one, `bare`. */
export async function compare(
  contenders: readonly Contender[],
  targets: ReadonlyMap<string, number>,
): Promise<void> {
  const bare = contenders.at(-1);
  try {
    for (const contender of contenders) await playRound(contender); // warm up, not counted
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const contender of contenders) contender.rounds.push(await playRound(contender));
    }
    contenders.forEach(report);
    for (const { name, rounds } of contenders) {
      const target = targets.get(name);
      if (target === undefined) continue;
      const pairs = rounds.map((round, at) => ({ round, other: bare?.rounds[at] ?? round }));
      const ratio = median(pairs.map(({ round, other }) => round.perSecond / other.perSecond));
      const byCpu = median(
        pairs.map(({ round, other }) => other.cpuMicroseconds / round.cpuMicroseconds),
      );
      process.stdout.write(
        `${name}: ${ratio.toFixed(2)} of bare node:http (target ${target}), by CPU ${byCpu.toFixed(2)}\n`,
      );
      if (!(ratio >= target)) process.exitCode = 1;
    }
  } finally {
    for (const { process: child } of contenders) child.kill();
  }
}
