/**
 * `npm run bench:deadlines [-- DECISIONS]`: decisions over HTTP to the whole real service, DECISIONS (default 1,000) for
 * each way in which a DNS server can fail, 200 a second, with deadlines of 50 to 1,000 ms: how many came later than
 * the deadline and 50 ms, and whether a listed disposable name was rejected. On a busy machine a process waits for a
 * core: of a decision that is not there by then, `/healthz` is asked, and it is "ours" when even that is answered
 * first.
 */
import { Agent, request } from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { forkDnsServer } from "../test/dns/dns-server.ts";
import { type ServedName, SERVING_MODES } from "../test/dns/dns-zone.ts";
import { makeHome, type ServiceProcess, startService } from "../test/e2e/service-process.ts";

const DECISIONS = Number(process.argv[2] ?? 1_000);
const EVERY_MS = 5;
const DEADLINES_MS = [50, 150, 400, 1_000];
const GRACE_MS = 50;
/** Every so many decisions one is about a listed name. */
const LISTED_EVERY = 10;
const LISTED = "mailinator.com";
const UNLIMITED = { rate_per_minute: null, daily: null, monthly: null };

const domain = (index: number): string => `d${index.toString(36)}.example`;

function zone(mode: (typeof SERVING_MODES)[number]): Record<string, ServedName> {
  const fails: ServedName =
    mode === "right" ? {} : mode === "slow" ? { delayMs: 700 } : { behave: mode };
  const names: Record<string, ServedName> = {
    "mx.mail.example": { a: ["192.0.2.25"], ...fails },
    [LISTED]: { mx: ["10 mx.mail.example"], ...fails },
  };
  for (let index = 0; index < DECISIONS; index += 1) {
    names[domain(index)] = { mx: ["10 mx.mail.example"], ...fails };
  }
  return names;
}

interface Answered {
  readonly status: number;
  readonly body: string;
  readonly tookMs: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 512 });

/** The plain client of Node: less time of its own in the figures than `fetch`. */
function ask(url: string, method: "GET" | "POST", body = ""): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const headers = method === "GET" ? {} : { "content-type": "application/json" };
    const asked = request(url, { method, agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.once("end", () => {
        const tookMs = performance.now() - startedMs;
        resolve({ status: response.statusCode ?? 0, body: text, tookMs });
      });
    });
    asked.once("error", reject).end(body);
  });
}

interface Tally {
  /** Later than allowed, for any reason. */
  late: number;
  /** Of those: the service answered others meanwhile. */
  ours: number;
  worstMs: number;
  wrong: number;
  readonly decisions: Map<string, number>;
}

async function decide(service: ServiceProcess, index: number, tally: Tally): Promise<void> {
  const isListed = index % LISTED_EVERY === 0;
  const deadlineMs = DEADLINES_MS[index % DEADLINES_MS.length] ?? 0;
  const email = `jo${String(index)}@${isListed ? LISTED : domain(index)}`;
  const body = JSON.stringify({ email, deadline_ms: deadlineMs });
  let isAnswered = false;
  const watch = setTimeout(() => {
    void ask(`${service.url}/healthz`, "GET").then(() => {
      if (!isAnswered) tally.ours += 1;
    });
  }, deadlineMs + GRACE_MS);
  const { status, body: text, tookMs } = await ask(`${service.url}/api/decide`, "POST", body);
  isAnswered = true;
  clearTimeout(watch);
  if (status !== 200) throw new Error(`${email} is ${String(status)}: ${text}`);
  const beyondMs = tookMs - deadlineMs;
  if (beyondMs > GRACE_MS) tally.late += 1;
  tally.worstMs = Math.max(tally.worstMs, beyondMs);
  const { decision, reason } = JSON.parse(text) as { decision: string; reason: string };
  const said = `${decision} ${reason}`;
  if (isListed && said !== "reject disposable") tally.wrong += 1;
  if (!isListed) tally.decisions.set(said, (tally.decisions.get(said) ?? 0) + 1);
}

/** Sent by the clock, also when earlier ones are not answered. */
async function atRate(service: ServiceProcess): Promise<Tally> {
  const tally: Tally = {
    late: 0,
    ours: 0,
    worstMs: -Infinity,
    wrong: 0,
    decisions: new Map(),
  };
  const startMs = performance.now();
  const asked: Promise<void>[] = [];
  for (let index = 0; index < DECISIONS; index += 1) {
    const waitMs = startMs + index * EVERY_MS - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    asked.push(decide(service, index, tally));
  }
  await Promise.all(asked);
  return tally;
}

async function withService<T>(
  mode: (typeof SERVING_MODES)[number],
  work: (service: ServiceProcess) => Promise<T>,
): Promise<T> {
  const dns = await forkDnsServer(zone(mode));
  const home = makeHome();
  const tiersFile = join(home.directory, "tiers.json");
  writeFileSync(tiersFile, JSON.stringify({ anonymous: UNLIMITED }));
  const service = await startService(home, {
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
    GATEPOST_DNS_CANARIES: "off",
    GATEPOST_MAX_CONNECTIONS_PER_ADDRESS: "1024",
    GATEPOST_TIERS_FILE: tiersFile,
    LOG_LEVEL: "error",
  });
  try {
    await ask(`${service.url}/api/decide`, "POST", '{"email":"warm@up.example","deadline_ms":50}');
    return await work(service);
  } finally {
    await service.stop();
    await dns.close();
    home.remove();
  }
}

async function hostile(): Promise<void> {
  let [late, ours] = [0, 0];
  let wrong = 0;
  for (const mode of SERVING_MODES) {
    const tally = await withService(mode, atRate);
    late += tally.late;
    ours += tally.ours;
    wrong += tally.wrong;
    const said = [...tally.decisions].map(([name, count]) => `${name} ${String(count)}`).join(", ");
    console.log(
      `${mode}: ${String(tally.late)} late, ${String(tally.ours)} of them ours; worst ${tally.worstMs.toFixed(0)} ms beyond the deadline, ` +
        `${String(tally.wrong)} listed ones not rejected; ${said}`,
    );
  }
  const all = (DECISIONS * SERVING_MODES.length).toLocaleString("en");
  console.log(
    `${all} decisions: ${String(late)} late, ${String(ours)} of them ours, ${String(wrong)} listed ones not rejected`,
  );
}

await hostile();
agent.destroy();
