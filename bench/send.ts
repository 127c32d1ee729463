/**
 * `npm run bench:send`: what the question before a message costs beside the one of a sign-up, in one service, by turns:
 * each of a mailbox that was never asked about, and of 2,000 mailboxes again and again. By the CPU time of a hundred
 * questions, which other work on the machine disturbs least: their mean, and the dearest in a hundred.
 * BENCH_FOLDERS names other built checkouts, BENCH_CPU_PROF a folder for the profiles of this one.
 */
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startDnsServer } from "../test/dns/dns-server.ts";
import { gatepost, makeHome, startService } from "../test/e2e/service-process.ts";
import { median } from "./usage.ts";
import { sized } from "./short.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? sized(3, 1));
const ROUND_REQUESTS = Number(process.env["BENCH_REQUESTS"] ?? sized(10_000, 200));
const CONNECTIONS = 16;
const BATCH = 100;
const WRITTEN_MS = 2_000;
const FOLDERS = (process.env["BENCH_FOLDERS"] ?? "").split(":").filter((folder) => folder !== "");
const PROFILES = process.env["BENCH_CPU_PROF"];

const AMPLE = { rate_per_minute: 1e9, daily: 1e9, monthly: 1e9 };
const DOMAINS = ["gmail.com", "good.example"];
const ZONE = Object.fromEntries([
  ...DOMAINS.map((name) => [name, { mx: ["10 mx.good.example"], ttlSeconds: 86_400 }] as const),
  ["mx.good.example", { a: ["192.0.2.25"], ttlSeconds: 86_400 }],
]);

/** Every fourth is of a domain with an owner, whose mailboxes are counted. */
const addressOf = (name: string, at: number): string =>
  `${name}@${DOMAINS[at % 4 === 0 ? 1 : 0] ?? ""}`;

type Question = "signup" | "send";

const MAILBOXES: Readonly<Record<string, (at: number, mark: string) => string>> = {
  new: (at, mark) => addressOf(`p${mark}${String(at)}`, at),
  known: (at) => addressOf(`k${String(at % 2_000)}`, at),
};

/** Nanoseconds on a core so far, of all threads. */
function cpuNs({ pid }: ChildProcess): number {
  const tasks = `/proc/${String(pid)}/task`;
  const times = readdirSync(tasks).map((task) => {
    try {
      return Number(readFileSync(`${tasks}/${task}/schedstat`, "latin1").split(" ")[0]);
    } catch {
      return 0; // it ended
    }
  });
  return times.reduce((sum, one) => sum + one, 0);
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
  const profiled = ["sh", "-c", `exec "$0" --cpu-prof --cpu-prof-dir=${PROFILES ?? ""} "$@"`];
  const under = folder === undefined && PROFILES !== undefined ? profiled : [];
  const settings = { GATEPOST_TIERS_FILE: tiers };
  const started = await startService(home, settings, { under });
  const { url, child } = started;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const ask = (email: string, question: Question): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const askedMs = performance.now();
      request(`${url}/api/decide`, { method: "POST", agent, headers }, (answer) => {
        answer.resume().on("end", () => resolve(performance.now() - askedMs));
        if (answer.statusCode !== 200) reject(new Error(`status ${String(answer.statusCode)}`));
      })
        .on("error", reject)
        // An older version ignores the question.
        .end(JSON.stringify({ email, ...(question === "send" && { for: question }) }));
    });
  return {
    name: folder ?? "service",
    child,
    ask,
    async stop() {
      agent.destroy();
      await started.stop();
      home.remove();
    },
  };
}

type Service = Awaited<ReturnType<typeof service>>;

interface Measured {
  /** Microseconds of CPU a question, of each batch. */
  readonly cpu: number[];
  readonly ms: number[];
}

async function play(
  { child, ask }: Service,
  question: Question,
  emails: readonly string[],
): Promise<Measured> {
  const cpu: number[] = [];
  const ms: number[] = [];
  let before = cpuNs(child);
  let next = 0;
  const asker = async (): Promise<void> => {
    for (;;) {
      const email = emails[next];
      if (email === undefined) return;
      next += 1;
      ms.push(await ask(email, question));
      if (ms.length % BATCH !== 0) continue;
      const now = cpuNs(child);
      cpu.push((now - before) / 1_000 / BATCH);
      before = now;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, asker));
  await pause(WRITTEN_MS); // what is written behind is no part of the next questions
  return { cpu, ms };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, one) => sum + one, 0) / values.length;
const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;

const figure = (value: number, width = 7): string => value.toFixed(2).padStart(width);

function report(row: string, name: string, rounds: readonly Record<Question, Measured>[]): void {
  const all = (question: Question, what: keyof Measured): readonly number[] =>
    rounds.flatMap((round) => round[question][what]);
  const of = (question: Question): string =>
    `${figure(mean(all(question, "cpu")))} us, p99 ${figure(p99(all(question, "cpu")))}`;
  const ratio = (what: keyof Measured, by: (values: readonly number[]) => number): string =>
    figure(by(all("send", what)) / by(all("signup", what)), 5);
  process.stdout.write(
    `${row.padEnd(6)} sign-up ${of("signup")}; send ${of("send")}; ratio ${ratio("cpu", mean)}, median ` +
      `${ratio("cpu", median)}, p99 ${ratio("cpu", p99)} by CPU, ${ratio("ms", p99)} by time (${name})\n`,
  );
}

async function measure(row: string, mailbox: (at: number, mark: string) => string): Promise<void> {
  const rounds = services.map((one) => ({ one, all: [] as Record<Question, Measured>[] }));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { one, all } of rounds) {
      const emails = (mark: string): readonly string[] =>
        Array.from({ length: ROUND_REQUESTS }, (_, at) => mailbox(at, `${mark}${String(round)}x`));
      const signup = (): Promise<Measured> => play(one, "signup", emails("a"));
      const send = (): Promise<Measured> => play(one, "send", emails("b"));
      // In turns, because the second finds the room of the first taken.
      const first = await (round % 2 === 0 ? signup : send)();
      const second = await (round % 2 === 0 ? send : signup)();
      const [made, sent] = round % 2 === 0 ? [first, second] : [second, first];
      if (round >= 0) all.push({ signup: made, send: sent }); // the first warms up
    }
  }
  for (const { one, all } of rounds) report(row, one.name, all);
}

const dns = await startDnsServer(ZONE);
const services: Service[] = [];
try {
  for (const folder of [undefined, ...FOLDERS])
    services.push(await service(folder, `127.0.0.1:${String(dns.port)}`));
  for (const [row, mailbox] of Object.entries(MAILBOXES)) {
    if ((process.argv[2] ?? row) === row) await measure(row, mailbox);
  }
} finally {
  for (const one of services) await one.stop();
  await dns.close();
}
