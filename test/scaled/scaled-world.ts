import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { SqlDatabase } from "../../src/store/database.ts";
import { systemMachine } from "../../src/main/process.ts";
import { accountStore, type AccountStore } from "../../src/main/store.ts";
import { openPatiently } from "../services/with-postgres.ts";
import { childEnvironment } from "../process/child-environment.ts";
import { type DnsServer, startDnsServer } from "../dns/dns-server.ts";
import type { ServedZone } from "../dns/dns-zone.ts";
import { openScaledAccount, type ScaledAccount } from "./scaled-account.ts";
import type { ProcessLine, ScaledProcessOrder } from "./scaled-process.ts";
import { endOf, type ProcessEnd } from "../services/child.ts";
import { postgresPrograms, type PostgresServer, startPostgres } from "../services/postgres.ts";
import { inPatience, until } from "../time/until.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

/** What the suites of the scale-out need and this machine lacks. */
export const missingServices = (): readonly string[] =>
  postgresPrograms() === undefined ? ["postgresql"] : [];

/** A `serve` or `worker` process. */
export interface ScaledProcess {
  /** Of the API, or of the worker's pages. */
  readonly url: string;
  readonly child: ChildProcess;
  /** Its log and standard error. */
  text(): string;
  /** Whether it reported a signal to stop. */
  isStopping(): boolean;
  /** Waits for its end, by any cause. */
  ended(): Promise<ProcessEnd>;
  /** Sends the signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<ProcessEnd>;
}

/** The address of the store; a suite of faults puts a line in between. */
export interface StoreUrls {
  readonly databaseUrl: string;
}

export interface ScaledWorld {
  readonly postgres: PostgresServer;
  readonly dns: DnsServer;
  /** Directly to the store, without the line. */
  readonly urls: StoreUrls;
  readonly sql: SqlDatabase;
  readonly store: AccountStore;
  /** Starts a process and waits until it is ready, or dies as ordered. `via`: other addresses of the stores. */
  start(order: ScaledProcessOrder, via?: Partial<StoreUrls>): Promise<ScaledProcess>;
  /** An account with a key and a webhook whose receiver cannot be reached. */
  account(tier?: "free" | "starter" | "pro"): Promise<ScaledAccount>;
  /** Ends every process, then the servers. */
  close(): Promise<void>;
}

export const SECRET_KEY = Buffer.alloc(32, 7);

/** Each name has mail, and each answer is delayed. */
export const mailZone = (names: readonly string[], delayMs: number): ServedZone => {
  const mail = { mx: ["10 mx.provider.example"], delayMs };
  return {
    ...Object.fromEntries(names.map((name) => [name, mail])),
    "mx.provider.example": { a: ["203.0.113.5"] },
  };
};

export interface WorldOptions {
  readonly zone?: ServedZone;
  /** A tier table, for processes and tests. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A private PostgreSQL and name server, without processes. */
export async function openScaledWorld({
  zone = {},
  environment = {},
}: WorldOptions = {}): Promise<ScaledWorld> {
  const [postgres, dns] = await Promise.all([startPostgres(), startDnsServer(zone)]);
  const databaseUrl = await postgres.createDatabase();
  const urls: StoreUrls = { databaseUrl };
  const sql = await openPatiently(databaseUrl, Date.now());
  const store = accountStore(sql, systemMachine);
  const folder = temporaryFolder();
  const processes: ScaledProcess[] = [];
  let started = 0;
  return {
    postgres,
    dns,
    urls,
    sql,
    store,
    async start(order, via = {}) {
      started += 1;
      const made = await startProcess(order, {
        ...baseEnvironment({ ...urls, ...via }),
        GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
        GATEPOST_DATA_DIR: join(folder, String(started)),
        ...environment,
      });
      processes.push(made);
      return made;
    },
    account: (tier = "pro") => openScaledAccount({ sql, store, tier, secretKey: SECRET_KEY }),
    async close() {
      await Promise.all(processes.map((one) => one.stop("SIGKILL")));
      await sql.close();
      await dns.close();
      await postgres.close();
    },
  };
}

const baseEnvironment = ({ databaseUrl }: StoreUrls): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  GATEPOST_SECRET_KEY: SECRET_KEY.toString("base64"),
  GATEPOST_DNS_CANARIES: "off", // the zone lacks them: a slow start would find its name server suspect
  GATEPOST_LISTS_REFRESH: "off",
  GATEPOST_WORKER_PORT: "0",
  PORT: "0",
  LOG_LEVEL: "warn",
});

async function startProcess(
  order: ScaledProcessOrder,
  environment: Readonly<Record<string, string>>,
): Promise<ScaledProcess> {
  const { command } = order;
  const program = fileURLToPath(new URL("./scaled-process.js", import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: childEnvironment(environment),
  });
  const killed = (): void => void child.kill("SIGKILL");
  process.once("exit", killed);
  let text = "";
  child.stderr.on("data", (data: Buffer) => (text += data.toString()));
  const end = endOf(child).finally(() => process.off("exit", killed));
  const lines = createInterface({ input: child.stdout });
  let isStopping = false;
  const ready = new Promise<string>((resolve) => {
    lines.on("line", (line) => {
      if (!line.startsWith('{"kind":')) text += `${line}\n`;
      else {
        const said = JSON.parse(line) as ProcessLine;
        if (said.kind === "ready") resolve(said.url);
        else isStopping = true;
      }
    });
  });
  const ended = (): Promise<ProcessEnd> => inPatience(`the end of a ${command}`, end);
  const begun = Promise.race([ready, end.then(() => undefined)]);
  const url = await inPatience(`a ${command} that is ready`, begun);
  assert.ok(url !== undefined, `${command} did not start: ${text}`);
  await untilReady(url);
  return {
    url,
    child,
    ended,
    text: () => text,
    isStopping: () => isStopping,
    stop(signal) {
      child.kill(signal);
      return ended();
    },
  };
}

/** A process that did not run during its start may have given up its first connections. */
const untilReady = (url: string): Promise<unknown> =>
  until(async () => (await fetch(`${url}/readyz`)).ok, { what: `${url}/readyz` });
