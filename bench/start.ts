/**
 * `npm run bench:start [folder...]`: fresh starts of the program of this checkout, and in turns of other built
 * checkouts: milliseconds until `/healthz` answers 200, CPU until then, and the resident memory of the idle service
 * two seconds later.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startNameServer } from "../test/dns/numbered-names.ts";
import { makeHome } from "../test/e2e/service-process.ts";
import { childEnvironment } from "../test/process/child-environment.ts";
import { cpuOf, median, memoryOf } from "./usage.ts";
import { sized } from "./short.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? sized(11, 1));
const IDLE_MS = sized(2_000, 100);
const PORT = 18_970;
const HERE = fileURLToPath(new URL("../..", import.meta.url));

interface Start {
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly idleMb: number;
}

/** Whether `/healthz` answers 200. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.write("GET /healthz HTTP/1.0\r\n\r\n"));
    socket.once("data", (answer) => {
      resolve(answer.includes(" 200 "));
      socket.destroy();
    });
  });
}

async function untilReady(child: ChildProcess): Promise<void> {
  while (!(await isReady(PORT))) {
    if (child.exitCode !== null) throw new Error("the service did not start");
    await sleep(2);
  }
}

async function start(folder: string, dns: string): Promise<Start> {
  const home = makeHome({ GATEPOST_DNS_SERVERS: dns, LOG_LEVEL: "error", PORT: String(PORT) });
  const startMs = performance.now();
  const child = spawn(process.execPath, [join(folder, "dist/run/gatepost.js"), "serve"], {
    env: childEnvironment(home.settings),
    stdio: "ignore",
  });
  try {
    await untilReady(child);
    const readyMs = performance.now() - startMs;
    const cpuMs = cpuOf(child) / 1_000;
    await sleep(IDLE_MS);
    return { readyMs, cpuMs, idleMb: memoryOf(child).now };
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
    home.remove();
  }
}

const folders = [HERE, ...process.argv.slice(2)];
const starts = folders.map((): Start[] => []);
const dns = await startNameServer({ delayMs: 0, lossShare: 0, deadEvery: 0 });
try {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, folder] of folders.entries())
      starts[at]?.push(await start(folder, dns.address));
  }
} finally {
  dns.stop();
}
for (const [at, folder] of folders.entries()) {
  const of = (figure: (one: Start) => number): string =>
    median((starts[at] ?? []).map(figure)).toFixed(0);
  process.stdout.write(
    `${folder}: ready after ${of((one) => one.readyMs)} ms, ${of((one) => one.cpuMs)} ms of CPU, ` +
      `${of((one) => one.idleMb)} MB idle (medians of ${String(ROUNDS)} starts in turns, Node ${process.version})\n`,
  );
}
