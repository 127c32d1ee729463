/**
 * `npm run bench:http`: cached single checks with a key, by GET and by POST form; `npm run bench:decide`: cached decisions
 * and hooks. Each by the program as it is shipped, beside a bare `node:http` that parses the same body and writes the same
 * octets. All live through the whole run and are asked in turns; a ratio is the median of those of neighbouring rounds, by
 * the CPU time of a request, which other work on the machine disturbs least. BENCH_FOLDERS names more built checkouts.
 */
import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { startDnsServer } from "../test/dns/dns-server.ts";
import { gatepost, makeHome, startService } from "../test/e2e/service-process.ts";
import { cpuOf, median } from "./usage.ts";
import { sized } from "./short.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? sized(7, 1));
const ROUND_REQUESTS = Number(process.env["BENCH_REQUESTS"] ?? sized(20_000, 200));
const CONNECTIONS = 32;
const FOLDERS = (process.env["BENCH_FOLDERS"] ?? "").split(":").filter((folder) => folder !== "");

const autocannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js");
const run = promisify(execFile);

const EMAIL = "ada.lovelace@good.example";
const FORM = "application/x-www-form-urlencoded";
const AMPLE = { rate_per_minute: 1e9, daily: 1e9, monthly: 1e9 };
const ZONE = {
  "good.example": { mx: ["10 mx1.good.example", "20 mx2.good.example"], ttlSeconds: 86_400 },
  "mx1.good.example": { a: ["192.0.2.25"], ttlSeconds: 86_400 },
};

interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Facts {
  readonly key: string;
  readonly hook: { readonly id: string; readonly secret: string };
}

/** Name -> the part of the bare server that must be reached, and the request. */
const ROWS: Readonly<Record<string, readonly [number, (facts: Facts) => Asked]>> = {
  get: [0.7, ({ key }) => ({ path: `/api/email/${EMAIL}`, headers: { "x-api-key": key } })],
  post: [
    0.6,
    ({ key }) => ({
      path: "/api/email",
      headers: { "x-api-key": key, "content-type": FORM },
      body: `email=${encodeURIComponent(EMAIL)}`,
    }),
  ],
  decide: [
    0.55,
    ({ key }) => ({
      path: "/api/decide",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ email: EMAIL }),
    }),
  ],
  hook: [
    0.45,
    ({ hook }) => ({
      path: `/hooks/${hook.id}`,
      headers: { authorization: `Bearer ${hook.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ email: EMAIL, flow_id: "1", flow_type: "browser" }),
    }),
  ],
};

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
  readonly stop: () => Promise<unknown>;
  readonly cpu: number[];
  readonly speed: number[];
}

async function service(folder: string | undefined, dns: string) {
  const home = {
    ...makeHome({ GATEPOST_DNS_SERVERS: dns, GATEPOST_DNS_CANARIES: "off", LOG_LEVEL: "error" }),
    ...(folder !== undefined && { program: join(folder, "dist/run/gatepost.js") }),
  };
  const tiers = join(home.directory, "tiers.json");
  writeFileSync(tiers, JSON.stringify({ pro: AMPLE }));
  const made = gatepost(home, ["account", "create", "b@good.example", "--tier", "pro", "--json"]);
  const { api_key: key } = JSON.parse(made.out) as { readonly api_key: string };
  const hooked = gatepost(home, ["hook", "create", "b@good.example", "kratos", "--json"]);
  const hook = JSON.parse(hooked.out) as { readonly url: string; readonly secret: string };
  const started = await startService(home, { GATEPOST_TIERS_FILE: tiers });
  const stop = async (): Promise<void> => {
    await started.stop();
    home.remove();
  };
  const facts = { key, hook: { id: hook.url.split("/").at(-1) ?? "", secret: hook.secret } };
  return { url: started.url, child: started.child, stop, facts };
}

/** Its own address and Node's headers apart, what the service answers. */
async function answerOf(url: string, { path, headers, body }: Asked): Promise<string> {
  const method = body === undefined ? "GET" : "POST";
  const init = { method, headers, ...(body !== undefined && { body }) };
  const answer = await fetch(`${url}${path}`, init);
  const own = [...answer.headers].filter(
    ([name]) => !["date", "connection", "keep-alive"].includes(name),
  );
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${text}`);
  return JSON.stringify({ status: answer.status, headers: Object.fromEntries(own), body: text });
}

async function bare(answer: string): Promise<Contender> {
  const child = fork(new URL("./http-bare.js", import.meta.url), [answer]);
  const [port] = (await once(child, "message")) as [number];
  const url = `http://127.0.0.1:${String(port)}`;
  const stop = async (): Promise<void> => {
    child.kill();
    await once(child, "exit");
  };
  return { name: "bare", url, child, stop, cpu: [], speed: [] };
}

async function play({ url, child, cpu, speed }: Contender, asked: Asked): Promise<void> {
  const before = cpuOf(child);
  const words = ["-j", "-n", "-c", String(CONNECTIONS), "-a", String(ROUND_REQUESTS)];
  for (const [name, value] of Object.entries(asked.headers)) words.push("-H", `${name}=${value}`);
  if (asked.body !== undefined) words.push("-m", "POST", "-b", asked.body);
  const { stdout } = await run(process.execPath, [autocannon, ...words, `${url}${asked.path}`]);
  const said = JSON.parse(stdout) as Record<"2xx" | "non2xx" | "errors" | "duration", number>;
  if (said.non2xx + said.errors > 0) throw new Error(`${asked.path}: not every answer was 2xx`);
  cpu.push((cpuOf(child) - before) / said["2xx"]);
  speed.push(said["2xx"] / said.duration);
}

async function measure(row: string, dns: string): Promise<void> {
  const [must, requestOf] = ROWS[row] ?? [];
  if (must === undefined || requestOf === undefined) throw new Error(`no row ${row}`);
  const started = [];
  for (const folder of [undefined, ...FOLDERS])
    started.push({ folder, ...(await service(folder, dns)) });
  const asked = started.map(({ facts }) => requestOf(facts));
  const contenders: Contender[] = started.map(({ folder = "service", url, child, stop }) => {
    return { name: folder, url, child, stop, cpu: [], speed: [] };
  });
  const [first] = asked;
  const [own] = contenders;
  if (first === undefined || own === undefined) return;
  const reference = await bare(await answerOf(own.url, first));
  const all = [...contenders, reference];
  try {
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const [at, contender] of all.entries()) {
        await play(contender, asked[at] ?? first);
        if (round < 0) contender.cpu.length = contender.speed.length = 0; // warm up
      }
    }
  } finally {
    for (const { stop } of all) await stop();
  }
  contenders.forEach((contender) => report(contender, reference, { row, must }));
}

function report(
  { name, cpu, speed }: Contender,
  reference: Contender,
  { row, must }: { readonly row: string; readonly must: number },
): void {
  const ratio = median(cpu.map((one, at) => (reference.cpu[at] ?? Number.NaN) / one));
  const bySpeed = median(speed.map((one, at) => one / (reference.speed[at] ?? Number.NaN)));
  if (name === "service" && !(ratio >= must)) process.exitCode = 1;
  process.stdout.write(
    `${row.padEnd(7)} ${ratio.toFixed(2)} of bare by CPU (must ${must.toFixed(2)}), ${bySpeed.toFixed(2)} by speed; ` +
      `${median(cpu).toFixed(0)} us against ${median(reference.cpu).toFixed(0)}, ${median(speed).toFixed(0)} requests a second` +
      `${name === "service" ? "" : ` (${name})`}\n`,
  );
}

const dns = await startDnsServer(ZONE);
const rows = process.argv.slice(2);
try {
  for (const row of rows.length > 0 ? rows : ["get", "post"]) {
    await measure(row, `127.0.0.1:${String(dns.port)}`);
  }
} finally {
  await dns.close();
}
