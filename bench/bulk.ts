// The cost of bulk validation: `npm run build && node dist/bench/bulk.js [case...]`.
// Ratios are measured within one run; absolute times depend on the machine.
import { performance } from "node:perf_hooks";
import { systemClock as clock } from "../src/base/clock.ts";
import { splitText } from "../src/core/batch/batch-chunk.ts";
import { openDns } from "../src/main/checker.ts";
import { systemMachine } from "../src/main/process.ts";
import { readConfig } from "../src/main/settings/config.ts";
import { createShares } from "../src/base/shares.ts";
import { threadTexts } from "../src/main/threads/reading-thread.ts";
import { startNameServer, type Weather } from "../test/dns/numbered-names.ts";
import { startBulkService } from "./bulk/over-http.ts";
import { type Service, startService } from "./bulk/service.ts";
import { memoryOf } from "./usage.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const CLEAR: Weather = { delayMs: 20, lossShare: 0, deadEvery: 0 };
const ROUGH: Weather = { delayMs: 20, lossShare: 0.01, deadEvery: 50 };
const SLOW: Weather = { ...ROUGH, delayMs: 150, sigma: 1 };

const addresses = (count: number, domains: number, mark = "b"): string =>
  Array.from(
    { length: count },
    (_, at) => `u${String(at)}@d${String(at % domains)}.${mark}.co`,
  ).join("\n");
const domains = (count: number, mark: string): string =>
  Array.from({ length: count }, (_, at) => `d${String(at)}.${mark}.co`).join("\n");

const mb = (octets: number): string => `${(octets / 1_048_576).toFixed(0)} MB`;
const rss = (): number => process.memoryUsage.rss();

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Watches the main thread while `work` runs: memory, and a single check of a cached domain every 5 ms. */
async function watched<T>(service: Service, work: () => Promise<T>) {
  let peak = 0;
  let isOver = false;
  const latencies: number[] = [];
  const asking = (async () => {
    while (!isOver) {
      const startMs = performance.now();
      await new Promise((resolve) => setImmediate(resolve)); // where a request would be handled
      await service.check({
        text: "someone@d1.warm.co",
        mode: "address",
        asked: { features: [], spamTrap: false },
      });
      latencies.push(performance.now() - startMs);
      peak = Math.max(peak, rss());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const result = await work();
  isOver = true;
  await asking;
  return { result, peak, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

async function withService(
  weather: Weather,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const server = await startNameServer(weather);
  const service = await startService(server.address);
  try {
    await work(service);
  } finally {
    await service.stop();
    server.stop();
  }
}

async function splitting(): Promise<void> {
  const texts = {
    "100,000 addresses": addresses(100_000, 5_000).slice(0, 2_000_000),
    "400,000 tiny entries": Array.from({ length: 400_000 }, (_, at) => at.toString(36)).join(","),
    "one entry": "!".repeat(2_000_000),
  };
  for (const [name, text] of Object.entries(texts)) {
    const times: number[] = [];
    const cpu: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const before = process.cpuUsage();
      const startMs = performance.now();
      const slices = splitText(text);
      while (slices.next().done !== true);
      times.push(performance.now() - startMs);
      cpu.push(process.cpuUsage(before).user / 1_000);
    }
    say(
      `split ${name}, ${String(text.length)} octets: median ${quantile(times, 0.5).toFixed(0)} ms, best ${Math.min(...times).toFixed(0)} ms, CPU ${quantile(cpu, 0.5).toFixed(0)} ms`,
    );
  }
  const { split, close } = threadTexts(createShares());
  for (let round = 0; round < 3; round += 1) {
    let longestMs = 0;
    let lastMs = performance.now();
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastMs - 1);
      lastMs = performance.now();
    }, 1);
    const startMs = performance.now();
    await split({
      text: texts["100,000 addresses"],
      owner: "account:a",
      entriesMax: null,
    });
    const tookMs = performance.now() - startMs;
    await new Promise((resolve) => setTimeout(resolve, 20));
    clearInterval(beat);
    say(
      `split in its thread: ${tookMs.toFixed(0)} ms, main thread blocked for up to ${longestMs.toFixed(1)} ms`,
    );
  }
  await close();
}

async function shared(): Promise<void> {
  await withService(CLEAR, async (service) => {
    await service.run(addresses(200, 200, "warm"));
    const before = rss();
    const idle = await watched(
      service,
      () => new Promise<void>((resolve) => setTimeout(resolve, 3_000)),
    );
    const busy = await watched(service, () => service.run(addresses(100_000, 5_000)));
    const { seconds, submitMs, stats, inconclusive } = busy.result;
    say(
      `100,000 addresses, 5,000 domains: ${seconds.toFixed(2)} s (answered after ${submitMs.toFixed(0)} ms), valid ${String(stats.valid)}, inconclusive ${String(inconclusive)}`,
    );
    say(`memory: ${mb(before)} before, ${mb(busy.peak)} at the most`);
    say(
      `single checks: p50 ${idle.p50.toFixed(2)} / ${busy.p50.toFixed(2)} ms, p99 idle ${idle.p99.toFixed(2)}, during ${busy.p99.toFixed(2)} ms`,
    );
  });
}

async function linear(): Promise<void> {
  await withService(CLEAR, async (service) => {
    await service.run(addresses(200, 200, "warm"));
    const small = await service.run(domains(10_000, "s"));
    const large = await service.run(domains(100_000, "l"));
    say(
      `unique domains: 10,000 in ${small.seconds.toFixed(2)} s, 100,000 in ${large.seconds.toFixed(2)} s, ratio ${(large.seconds / small.seconds).toFixed(1)}`,
    );
  });
}

/** The resolver without the service, over the same names: MX, then the address of the host. */
async function bareLoop(address: string, names: readonly string[]): Promise<number> {
  const dns = openDns(readConfig({ GATEPOST_DNS_SERVERS: address }), "bulk", {
    machine: systemMachine,
  });
  const startMs = clock.monotonicMs();
  const open: Promise<unknown>[] = [];
  for (const name of names) {
    const wait = dns.room();
    if (wait !== undefined) await wait;
    open.push(
      Promise.resolve(dns.mx(name)).then((answer) =>
        answer.kind === "found" ? dns.addresses(answer.records[0]?.host ?? name) : undefined,
      ),
    );
  }
  await Promise.all(open);
  const seconds = (clock.monotonicMs() - startMs) / 1_000;
  dns.close();
  return seconds;
}

async function rough(): Promise<void> {
  await withService(ROUGH, async (service) => {
    await service.run(addresses(200, 200, "warm"));
    const bare = await bareLoop(service.address, domains(100_000, "r").split("\n"));
    const { result, peak } = await watched(service, () => service.run(domains(100_000, "q")));
    const dead = 2_000;
    say(
      `100,000 domains, 2 % dead, 1 % loss each way: ${result.seconds.toFixed(2)} s, bare loop ${bare.toFixed(2)} s, ratio ${(result.seconds / bare).toFixed(2)}`,
    );
    say(
      `live names inconclusive: ${String(result.inconclusive - dead)}; memory ${mb(peak)} at the most`,
    );
  });
}

/** Lists over HTTP, from the request to the last result, on paths that lose datagrams and names that are dead. */
async function http(): Promise<void> {
  for (const weather of [ROUGH, SLOW]) {
    const server = await startNameServer(weather);
    const service = await startBulkService(server.address);
    try {
      await service.run("domain", domains(1_000, "warm"));
      const { seconds, inconclusive } = await service.run("domain", domains(100_000, "h"));
      const { delayMs, sigma = 0 } = weather;
      say(
        `over HTTP, 100,000 domains, ${String(delayMs)} ms, sigma ${String(sigma)}, 2 % dead, 1 % loss each way: ` +
          `${seconds.toFixed(1)} s, ${String(inconclusive - 2_000)} live names inconclusive, ` +
          `${memoryOf(service.child).peak.toFixed(0)} MB at the most`,
      );
    } finally {
      await service.stop();
      server.stop();
    }
  }
}

async function fair(): Promise<void> {
  const owners = 100;
  const entries = 12_000;
  await withService(CLEAR, async (service) => {
    await service.run(addresses(200, 200, "warm"));
    const text = addresses(entries, 5_000);
    const startMs = clock.monotonicMs();
    const runs = await Promise.all(
      Array.from({ length: owners }, (_, at) => service.run(text, `o${String(at)}`)),
    );
    const all = (clock.monotonicMs() - startMs) / 1_000;
    const waits = runs.map(({ seconds }) => seconds);
    say(
      `${String(owners)} owners x ${String(entries)}: all after ${all.toFixed(1)} s; first ${Math.min(...waits).toFixed(1)} s, last ${Math.max(...waits).toFixed(1)} s, memory ${mb(rss())}`,
    );
  });
}

async function sync(): Promise<void> {
  await withService(CLEAR, async ({ bulk }) => {
    const caller = {
      owner: { kind: "account", accountId: "a1" },
      tier: "pro",
      clientAddress: "192.0.2.1",
    } as const;
    const times: number[] = [];
    for (let round = 0; round < 220; round += 1) {
      const startMs = performance.now();
      await bulk.submit({ caller, hasCredits: false }, { text: addresses(100, 100) });
      if (round >= 20) times.push(performance.now() - startMs);
    }
    say(
      `100 at once on warm DNS: p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`,
    );
  });
}

const CASES = { splitting, sync, shared, linear, rough, http, fair };
const asked = process.argv.slice(2);
for (const [name, run] of Object.entries(CASES)) {
  if (asked.length === 0 || asked.includes(name)) await run();
}
