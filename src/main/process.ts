import { hostname } from "node:os";
import { pid } from "node:process";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Ids, systemIds } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { createLog, type LogLevel } from "../base/pino-log.ts";
import type { Share } from "../base/shares.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { createResolver, type Resolver, type ResolverOptions } from "../dns/resolver.ts";
import { listen } from "../http/server.ts";
import { loadLists } from "../lists/load-lists.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { type EmbeddedOptions, openEmbedded, type SqlDatabase } from "../store/database.ts";
import { lockForServing } from "../store/embedded/serving-lock.ts";
import type { PostgresDatabase } from "../store/postgres-database.ts";
import { createWebhookSender } from "../webhooks/webhook-sender.ts";
import type { Config } from "./settings/config.ts";
import {
  type BulkThread,
  type BulkThreadDeps,
  type BulkThreadSettings,
  startBulkThread,
} from "./threads/bulk-thread.ts";
import { type Texts, threadTexts } from "./threads/texts.ts";

type Close = () => Awaitable<void>;

/** How everything that a process opened is closed. */
export class Closing {
  readonly #closers: Close[] = [];

  /** Call it right after the thing is open. */
  add(close: Close): void {
    this.#closers.push(close);
  }

  /**
   * Closes the newest first, because it stands on the older ones. One that fails keeps none of the others open; the
   * first fault is thrown when all are closed. Closes each thing once, however often it is called.
   */
  async close(): Promise<void> {
    const faults: unknown[] = [];
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}

/**
 * Everything that a process has from outside: time, chance, stores, networks, threads. The rest of `main` opens
 * nothing by itself, so that `test/sim` runs the same composition on a machine of its own.
 */
export interface Machine {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly openLog: (level: LogLevel) => Log;
  readonly openSqlite: (
    dataDir: string,
    nowMs: number,
    options?: EmbeddedOptions,
  ) => Promise<SqlDatabase>;
  readonly lockForServing: (dataDir: string) => () => void;
  readonly openPostgres: (url: string, nowMs: number) => Promise<PostgresDatabase>;
  readonly openResolver: (options: ResolverOptions) => Resolver;
  readonly openOutbound: typeof createOutbound;
  readonly openWebhookSender: typeof createWebhookSender;
  readonly loadLists: typeof loadLists;
  readonly startBulkThread: (settings: BulkThreadSettings, deps: BulkThreadDeps) => BulkThread;
  readonly openTexts: (splitting: Share) => Texts;
  readonly listen: typeof listen;
}

/** The machine that the program runs on. Drivers that one process alone does not use are loaded when they are. */
export const systemMachine: Machine = {
  clock: systemClock,
  ids: systemIds,
  openLog: (level) => createLog(level),
  openSqlite: openEmbedded,
  lockForServing,
  async openPostgres(url, nowMs) {
    const { openPostgres } = await import("../store/postgres-database.ts");
    return openPostgres(url, nowMs);
  },
  openResolver: createResolver,
  openOutbound: createOutbound,
  openWebhookSender: createWebhookSender,
  loadLists,
  startBulkThread,
  openTexts: threadTexts,
  listen,
};

/** A name for this process, new with each start: it tells an operator which process holds what. */
const processName = (ids: Pick<Ids, "hex32">): string =>
  `${hostname()}-${String(pid)}-${ids.hex32().slice(-8)}`;

/** What every server, worker and command has, and what opens all of its other parts. */
export interface Process {
  readonly config: Config;
  readonly machine: Machine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Of this process alone, new with each start; in logs, metrics, leases and elections. */
  readonly name: string;
  /** Code that opens a resource adds its close function. */
  readonly closing: Closing;
}

interface ProcessOptions {
  readonly machine?: Machine;
  /** `silent`: for commands, which speak to a person and write no log. */
  readonly log?: "by_level" | "silent";
}

/**
 * Opens what `start` opens, and returns what it returned with `close`, which closes all of it, newest first. When the
 * start fails half way, all that it had opened is closed before the fault is thrown.
 */
export async function openProcess<T extends object>(
  config: Config,
  { machine = systemMachine, log = "by_level" }: ProcessOptions,
  start: (process: Process) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> {
  const { clock, ids } = machine;
  const level = log === "silent" ? log : config.logLevel;
  const closing = new Closing();
  const process: Process = {
    config,
    machine,
    clock,
    ids,
    log: machine.openLog(level),
    name: processName(ids),
    closing,
  };
  try {
    return { ...(await start(process)), close: () => closing.close() };
  } catch (fault) {
    // The fault of the start says what is wrong; one of closing would only follow from it.
    await closing.close().catch((after: unknown) => process.log.error("start.close_failed", after));
    throw fault;
  }
}
