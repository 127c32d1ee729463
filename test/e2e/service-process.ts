import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { childEnvironment } from "../process/child-environment.ts";
import { endOf } from "../services/child.ts";
import type { Answered } from "../http/strict-client.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { assertDocumented } from "../http/documented.ts";

/** What `bin/gatepost.mjs` runs, which would look for newer sources at each of hundreds of starts. */
const PROGRAM = fileURLToPath(new URL("../../run/gatepost.js", import.meta.url));

/** A hanging command would block this process: it is ended, without an exit code. */
const COMMAND_WITHIN_MS = 300_000;

export type Settings = Readonly<Record<string, string>>;

/** A separate data directory, and the settings that use it. */
export interface Home {
  readonly directory: string;
  readonly settings: Settings;
  /** Another program than this one. */
  readonly program?: string;
  remove(): void;
}

export function makeHome(more: Settings = {}): Home {
  const directory = temporaryFolder();
  return {
    directory,
    settings: { GATEPOST_DATA_DIR: directory, GATEPOST_LISTS_REFRESH: "off", ...more },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function environment(settings: Settings): NodeJS.ProcessEnv {
  return childEnvironment({ NO_COLOR: "1", ...settings });
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `gatepost` with these arguments to its end. */
export function gatepost(home: Home, words: readonly string[], input = ""): Ran {
  const env = environment(home.settings);
  const options = { env, input, encoding: "utf8", timeout: COMMAND_WITHIN_MS } as const;
  const run = spawnSync(process.execPath, [home.program ?? PROGRAM, ...words], options);
  return { code: run.status, out: run.stdout, err: run.stderr };
}

/** The same without blocking this process; returns standard output. Rejects when the command fails. */
export async function gatepostBeside(home: Home, words: readonly string[]): Promise<string> {
  const env = environment(home.settings);
  return (await promisify(execFile)(process.execPath, [home.program ?? PROGRAM, ...words], { env }))
    .stdout;
}

export interface ServiceProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Standard output so far: the log. */
  readonly log: () => string;
  /** Standard error so far: what the start prints for people. */
  readonly said: () => string;
  get(path: string, headers?: Settings): Promise<Answered>;
  post(path: string, body: string, headers?: Settings): Promise<Answered>;
  /** Sends a signal and waits for the end; returns the exit code, or the signal that ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

const FORM = { "content-type": "application/x-www-form-urlencoded" };

export interface StartOptions {
  /** The log goes to the file of this number, unless it is read here. */
  readonly stdout?: number | "pipe" | "ignore";
  readonly command?: "serve" | "worker";
  /** A program, with its arguments, that runs Node. */
  readonly under?: readonly string[];
}

/** Starts `gatepost serve`, or a worker, on a free port and waits until it prints its address. */
export async function startService(
  home: Home,
  more: Settings = {},
  { stdout = "pipe", command = "serve", under = [] }: StartOptions = {},
): Promise<ServiceProcess> {
  const env = environment({ PORT: "0", GATEPOST_WORKER_PORT: "0", ...home.settings, ...more });
  const words = [...under, process.execPath, home.program ?? PROGRAM, command];
  const child = spawn(words[0] ?? "", words.slice(1), { env, stdio: ["ignore", stdout, "pipe"] });
  let log = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (log += text));
  let said = "";
  const { stderr } = child;
  if (stderr === null) throw new Error("no standard error");
  stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const url = await listeningUrl(stderr, () => said);
  const ask = async (path: string, init: RequestInit): Promise<Answered> => {
    const response = await fetch(`${url}${path}`, { redirect: "error", ...init });
    const { status } = response;
    const headers = Object.fromEntries(response.headers);
    const body = await response.text();
    const { method = "GET" } = init;
    assertDocumented({
      method,
      url: path,
      status,
      type: headers["content-type"] ?? "",
      text: body,
    });
    return { status, headers, body };
  };
  return {
    url,
    child,
    log: () => log,
    said: () => said,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, body, headers = {}) =>
      ask(path, { method: "POST", body, headers: { ...FORM, ...headers } }),
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const { code, signal: by } = await endOf(child);
      return code ?? by;
    },
  };
}

async function listeningUrl(stderr: Readable, said: () => string): Promise<string> {
  const ended = once(stderr, "end").then(() => true);
  for (;;) {
    const url = /(?:listens on|seen at) (http:\S+)\s/.exec(said())?.[1];
    if (url !== undefined) return url;
    const isOver = await Promise.race([once(stderr, "data").then(() => false), ended]);
    if (isOver) throw new Error(`the service did not start: ${said()}`);
  }
}
