import type { Trust } from "../../dns/trust/trust.ts";
import type { ServerAddress } from "../../dns/transport/system-resolvers.ts";
import { sqlJobs } from "../../bulk/jobs.ts";
import type { SqlCharges } from "../../accounts/admission/charges.ts";
import { lastBackUp } from "../../store/embedded/back-up.ts";
import { isoTime } from "../../core/calendar.ts";
import type { SystemState } from "../../http/account/admin/admin-shapes.ts";
import { createReadiness, type Probe } from "../../http/system/readiness.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { DnsFigures } from "../metrics/dns-metrics.ts";
import { programVersion } from "../process/program-version.ts";
import type { AccountStore } from "./backing/store.ts";

export interface SystemParts {
  readonly probes: ReadonlyMap<string, Probe>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: AccountStore;
  readonly charges: SqlCharges;
  /** "embedded, by node:sqlite" */
  readonly engine: string;
  /** Undefined: the system's resolvers. */
  readonly dnsServers: readonly ServerAddress[] | undefined;
  readonly trust: Trust | undefined;
  /** Of each thread's DNS clients. */
  readonly dns: () => readonly (DnsFigures | undefined)[];
  /** Chunks put back because DNS said nothing; undefined before the bulk thread has started. */
  readonly postponed: () => number | undefined;
  /** Of the embedded database alone. */
  readonly dataDir?: string;
}

/** What the dashboard's system page shows. The process counts as started when this is called. */
export function systemFacts(parts: SystemParts): () => Promise<SystemState> {
  const { probes, clock } = parts;
  const readiness = createReadiness(probes, clock);
  const startedAt = isoTime(clock.nowMs());
  return async () => {
    const failing = await readiness.failing();
    return {
      version: programVersion(),
      node: process.version,
      started_at: startedAt,
      warnings: warningsOf(parts),
      ...(parts.dataDir !== undefined && { last_backup: lastBackUp(parts.dataDir) ?? null }),
      probes: [...probes.keys()].map((name) => ({ name, ok: !failing.includes(name) })),
      facts: failing.includes("database") ? [] : await factsOf(parts),
    };
  };
}

function warningsOf({ trust }: SystemParts): readonly string[] {
  const warning = trust?.suspect === undefined ? undefined : trust.warning();
  return warning === undefined ? [] : [warning];
}

async function factsOf(parts: SystemParts): Promise<SystemState["facts"]> {
  const { clock, ids, store, charges, dnsServers, engine, trust } = parts;
  const postponed = parts.postponed();
  const jobs = sqlJobs({ db: store.sql.db, charges, ids });
  const { openEntries, entriesPerSecond } = await jobs.queueAhead(clock.nowMs());
  const waiting = openEntries.reduce((sum, open) => sum + open, 0);
  const speed =
    entriesPerSecond === undefined ? "not measured yet" : String(Math.round(entriesPerSecond));
  return [
    { name: "Database", value: engine },
    { name: "DNS servers", value: dnsServers?.map(textOf).join(", ") ?? "the system's" },
    ...(trust === undefined
      ? []
      : [{ name: "Answers not believed", value: String(trust.stats().withheld) }]),
    ...parts.dns().flatMap(clientFacts),
    ...(postponed === undefined
      ? []
      : [{ name: "Chunks put back without DNS", value: String(postponed) }]),
    { name: "Lists running", value: String(openEntries.length) },
    { name: "Entries waiting", value: String(waiting) },
    { name: "Entries a second", value: speed },
  ];
}

const CLIENTS: Readonly<Record<string, string>> = {
  single: "DNS for single checks",
  learning: "DNS for learning",
  bulk: "DNS for lists",
  again: "DNS for lists, second pass",
};

/** What each DNS client of a thread is doing, and how often an answer came after its time. */
function clientFacts(thread: DnsFigures | undefined): SystemState["facts"] {
  return Object.entries(thread?.clients ?? {}).map(([client, stats]) => ({
    name: CLIENTS[client] ?? client,
    value: `${String(stats.underWay)} of ${String(stats.window)} under way, ${String(stats.unsettled)} without an answer, ${String(stats.lateAnswers)} late so far`,
  }));
}

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(":") ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;
