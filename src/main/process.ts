import { hostname } from "node:os";
import { pid } from "node:process";
import { argonPasswords } from "../accounts/sign-in/passwords.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Ids, systemIds } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { storeDownOf } from "../base/store-down.ts";
import { createLog } from "../base/pino-log.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { createResolver } from "../dns/resolver.ts";
import { listen } from "../http/server.ts";
import { loadLists } from "../lists/load-lists.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { openEmbedded } from "../store/database.ts";
import { DatabaseFault } from "../store/database-fault.ts";
import { lockForServing } from "../store/embedded/serving-lock.ts";
import type { PostgresDatabase, PostgresOptions } from "../store/postgres-database.ts";
import { createWebhookSender } from "../webhooks/webhook-sender.ts";
import type { Config } from "./settings/config.ts";
import { startBulkThread } from "./threads/bulk-thread.ts";
import { threadTexts } from "./threads/reading-thread.ts";

type Close = () => Awaitable<void>;

export class Closing {
  readonly #closers: Close[] = [];

  add(close: Close): void {
    this.#closers.push(close);
  }

  /** Closes the newest first. One that fails keeps none of the others open; the first fault is thrown at the end. */
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

/** The machine that the program runs on. Drivers that one process alone does not use are loaded when they are. */
export const systemMachine = {
  clock: systemClock,
  ids: systemIds,
  passwords: argonPasswords,
  openLog: createLog,
  openSqlite: openEmbedded,
  lockForServing,
  async openPostgres(
    url: string,
    nowMs: number,
    options: PostgresOptions,
  ): Promise<PostgresDatabase> {
    const { openPostgres } = await import("../store/postgres-database.ts");
    return openPostgres(url, nowMs, options);
  },
  openResolver: createResolver,
  openOutbound: createOutbound,
  openWebhookSender: createWebhookSender,
  loadLists,
  startBulkThread,
  openTexts: threadTexts,
  listen,
};

/** What a process has from outside. The rest of `main` opens nothing by itself: `test/sim` has a machine of its own. */
export type Machine = Readonly<typeof systemMachine>;

export interface Process {
  readonly config: Config;
  readonly machine: Machine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly name: string;
  readonly closing: Closing;
}

export async function closedTogether<T extends object>(
  log: Log,
  start: (closing: Closing) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> {
  const closing = new Closing();
  try {
    return { ...(await start(closing)), close: () => closing.close() };
  } catch (fault) {
    // The fault of the start says what is wrong; one of closing would only follow from it.
    await closing.close().catch((after: unknown) => log.error("start.close_failed", after));
    throw fault;
  }
}

const DATABASE_WAIT_MS = 60_000;

/** Why a start is tried again: the database is away still, or it let the process in and does not serve it. */
function waitsFor(fault: unknown, mayBeAway: boolean): string | undefined {
  const isAway = fault instanceof DatabaseFault && fault.code === "unreachable";
  if (isAway && mayBeAway) return fault.message;
  const down = storeDownOf(fault);
  return down?.cause instanceof Error ? down.cause.message : down?.message;
}

/** `silent`: for commands. Others begin again, with one line in the log, while PostgreSQL starts or a table is locked. */
export async function openProcess<T extends object>(
  config: Config,
  { machine = systemMachine, log: lines }: { readonly machine?: Machine; readonly log?: "silent" },
  start: (process: Process) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> {
  const { clock, ids } = machine;
  const log = machine.openLog(lines ?? config.logLevel);
  const name = `${hostname()}-${String(pid)}-${ids.hex32().slice(-8)}`;
  const isWaiting = config.databaseUrl !== undefined && lines !== "silent";
  const awayUntilMs = clock.monotonicMs() + DATABASE_WAIT_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      return await closedTogether(log, (closing) =>
        start({ config, machine, clock, ids, log, name, closing }),
      );
    } catch (fault) {
      const why = isWaiting ? waitsFor(fault, clock.monotonicMs() < awayUntilMs) : undefined;
      if (why === undefined) throw fault;
      if (tries === 1) log.warn("start.waiting_for_database", { why });
    }
    await new Promise<void>((resolve) => void clock.after(1_000, resolve));
  }
}

/** Writes what waits when the process closes. What cannot be written is logged as `event` and lost. */
export function flushLast(
  { closing, log }: Pick<Process, "closing" | "log">,
  event: string,
  waiting: { flush(): Promise<void> },
): void {
  closing.add(() => waiting.flush().catch((fault: unknown) => log.error(event, fault)));
}
