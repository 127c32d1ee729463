// The cost and gain of the scale-out: `npm run bench:scale`.
// Ratios are medians of interleaved rounds; absolute times depend on the machine.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  openScaledWorld,
  type ScaledProcess,
  type ScaledWorld,
} from "../test/scaled/scaled-world.ts";
import { startNameServer } from "../test/dns/numbered-names.ts";
import { cpuOf, median } from "./usage.ts";
import { sized } from "./short.ts";

const autocannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js");
const runProgram = promisify(execFile);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const DELAY_MS = 20;
const ROUNDS = sized(3, 1);
const CONNECTIONS = 32;
const LOAD_SECONDS = sized(4, 1);
const QUOTA = sized(5_000, 500);

interface Answered {
  readonly count: number;
  readonly perSecond: number;
}

/** Cached checks answered by these servers together. */
async function load(servers: readonly ScaledProcess[], apiKey: string): Promise<Answered> {
  const connections = String(CONNECTIONS / servers.length);
  const runs = await Promise.all(
    servers.map(({ url }) => ask(url, apiKey, ["-c", connections, "-d", String(LOAD_SECONDS)])),
  );
  return {
    count: runs.reduce((sum, { count }) => sum + count, 0),
    perSecond: runs.reduce((sum, { perSecond }) => sum + perSecond, 0),
  };
}

async function ask(url: string, apiKey: string, terms: readonly string[]): Promise<Answered> {
  const words = ["-j", "-n", ...terms, "-H", `x-api-key=${apiKey}`, `${url}/api/domain/d1.warm.co`];
  const { stdout } = await runProgram(process.execPath, [autocannon, ...words]);
  const { "2xx": count, duration } = JSON.parse(stdout) as { "2xx": number; duration: number };
  return { count, perSecond: count / duration };
}

/** CPU of these servers for each answer, in microseconds, and the answers a second. */
async function measured(running: readonly ScaledProcess[], apiKey: string) {
  const cpu = (): number => running.reduce((sum, { child }) => sum + cpuOf(child), 0);
  const before = cpu();
  const { count, perSecond } = await load(running, apiKey);
  return { perSecond, cpuMicroseconds: (cpu() - before) / count };
}

async function servers(world: ScaledWorld, api: ScaledProcess): Promise<void> {
  const other = await world.start({ command: "serve" });
  const { apiKey } = await world.account();
  const rates: number[] = [];
  const speeds: number[] = [];
  const gains: number[] = [];
  await load([api, other], apiKey);
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = await measured([api], apiKey);
    const two = await measured([api, other], apiKey);
    rates.push(two.perSecond / one.perSecond);
    speeds.push(two.perSecond);
    gains.push((2 * one.cpuMicroseconds) / two.cpuMicroseconds);
  }
  say(
    `cached checks on ${String(availableParallelism())} cores, client and stores included: two servers answer ${median(speeds).toFixed(0)} a second, ${median(rates).toFixed(2)} times as many as one; by CPU a request two are ${median(gains).toFixed(2)} times one`,
  );
  await exact(world, [api, other]);
  await other.stop("SIGTERM");
}

/** Both servers are asked for more than the day's quota of one account. */
async function exact(world: ScaledWorld, running: readonly ScaledProcess[]): Promise<void> {
  const { apiKey } = await world.account("starter");
  const terms = ["-c", String(CONNECTIONS / 2), "-a", String(QUOTA)];
  const runs = await Promise.all(running.map(({ url }) => ask(url, apiKey, terms)));
  const granted = runs.reduce((sum, { count }) => sum + count, 0);
  say(
    `a quota of ${String(QUOTA)}, ${String(2 * QUOTA)} asked of two servers: ${String(granted)} granted`,
  );
  if (granted !== QUOTA) process.exitCode = 1;
}

const folder = mkdtempSync(join(tmpdir(), "gatepost-bench-"));
const tiers = join(folder, "tiers.json");
const endless = { rate_per_minute: null, daily: null, monthly: null, bulk_limit: 100_000 };
writeFileSync(tiers, JSON.stringify({ pro: endless, starter: { ...endless, daily: QUOTA } }));
const nameServer = await startNameServer({ delayMs: DELAY_MS, lossShare: 0, deadEvery: 0 });
const world = await openScaledWorld({
  environment: { GATEPOST_DNS_SERVERS: nameServer.address, GATEPOST_TIERS_FILE: tiers },
});
try {
  const api = await world.start({ command: "serve" });
  await servers(world, api);
} finally {
  await world.close();
  nameServer.stop();
  rmSync(folder, { recursive: true, force: true });
}
