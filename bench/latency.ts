/**
 * `npm run bench:latency`: the latency for one caller, over HTTP to the whole real service with a name server on
 * loopback: uncached core checks at 500 a second, and premium checks of all features but the registry's,
 * asked for the first time and again. The name server answers at once; client and server share the machine.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { forkDnsServer } from "../test/dns/dns-server.ts";
import type { ServedName } from "../test/dns/dns-zone.ts";
import {
  gatepost,
  makeHome,
  type ServiceProcess,
  startService,
} from "../test/e2e/service-process.ts";

const CORE_CHECKS = 5_000;
const CORE_EVERY_MS = 2;
const PREMIUM_CHECKS = 300;
const FEATURES = "spf,dkim,dmarc,inbox_provider,deliverability";
const UNLIMITED = { rate_per_minute: null, daily: null, monthly: null };

const domain = (index: number): string => `d${index.toString(36)}.example`;

function zone(): Record<string, ServedName> {
  const names: Record<string, ServedName> = { "mx.mail.example": { a: ["192.0.2.25"] } };
  for (let index = 0; index < CORE_CHECKS + PREMIUM_CHECKS; index += 1) {
    names[domain(index)] = { mx: ["10 mx.mail.example"], txt: ["v=spf1 mx -all"] };
    names[`_dmarc.${domain(index)}`] = { txt: ["v=DMARC1; p=reject"] };
  }
  return names;
}

async function timed(service: ServiceProcess, path: string, key?: string): Promise<number> {
  const startedMs = performance.now();
  const { status } = await service.get(path, key === undefined ? {} : { "x-api-key": key });
  if (status !== 200) throw new Error(`${path} is ${String(status)}`);
  return performance.now() - startedMs;
}

function report(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1);
  console.log(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${String(times.length)} requests)`);
}

/** Sent by the clock, also when earlier ones are not answered. */
async function core(service: ServiceProcess): Promise<readonly number[]> {
  const startMs = performance.now();
  const asked: Promise<number>[] = [];
  for (let index = 0; index < CORE_CHECKS; index += 1) {
    const waitMs = startMs + index * CORE_EVERY_MS - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    asked.push(timed(service, `/api/email/a@${domain(index)}`));
  }
  return Promise.all(asked);
}

async function premium(service: ServiceProcess, key: string): Promise<readonly number[]> {
  const times: number[] = [];
  for (let index = 0; index < PREMIUM_CHECKS; index += 1) {
    const entry = `b@${domain(CORE_CHECKS + index)}`;
    times.push(await timed(service, `/api/email/${entry}?features=${FEATURES}`, key));
  }
  return times;
}

const dns = await forkDnsServer(zone());
const home = makeHome({
  GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
  LOG_LEVEL: "error",
});
const tiersFile = join(home.directory, "tiers.json");
writeFileSync(tiersFile, JSON.stringify({ anonymous: UNLIMITED, pro: UNLIMITED }));
const made = gatepost(home, ["account", "create", "b@bench.example", "--tier", "pro", "--json"]);
const { api_key: key } = JSON.parse(made.out) as { readonly api_key: string };
const service = await startService(home, { GATEPOST_TIERS_FILE: tiersFile });
try {
  for (let index = 0; index < 200; index += 1) await timed(service, "/api/email/warm-up");
  report("uncached core check at 500 a second", await core(service));
  report("premium check, asked for the first time", await premium(service, key));
  report("premium check, asked again", await premium(service, key));
} finally {
  await service.stop();
  await dns.close();
  home.remove();
}
