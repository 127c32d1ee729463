import { execFile } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { PATIENCE_MS } from "../time/until.ts";
import { type Child, startChild } from "./child.ts";
import { freePort } from "./free-port.ts";

/** A private PostgreSQL on loopback, in its own folder, both deleted after the test. */
export interface PostgresServer {
  readonly port: number;
  /** A new database, empty or a copy of an unused one; returns its URL. */
  createDatabase(template?: string): Promise<string>;
  /** "fast": sessions are closed, and it ends in order. "kill": like a power cut. Waits for the end. */
  stop(how: "fast" | "kill"): Promise<void>;
  /** After `stop`: starts with the same data on the same port; resolves when it answers. */
  start(): Promise<void>;
  /** One statement as the superuser on the database "postgres". */
  run(sql: string): Promise<void>;
  /** Stops it and deletes its folder. */
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[];
}

const run = promisify(execFile);
const VERSIONS = "/usr/lib/postgresql";
const USER = "gatepost";

/** The folder of the newest PostgreSQL's programs, as Debian installs them; undefined without one. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined;
  const versions = readdirSync(VERSIONS).map(Number).filter(Number.isFinite);
  const newest = Math.max(...versions);
  const programs = join(VERSIONS, String(newest), "bin");
  return existsSync(join(programs, "initdb")) ? programs : undefined;
}

/** PostgreSQL refuses to run as root, so root hands its folder to Debian's own user. */
function runAs(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  if (user === null) throw new Error("PostgreSQL is installed here, but its user is not known");
  return { uid: Number(user[1]), gid: Number(user[2]) };
}

/** Starts a PostgreSQL with a new cluster: about two seconds. `postgresPrograms` must have found one. */
export async function startPostgres({
  settings = [],
}: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("no PostgreSQL is installed here");
  const folder = mkdtempSync(join(tmpdir(), "gatepost-postgres-"));
  const owner = runAs();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  const port = await freePort();
  const inFolder = { cwd: folder, ...owner };
  const initial = ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
  await run(join(programs, "initdb"), initial, inFolder);
  // Without fsync a kill of the server loses nothing: only a dead machine would.
  const ours = ["fsync=off", "listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings];
  const args = ["-D", data, "-p", String(port), ...ours.flatMap((setting) => ["-c", setting])];
  const urlOf = (database: string): string =>
    `postgres://${USER}@127.0.0.1:${String(port)}/${database}`;
  const query = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: urlOf("postgres") });
    client.on("error", () => undefined);
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  let server: Child = startChild(join(programs, "postgres"), args, inFolder);
  let databases = 0;
  const stop = async (how: "fast" | "kill"): Promise<void> => {
    await server.end(how === "fast" ? "SIGINT" : "SIGKILL");
    await untilUnlocked(data);
  };
  const self: PostgresServer = {
    port,
    run: query,
    stop,
    async createDatabase(template = "template1") {
      databases += 1;
      const name = `test_${String(databases)}`;
      await query(`create database ${name} template ${template}`);
      return urlOf(name);
    },
    async start() {
      server = startChild(join(programs, "postgres"), args, inFolder);
      await untilAnswers(query, server);
    },
    async close() {
      await stop("fast");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await untilAnswers(query, server);
  return self;
}

async function untilAnswers(query: (sql: string) => Promise<void>, server: Child): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      await query("select 1");
      return;
    } catch (cause) {
      if (!server.isRunning() || Date.now() > deadline) {
        throw new Error("the test's PostgreSQL does not answer", { cause });
      }
      await pause(50);
    }
  }
}

/** After a kill the old backends need some time to notice it; only then may PostgreSQL start again. */
async function untilUnlocked(data: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (hasBackends(data)) {
    if (Date.now() > deadline) throw new Error("the test's PostgreSQL does not end");
    await pause(20);
  }
}

/** Whether any process still works in the cluster's folder, the working directory of all of them. */
function hasBackends(data: string): boolean {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.some((name) => {
    try {
      return readlinkSync(join("/proc", name, "cwd")) === data;
    } catch {
      return false; // it ended meanwhile, or is another user's
    }
  });
}
