import { loadLists } from "../../lists/load-lists.ts";
import { type Resolver, type ResolverOptions, createResolver } from "../../dns/resolver.ts";
import { createOutbound } from "../../outbound/outbound.ts";
import { createWebhookSender } from "../../webhooks/webhook-sender.ts";
import { type EmbeddedOptions, type SqlDatabase, openEmbedded } from "../../store/database.ts";
import type { PostgresDatabase } from "../../store/postgres-database.ts";
import { lockForServing } from "../../store/embedded/serving-lock.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type Ids, systemIds } from "../../base/ids.ts";
import { type LogLevel, createLog } from "../../base/pino-log.ts";
import type { Log } from "../../base/log.ts";
import type { Share } from "../../base/shares.ts";
import {
  type BulkThread,
  type BulkThreadDeps,
  type BulkThreadSettings,
  startBulkThread,
} from "../threads/bulk-thread.ts";
import { type Texts, threadTexts } from "../threads/texts.ts";
import { listen } from "../../http/server.ts";

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
    const { openPostgres } = await import("../../store/postgres-database.ts");
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
