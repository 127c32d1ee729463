/**
 * `npm run bench:gate`: what a decision costs beside other work of the same service, as the median of neighbouring rounds: one
 * beyond the rate beside a check, both of names that no cache has; and one that is counted by three keys beside one without.
 * Then 20,000 decisions a minute of an account that has spent its rate, and the p99 of another's checks meanwhile.
 */
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startNameServer } from "../test/dns/numbered-names.ts";
import { gatepost, makeHome, startService } from "../test/e2e/service-process.ts";
import { cpuOf, median } from "./usage.ts";
import { sized } from "./short.ts";

const ROUNDS = sized(7, 1);
const CONNECTIONS = 32;
const FLOOD = { aSecond: 20_000 / 60, seconds: sized(30, 1), rate: sized(2_000, 10) };
const P99_MUST_MS = 250;
const AMPLE = { rate_per_minute: 1e9, daily: 1e9, monthly: 1e9 };

const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: CONNECTIONS }));
const dns = await startNameServer({ delayMs: 1, lossShare: 0, deadEvery: 0 });
const [GATEPOST_DNS_SERVERS, LOG_LEVEL] = [dns.address, "error"];
const home = makeHome({ GATEPOST_DNS_SERVERS, LOG_LEVEL, GATEPOST_DNS_CANARIES: "off" });
const limited = (rate_per_minute: number) => ({ ...AMPLE, rate_per_minute });
const tiers = { pro: AMPLE, starter: limited(FLOOD.rate), free: limited(FLOOD.rate) };
const file = join(home.directory, "tiers.json");
writeFileSync(file, JSON.stringify(tiers));
const [pro = "", starter = "", free = ""] = Object.keys(tiers).map((tier) => {
  const words = ["account", "create", `${tier}@shop.example`, "--tier", tier, "--json"];
  return (JSON.parse(gatepost(home, words).out) as { readonly api_key: string }).api_key;
});
const service = await startService(home, { GATEPOST_TIERS_FILE: file });

let next = 0;
/** Another name each time, as `numbered-names` serves them. */
const named = (): object => ({ email: `p${String(next)}@n${String(next++)}.example` });
const count_by = { ip: "203.0.113.7", inviter: "u_12", coupon: "AUTUMN" };
const known = { email: "ada@n1.example" };

type Asked = readonly [path: string, key: string, body: () => object];

/** Rejects on another answer than 200. */
function post([path, key, body]: Asked, agent = agents[0]): Promise<void> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const options = { method: "POST", headers, agent: agent ?? false };
  return new Promise((resolve, reject) => {
    const sent = request(`${service.url}${path}`, options, ({ statusCode }) => {
      if (statusCode !== 200) reject(new Error(`answered ${String(statusCode)}`));
    });
    sent.on("response", (answer) => answer.resume().once("end", resolve));
    sent.once("error", reject).end(JSON.stringify(body()));
  });
}

async function load(asked: Asked, count: number): Promise<void> {
  let left = count;
  const asking = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      await post(asked);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, asking));
}

function say(what: string, isMet: boolean, figures: string): void {
  if (!isMet) process.exitCode = 1;
  process.stdout.write(`${what}: ${figures}\n`);
}

async function beside(what: string, must: number, requests: number, both: readonly Asked[]) {
  const cpu: number[][] = [[], []];
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [at, asked] of both.entries()) {
      const before = cpuOf(service.child);
      await load(asked, requests);
      if (round >= 0) cpu[at]?.push((cpuOf(service.child) - before) / requests);
    }
  }
  const [own = [], others = []] = cpu;
  const ratio = median(own.map((one, at) => one / (others[at] ?? Number.NaN)));
  const times = `${median(own).toFixed(0)} us against ${median(others).toFixed(0)}`;
  say(what, ratio <= must, `${ratio.toFixed(2)} (must ${must.toFixed(2)}), ${times}`);
}

/** Milliseconds, of checks that come one after the other. */
async function p99OfChecks(seconds: number): Promise<number> {
  const times: number[] = [];
  for (const endMs = performance.now() + seconds * 1_000; performance.now() < endMs;) {
    const startMs = performance.now();
    await post(["/api/email", pro, named], agents[1]);
    times.push(performance.now() - startMs);
    await sleep(25);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

try {
  const byFree: Asked = ["/api/decide", free, named];
  const check: Asked = ["/api/email", pro, named];
  await load(["/api/email", free, () => known], FLOOD.rate);
  await beside("a decision beyond the rate, beside a check", 1, sized(2_000, 100), [byFree, check]);
  const counted: Asked = ["/api/decide", pro, () => ({ ...known, count_by })];
  const plain: Asked = ["/api/decide", pro, () => known];
  await beside("a decision with three keys", 1.25, sized(3_000, 100), [counted, plain]);
  const alone = await p99OfChecks(FLOOD.seconds / 3);
  await load(["/api/decide", starter, named], FLOOD.rate);
  const [startMs, sent] = [performance.now(), { count: 0 }];
  const sending = setInterval(() => {
    const due = ((performance.now() - startMs) / 1_000) * FLOOD.aSecond;
    for (; sent.count < due; sent.count += 1)
      void post(["/api/decide", starter, named]).catch(() => undefined);
  }, 10);
  const p99 = await p99OfChecks(FLOOD.seconds);
  clearInterval(sending);
  const figures = `p99 ${p99.toFixed(0)} ms (must ${String(P99_MUST_MS)}), ${alone.toFixed(0)} alone`;
  say(`a check beside ${String(sent.count)} decisions beyond a rate`, p99 <= P99_MUST_MS, figures);
} finally {
  for (const agent of agents) agent.destroy();
  await service.stop();
  home.remove();
  dns.stop();
}
