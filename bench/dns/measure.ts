import { fork, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDnsLookup, type DnsLookup, type DnsStats } from "../../src/dns/lookup.ts";
import { createResolver } from "../../src/dns/resolver.ts";
import { SharedCap } from "../../src/dns/flow/window.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { Path } from "./proxy.ts";
import type { Answer } from "../../src/core/mail/lookup.ts";

export interface OurRun {
  /** Until the last name is given up. */
  readonly seconds: number;
  /** Names with an answer, until the last of those answers: dnsperf counts as little, and waits 5 s for what is lost. */
  readonly perSecond: number;
  /** User and system time of the whole process, garbage collection included. */
  readonly cpuMicroseconds: number;
  readonly rssMegabytes: number;
  readonly unknown: readonly string[];
  readonly stats: DnsStats;
}

const IN_FLIGHT = 4_000;
/** The second pass of a job: most of these names are dead and never answer. */
const AGAIN_IN_FLIGHT = 2_000;

export function openLookup(port: number): DnsLookup {
  const resolver = createResolver({
    servers: [{ host: "127.0.0.1", port }],
    profile: "bulk",
    clock: systemClock,
    random: randomBytes,
    cap: new SharedCap(2_000),
  });
  return createDnsLookup(resolver, { clock: systemClock });
}

/** Asks for the MX of every name with a cold cache. */
export async function runOurs(names: readonly string[], lookup: DnsLookup): Promise<OurRun> {
  const startedMs = systemClock.monotonicMs();
  const cpu = process.cpuUsage();
  const asked = await askAll(names, { lookup, limit: IN_FLIGHT, ask: lookup.mx });
  const { unknown, lastAnswerMs } = asked;
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
  return {
    seconds,
    perSecond: ((names.length - unknown.length) * 1_000) / (lastAnswerMs - startedMs),
    cpuMicroseconds: (user + system) / names.length,
    rssMegabytes: process.memoryUsage.rss() / 1e6,
    unknown,
    stats: lookup.stats(),
  };
}

export interface SecondPass {
  readonly unknown: readonly string[];
  readonly seconds: number;
}

/** Asks again about the names without an answer. */
export async function runAgain(names: readonly string[], lookup: DnsLookup): Promise<SecondPass> {
  const startedMs = systemClock.monotonicMs();
  const limit = AGAIN_IN_FLIGHT;
  const { unknown } = await askAll(names, { lookup, limit, ask: lookup.again.mx });
  return { unknown, seconds: (systemClock.monotonicMs() - startedMs) / 1_000 };
}

interface Asking {
  readonly lookup: DnsLookup;
  /** Number of names asked at once. */
  readonly limit: number;
  readonly ask: DnsLookup["mx"];
}

interface Asked {
  /** The names without an answer. */
  readonly unknown: readonly string[];
  readonly lastAnswerMs: number;
}

async function askAll(names: readonly string[], asking: Asking): Promise<Asked> {
  const { lookup, limit, ask } = asking;
  const unknown: string[] = [];
  let lastAnswerMs = 0;
  let open = 0;
  let wake = (): void => undefined;
  const settled = (name: string, { kind }: Answer<unknown>): void => {
    if (kind === "unknown") unknown.push(name);
    else lastAnswerMs = systemClock.monotonicMs();
    open -= 1;
    wake();
  };
  for (const name of names) {
    const room = lookup.room();
    if (room !== undefined) await room;
    while (open >= limit) await new Promise<void>((resolve) => (wake = resolve));
    open += 1;
    void Promise.resolve(ask(name)).then((answer) => settled(name, answer));
  }
  while (open > 0) await new Promise<void>((resolve) => (wake = resolve));
  return { unknown, lastAnswerMs };
}

export interface DnsperfRun {
  /** Until the last answer, as `perSecond` counts them; questions without one are not in either. */
  readonly seconds: number;
  readonly perSecond: number;
  readonly lost: number;
}

/** Runs dnsperf once over the questions in `file`. */
export async function runDnsperf(
  file: string,
  { port, outstanding }: { readonly port: number; readonly outstanding: number },
): Promise<DnsperfRun> {
  const target = ["-s", "127.0.0.1", "-p", String(port), "-d", file, "-n", "1", "-t", "5"];
  const child = spawn("dnsperf", [
    ...target,
    "-e",
    "-c",
    "8",
    "-b",
    "4096",
    "-q",
    String(outstanding),
  ]);
  let output = "";
  for await (const chunk of child.stdout) output += String(chunk);
  return {
    seconds: figure(output, /Run time \(s\): +([\d.]+)/),
    perSecond: figure(output, /Queries per second: +([\d.]+)/),
    lost: figure(output, /Queries lost: +(\d+)/),
  };
}

function figure(output: string, pattern: RegExp): number {
  const digits = pattern.exec(output)?.[1];
  if (digits === undefined) throw new Error(`dnsperf said: ${output.slice(-500)}`);
  return Number(digits);
}

/** Names a second of 500 questions at once by c-ares, as a program without a client of its own would ask. */
export async function runCares(names: readonly string[], port: number): Promise<number> {
  const resolver = new Resolver({ timeout: 5_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${String(port)}`]);
  const startedMs = systemClock.monotonicMs();
  let next = 0;
  const ask = async (): Promise<void> => {
    for (let name = names[next++]; name !== undefined; name = names[next++]) {
      await resolver.resolveMx(name).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: CARES_AT_ONCE }, ask));
  return (names.length * 1_000) / (systemClock.monotonicMs() - startedMs);
}

const CARES_AT_ONCE = 500;

/** Names a second of massdns; undefined when it is not installed. */
export function runMassdns(names: readonly string[], port: number): number | undefined {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-massdns-"));
  const servers = join(folder, "servers");
  writeFileSync(servers, `127.0.0.1:${String(port)}\n`);
  const startedMs = systemClock.monotonicMs();
  const args = ["-q", "-t", "MX", "-s", "2000", "-r", servers, "-o", "S", "-w", "/dev/null"];
  const { error } = spawnSync("massdns", args, { input: names.join("\n") });
  rmSync(folder, { recursive: true });
  if (error !== undefined) return undefined;
  return (names.length * 1_000) / (systemClock.monotonicMs() - startedMs);
}

export interface Proxy {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts the proxy that delays and loses datagrams, in a separate process. */
export async function startProxy(path: Path): Promise<Proxy> {
  const child = fork(fileURLToPath(new URL("./proxy.js", import.meta.url)));
  child.send(path);
  const [{ port }] = (await once(child, "message")) as [{ readonly port: number }];
  return {
    port,
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
