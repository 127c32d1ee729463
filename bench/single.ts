/**
 * `npm run bench:single [delay...]`: single checks of names that no cache has, over HTTP to the whole real service,
 * through a name server that answers after 1, 20 and 150 ms. With BENCH_PEER, the path of a program that is given
 * a name server's address, prints its URL and answers `/api/email/NAME`, that peer is asked in turns, and ratios
 * are printed: medians of neighbouring rounds. Client, name server and all servers share the machine.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startNameServer } from "../test/dns/numbered-names.ts";
import { makeHome, startService } from "../test/e2e/service-process.ts";
import { type LoadResult, runLoad } from "./single/load.ts";
import { cpuOf, median } from "./usage.ts";
import { sized } from "./short.ts";

interface Path {
  readonly delayMs: number;
  readonly connections: number;
}

const PATHS: readonly Path[] = [
  { delayMs: 1, connections: 128 },
  { delayMs: 20, connections: 128 },
  { delayMs: 150, connections: 384 },
];

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? sized(5, 1));
/** Names asked for in a round, and before the first, until the program is compiled. */
const ROUND_NAMES = sized(10_000, 500);
const WARM_UP_NAMES = sized(40_000, 500);
const AMPLE = { rate_per_minute: 1e9, daily: 1e9, monthly: 1e9 };

interface Server {
  readonly url: string;
  readonly child: ChildProcess;
  readonly stop: () => Promise<unknown>;
}

interface Round extends LoadResult {
  readonly cpuMicroseconds: number;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function startOurs(dns: string): Promise<Server> {
  const home = makeHome({ GATEPOST_DNS_SERVERS: dns, LOG_LEVEL: "error" });
  const tiers = join(home.directory, "tiers.json");
  writeFileSync(tiers, JSON.stringify({ anonymous: AMPLE }));
  const service = await startService(home, {
    GATEPOST_TIERS_FILE: tiers,
    GATEPOST_DNS_CANARIES: "off",
    GATEPOST_MAX_CONNECTIONS_PER_ADDRESS: "1000",
  });
  const stop = (): Promise<unknown> => service.stop().finally(() => home.remove());
  return { url: service.url, child: service.child, stop };
}

async function startPeer(program: string, dns: string): Promise<Server> {
  const child = spawn(program, [dns], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  const ended = once(child, "exit");
  return { url, child, stop: () => (child.kill(), ended) };
}

let rounds = 0;
async function playRound(
  { url, child }: Server,
  connections: number,
  count: number,
): Promise<Round> {
  rounds += 1;
  const before = cpuOf(child);
  const port = Number(new URL(url).port);
  const done = await runLoad({ port, connections, count, mark: `r${String(rounds)}` });
  return { ...done, cpuMicroseconds: (cpuOf(child) - before) / count };
}

function report(name: string, played: readonly Round[]): void {
  const of = (figure: (round: Round) => number): string => median(played.map(figure)).toFixed(1);
  say(
    `  ${name.padEnd(8)} ${of((one) => one.perSecond).padStart(8)} a second, ${of((one) => one.cpuMicroseconds)} us CPU each, ` +
      `p50 ${of((one) => one.p50Ms)} ms, p99 ${of((one) => one.p99Ms)} ms, ${of((one) => one.wrong)} wrong`,
  );
}

/** The rounds of each server, which are asked in turns. */
async function play(
  servers: readonly Server[],
  connections: number,
): Promise<readonly (readonly Round[])[]> {
  const played = servers.map((): Round[] => []);
  for (const server of servers) await playRound(server, connections, WARM_UP_NAMES);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, server] of servers.entries()) {
      played[at]?.push(await playRound(server, connections, ROUND_NAMES));
    }
  }
  return played;
}

function compare(ours: readonly Round[], theirs: readonly Round[]): void {
  const ratio = (figure: (round: Round) => number): string =>
    median(ours.map((one, at) => figure(one) / figure(theirs[at] ?? one))).toFixed(2);
  const cpu = ratio((one) => one.cpuMicroseconds);
  say(`  rate to the peer's ${ratio((one) => one.perSecond)}, CPU ${cpu}`);
}

async function measure({ delayMs, connections }: Path): Promise<void> {
  const dns = await startNameServer({ delayMs, lossShare: 0, deadEvery: 0 });
  const peer = process.env["BENCH_PEER"];
  const servers = [await startOurs(dns.address)];
  if (peer !== undefined) servers.push(await startPeer(peer, dns.address));
  try {
    const [ours = [], theirs] = await play(servers, connections);
    say(`uncached checks through ${String(delayMs)} ms, ${String(connections)} connections`);
    report("service", ours);
    if (theirs === undefined) return;
    report("peer", theirs);
    compare(ours, theirs);
  } finally {
    for (const server of servers) await server.stop();
    dns.stop();
  }
}

const asked = process.argv.slice(2).map(Number);
for (const path of PATHS)
  if (asked.length === 0 || asked.includes(path.delayMs)) await measure(path);
