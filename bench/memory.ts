/**
 * `npm run bench:memory [case...]`: the most memory that the embedded service has resident, each case in a fresh one:
 * `checks`, a million single checks (BENCH_CHECKS) of names that no cache has, and `list`, a list of 100,000
 * addresses over 5,000 domains. `bench:start` measures the idle service.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startNameServer } from "../test/dns/numbered-names.ts";
import { runLoad } from "./single/load.ts";
import { startBulkService } from "./bulk/over-http.ts";
import { memoryOf } from "./usage.ts";
import { sized } from "./short.ts";

const CHECKS = Number(process.env["BENCH_CHECKS"] ?? sized(1_000_000, 2_000));
const CONNECTIONS = 64;
const SETTLE_MS = sized(5_000, 100);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function checks(): Promise<void> {
  const dns = await startNameServer({ delayMs: 0, lossShare: 0, deadEvery: 0 });
  const service = await startBulkService(dns.address);
  try {
    const port = Number(new URL(service.url).port);
    const load = { port, connections: CONNECTIONS, count: CHECKS, mark: "m" };
    const { perSecond, wrong } = await runLoad(load);
    const { peak } = memoryOf(service.child);
    await sleep(SETTLE_MS);
    say(
      `${String(CHECKS)} different checks, ${perSecond.toFixed(0)} a second, ${String(wrong)} wrong: ` +
        `${peak.toFixed(0)} MB at the most, ${memoryOf(service.child).now.toFixed(0)} MB afterwards`,
    );
  } finally {
    await service.stop();
    dns.stop();
  }
}

async function list(): Promise<void> {
  const dns = await startNameServer({ delayMs: 20, lossShare: 0, deadEvery: 0 });
  const service = await startBulkService(dns.address);
  try {
    const text = Array.from(
      { length: sized(100_000, 2_000) },
      (_, at) => `u${String(at)}@d${String(at % 5_000)}.l.co`,
    ).join("\n");
    const { seconds } = await service.run("email", text);
    say(
      `${String(sized(100_000, 2_000))} addresses, up to 5,000 domains, ${seconds.toFixed(1)} s: ${memoryOf(service.child).peak.toFixed(0)} MB at the most`,
    );
  } finally {
    await service.stop();
    dns.stop();
  }
}

const CASES = { checks, list };
const asked = process.argv.slice(2);
for (const [name, run] of Object.entries(CASES)) {
  if (asked.length === 0 || asked.includes(name)) await run();
}
