import { access, constants, statfs } from "node:fs/promises";
import {
  askedRarely,
  Health,
  type HealthPart,
  recently,
  type Trouble,
  type Watched,
} from "../base/health.ts";
import { type DnsFigures, filteredToday, isTcpAlone, type ProcessCounts } from "./metrics.ts";
import { CLAIMS_MAX } from "../bulk/jobs/chunk-queue.ts";
import { clockPart, newestWritten, postgresTime } from "./clock-health.ts";
import { DAY_MS } from "../core/calendar.ts";
import type { FeedStatus } from "../lists/feed-status.ts";
import { goneServers, keepPresence } from "../store/presence.ts";
import type { Db } from "../store/schema.ts";
import { RUNNING } from "../store/tables/bulk.ts";
import type { BulkThread } from "./threads/bulk-thread.ts";
import type { Ailment } from "../store/embedded/sqlite.ts";
import { FREE_MIN_BYTES } from "../store/takes-writes.ts";
import { isDnsOff, serversOf, serverText } from "./checker.ts";
import type { Process } from "./process.ts";
import type { Config } from "./settings/config.ts";
import type { Serving } from "./serving.ts";
import { databasePlace } from "./store.ts";

interface HealthParts extends Pick<Serving, "backing" | "lists" | "trust"> {
  readonly dnsFigures: () => readonly (DnsFigures | undefined)[];
  readonly dnsAnswers: () => Promise<boolean>;
  readonly counted: ProcessCounts;
  readonly listThread: Pick<BulkThread, "isDown"> | undefined;
}

export function openHealth(process: Process, parts: HealthParts): Health {
  const { config, clock, log, closing } = process;
  const { backing } = parts;
  const { db } = backing.store.sql;
  const watched = new Map<HealthPart, Watched>([
    ["database", databasePart(config, backing)],
    ["lists", listsPart(process, parts)],
    ["proxy", proxyPart(parts.counted, clock)],
    ["refusals", refusalsPart(parts.counted, clock)],
    ["failed_open", failedOpenPart(parts.counted, clock)],
    ["webhooks", { look: () => webhooksTrouble(db, clock.nowMs()) }],
  ]);
  if (config.databaseUrl === undefined) {
    watched.set("disk", diskPart(config.dataDir));
    const written = askedRarely(() => newestWritten(db), WRITTEN_EVERY_MS, clock);
    watched.set("clock", clockPart(clock, written));
  } else {
    watched.set(
      "clock",
      clockPart(clock, () => postgresTime(db)),
    );
    const failed = (fault: unknown): void => log.error("presence.failed", fault);
    closing.add(keepPresence({ db, clock, name: process.name, failed }));
    watched.set("servers", { look: async () => serversTrouble(await goneServers(db)) });
    watched.set("workers", { look: () => workersTrouble(db, clock.nowMs()) });
    watched.set(
      "duties",
      dutiesPart(() => backing.elections.free(), clock),
    );
  }
  if (!isDnsOff(config)) watched.set("dns", dnsPart(config, parts));
  if (config.listsRefresh === "daily") {
    const look = async () => {
      const feeds = await parts.lists.refresh.status();
      return feedsTrouble(feeds, { nowMs: clock.nowMs(), bornMs: await bornMs(db) });
    };
    watched.set("feeds", { look });
  }
  const health = new Health({ clock, log, parts: watched });
  closing.add(health.start());
  return health;
}

const well = undefined;

function databasePart(config: Config, { ails }: Pick<HealthParts["backing"], "ails">): Watched {
  const silence = databaseTrouble(config, "silent");
  const look = async (): Promise<Trouble | undefined> => {
    const ailment = await ails();
    return ailment && databaseTrouble(config, ailment);
  };
  return { look, ...(silence !== undefined && { silence }) };
}

const POSTGRES_TO_DO =
  "Start PostgreSQL, or look why it refuses in its own log; decisions go on meanwhile, checks are refused with 503.";

const RESTORE =
  "Stop the service, keep a copy of the folder, restore the last back-up (docs/operations/back-up.md), then start it.";

const DISK_FAULTS = "Look for faults of the disk in the system's log, mend it";

export function databaseTrouble(config: Config, ailment: Ailment): Trouble | undefined {
  const it = `The database ${databasePlace(config)}`;
  if (config.databaseUrl !== undefined) {
    return { says: `${it} does not answer, or takes no writes.`, toDo: POSTGRES_TO_DO };
  }
  const troubles: Record<Ailment, Trouble | undefined> = {
    gone: {
      says: `${it} was deleted or replaced under the service: nothing is written to it any more.`,
      toDo: RESTORE,
    },
    damaged: {
      says: `${it} is damaged: what needs it is refused, decisions go on without it.`,
      toDo: RESTORE,
    },
    unreadable: {
      says: `The disk does not give or take the database ${databasePlace(config)}.`,
      toDo: `${DISK_FAULTS}; what needs the database is refused meanwhile, decisions go on without it.`,
    },
    refused: {
      says: `The disk did not take what was written to the database ${databasePlace(config)}: nothing is written until a restart.`,
      toDo: `${DISK_FAULTS}, then restart the service; nothing that was answered is lost.`,
    },
    full: well,
    silent: {
      says: `${it} takes no writes.`,
      toDo: "Make it writable, or stop the program that holds it; nothing that was answered is lost.",
    },
  };
  return troubles[ailment];
}

const MIB = 1_048_576;
const LOW_BYTES = 1_000_000_000;
const LOW_SHARE = 0.05;

export const megabytes = (bytes: number): string =>
  bytes >= 10_240 * MIB
    ? `${Math.round(bytes / MIB / 1_024).toLocaleString("en-US")} GB`
    : `${Math.round(bytes / MIB).toLocaleString("en-US")} MB`;

const diskPart = (dataDir: string): Watched => ({
  look: () => diskTrouble(dataDir),
  silence: {
    says: `The disk of ${dataDir} does not answer.`,
    toDo: "Look at the disk, or at the network that it is on.",
  },
});

export async function diskTrouble(folder: string): Promise<Trouble | undefined> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const [free, size] = [bavail * bsize, blocks * bsize];
  const toDo = "Free some space, or set GATEPOST_DATA_DIR to a larger disk.";
  // A file system of 0 blocks does not count.
  if (size > 0 && free < FREE_MIN_BYTES) {
    return { says: `The disk of ${folder} is full: ${megabytes(free)} are free.`, toDo };
  }
  const unwritable = await unwritableWords(folder);
  if (unwritable !== undefined) {
    return { says: `${folder}: ${unwritable}.`, toDo: "Give it to the service's user, writable." };
  }
  if (size === 0 || free >= Math.min(LOW_BYTES, LOW_SHARE * size)) return well;
  const says = `The disk of ${folder} is nearly full: ${megabytes(free)} are free.`;
  return { says, toDo, isWarning: true };
}

async function unwritableWords(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.W_OK);
    return undefined;
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === "EROFS";
    return isReadOnly ? "the file system is read-only" : "this user may not write there";
  }
}

export const dnsSilence = (config: Pick<Config, "dnsServers">): Trouble => ({
  says: `DNS server ${serversOf(config).map(serverText).join(", ")} does not answer: checks cannot tell whether a domain has mail.`,
  toDo: "Start the name server, or set GATEPOST_DNS_SERVERS to one that answers.",
});

export const RESOLVER_FILTERS = "This resolver filters";

/** `names`: how many it withheld today; absent: nobody counted. */
export const dnsFilters = (names?: number): Trouble => ({
  says: `${RESOLVER_FILTERS}${names === undefined ? "" : `: it withheld ${String(names)} name${names === 1 ? "" : "s"} today`}. What it withholds counts as no answer.`,
  toDo: "Set GATEPOST_DNS_SERVERS to a resolver without a filter, best one of your own.",
  isWarning: true,
});

export const dnsInvents: Trouble = {
  says: "This resolver invents addresses for names that do not exist, so every typing error looks like a domain.",
  toDo: "Set GATEPOST_DNS_SERVERS to a resolver that tells the truth, best one of your own.",
  isWarning: true,
};

export const dnsByTcp = (config: Pick<Config, "dnsServers">): Trouble => ({
  says: `DNS server ${serversOf(config).map(serverText).join(", ")} answers over TCP alone: each question takes longer.`,
  toDo: "Let UDP from and to port 53 through between this machine and the name server.",
  isWarning: true,
});

export function dnsPart(
  config: Pick<Config, "dnsServers">,
  { trust, dnsAnswers, dnsFigures }: Pick<HealthParts, "trust" | "dnsAnswers" | "dnsFigures">,
): Watched {
  const silence = dnsSilence(config);
  return {
    async look() {
      const answers = await (trust?.answers() ?? dnsAnswers());
      if (trust?.distrusted !== undefined) return trust.fault();
      if (!answers) return silence;
      const figures = dnsFigures();
      if (trust?.stats().invents === true) return dnsInvents;
      const names = filteredToday(figures);
      if (names > 0) return dnsFilters(names);
      return isTcpAlone(figures) ? dnsByTcp(config) : well;
    },
    silence,
  };
}

/** A claim takes a second, an entry that DNS does not answer ten. */
const CHUNK_WAITS_MS = 10_000;

/** The thread, or a worker, is there and takes nothing. Where the database or all workers are away those say it. */
function listsPart(
  { clock }: Process,
  { backing, listThread }: Pick<HealthParts, "backing" | "listThread">,
): Watched {
  const { db } = backing.store.sql;
  return {
    async look() {
      if ((await backing.ails()) !== undefined) return well;
      const nowMs = clock.nowMs();
      if (listThread === undefined && (await workersTrouble(db, nowMs)) !== undefined) return well;
      const isWaiting = listThread?.isDown() === true || (await standsStill(db, nowMs));
      return isWaiting ? LISTS_WAIT : well;
    },
  };
}

const LISTS_WAIT: Trouble = {
  says: "Lists wait: no worker runs. Nothing is lost.",
  toDo: "Look for bulk.thread_failed and bulk.claim_failed in the log: a disk that cannot be read, or too little memory. It is tried again every second.",
};

async function standsStill(db: Db, nowMs: number): Promise<boolean> {
  const chunks = db
    .selectFrom("chunks")
    .innerJoin("jobs", "jobs.session", "chunks.session")
    .select("chunks.number")
    .where("jobs.is_running", "=", RUNNING)
    .limit(1);
  const waiting = chunks
    .where("chunks.available_at_ms", "<=", nowMs - CHUNK_WAITS_MS)
    .where("chunks.claims", "<", CLAIMS_MAX);
  if ((await waiting.executeTakeFirst()) === undefined) return false;
  const leased = chunks
    .where("chunks.lease_token", "is not", null)
    .where("chunks.available_at_ms", ">", nowMs);
  return (await leased.executeTakeFirst()) === undefined;
}

const FORWARDED_LEAST = 3;
const FORWARDED_SHARE = 0.1;

export function proxyPart(counted: ProcessCounts, clock: Process["clock"]): Watched {
  const [requests, forwarded] = [recently(clock), recently(clock)];
  return {
    look() {
      const [all, unknown] = [requests(counted.requests), forwarded(counted.forwarded)];
      const isProxy = unknown >= FORWARDED_LEAST && unknown > FORWARDED_SHARE * all;
      const trouble = {
        says: `Requests come with X-Forwarded-For through ${counted.proxy}, which GATEPOST_TRUST_PROXY does not name: everybody behind it counts as one caller.`,
        toDo: "Set GATEPOST_TRUST_PROXY to the address of your proxy (docs/operations/proxies.md).",
      };
      return Promise.resolve(isProxy ? trouble : well);
    },
  };
}

const WORKER_GONE_MS = 60_000;

export async function workersTrouble(db: Db, nowMs: number): Promise<Trouble | undefined> {
  const { newest } = await db
    .selectFrom("bulk_workers")
    .select(({ fn }) => fn.max("seen_at_ms").as("newest"))
    .executeTakeFirstOrThrow();
  const toDo = "Start at least one gatepost worker with the same DATABASE_URL.";
  if (newest === null) return { says: "No worker is there: batches and webhooks wait.", toDo };
  const seconds = Math.max(0, Math.round((nowMs - Number(newest)) / 1_000));
  if (seconds * 1_000 <= WORKER_GONE_MS) return well;
  const says = `The last worker was seen ${String(seconds)} s ago: batches and webhooks wait.`;
  return { says, toDo };
}

/** A duty changes hands within two campaigns. */
const DUTY_FREE_MS = 15_000;

export function dutiesPart(
  free: () => Promise<readonly string[]>,
  clock: Pick<Process["clock"], "monotonicMs">,
): Watched {
  const since = new Map<string, number>();
  return {
    async look() {
      const now = await free();
      const atMs = clock.monotonicMs();
      for (const duty of since.keys()) if (!now.includes(duty)) since.delete(duty);
      for (const duty of now) since.set(duty, since.get(duty) ?? atMs);
      const idle = now.filter((duty) => atMs - (since.get(duty) ?? atMs) >= DUTY_FREE_MS);
      const trouble = {
        says: `No process does ${idle.join(", ").replaceAll("_", " ")}.`,
        toDo: "Look for duty.failed and election.unreachable in the logs of all processes, then restart one of them.",
      };
      return idle.length === 0 ? well : trouble;
    },
  };
}

const FEED_OLD_DAYS = 3;

export async function bornMs(db: Db): Promise<number> {
  const { born } = await db
    .selectFrom("schema_migrations")
    .select(({ fn }) => fn.min("applied_at_ms").as("born"))
    .executeTakeFirstOrThrow();
  return Number(born);
}

/** Lists that were asked for and have not been confirmed for three days, or ever, once the installation is a day old. */
export function feedsTrouble(
  feeds: readonly FeedStatus[],
  { nowMs, bornMs: born }: { readonly nowMs: number; readonly bornMs: number },
): Trouble | undefined {
  const isOld = (confirmedAtMs?: number): boolean =>
    confirmedAtMs === undefined
      ? nowMs - born > DAY_MS
      : nowMs - confirmedAtMs > FEED_OLD_DAYS * DAY_MS;
  const old = feeds.filter(
    ({ askedAtMs, confirmedAtMs, isOff }) =>
      isOff !== true && askedAtMs !== undefined && isOld(confirmedAtMs),
  );
  if (old.length === 0) return well;
  const reasons = new Set(old.flatMap(({ refusal }) => refusal?.why.replaceAll("_", " ") ?? []));
  const why = reasons.size === 0 ? "" : ` (${[...reasons].join(", ")})`;
  return {
    says: `${String(old.length)} of ${String(feeds.length)} public lists were not confirmed in the last 3 days${why}: ${old.map(({ id }) => id).join(", ")}. The last good copies are in use.`,
    toDo: "Run gatepost lists refresh; gatepost lists status has the reason of each.",
  };
}

export function serversTrouble(gone: Awaited<ReturnType<typeof goneServers>>): Trouble | undefined {
  if (gone.length === 0) return well;
  const each = gone.map(({ name, seconds }) => `${name}, last seen ${String(seconds)} s ago`);
  return {
    says: `${gone.length === 1 ? "A server or worker is" : `${String(gone.length)} servers or workers are`} gone: ${each.join("; ")}.`,
    toDo: "Look at its machine and its log, and start it again; if it is gone for good, this report ends after a day.",
  };
}

const WRITTEN_EVERY_MS = 60_000;

const FAILED_IN_A_ROW = 3;
const WEBHOOKS_LOOKED_AT = 1_000;

/** Accounts whose newest messages of the last hour were all not taken. */
export async function webhooksTrouble(db: Db, nowMs: number): Promise<Trouble | undefined> {
  const rows = await db
    .selectFrom("webhook_deliveries")
    .select(["account_id", "error"])
    .where("queued_at_ms", ">", nowMs - 3_600_000)
    .where("state", "=", "done")
    .orderBy("queued_at_ms", "desc")
    .limit(WEBHOOKS_LOOKED_AT)
    .execute();
  const newest = new Map<string, boolean[]>();
  for (const { account_id: id, error } of rows) {
    const taken = newest.get(id) ?? [];
    newest.set(id, taken);
    if (taken.length < FAILED_IN_A_ROW) taken.push(error === null);
  }
  const failing = [...newest.values()].filter(
    (taken) => taken.length === FAILED_IN_A_ROW && !taken.includes(true),
  ).length;
  if (failing === 0) return well;
  return {
    says: `The webhook ${failing === 1 ? "address of an account" : `addresses of ${String(failing)} accounts`} failed ${String(FAILED_IN_A_ROW)} times in a row in the last hour.`,
    toDo: "gatepost webhook log ACCOUNT has the answers; if those of all accounts fail, look at the network and DNS.",
    isWarning: true,
  };
}

const REFUSED_LEAST = 100;
const REFUSED_SHARE = 0.1;

export function refusalsPart(counted: ProcessCounts, clock: Process["clock"]): Watched {
  const [requests, refused] = [recently(clock), recently(clock)];
  return {
    look() {
      const [all, no] = [requests(counted.requests), refused(counted.refused)];
      const isHigh = no >= REFUSED_LEAST && no > REFUSED_SHARE * all;
      const trouble = {
        says: `${figure(no)} of ${figure(all)} requests of the last 5 minutes were refused.`,
        toDo: "Look at share.owner_held_back in the log, and at gatepost_refusals_total for the reasons: a caller beyond its rate, or a service that is full.",
      };
      return Promise.resolve(isHigh ? trouble : well);
    },
  };
}

export function failedOpenPart(counted: ProcessCounts, clock: Process["clock"]): Watched {
  const [calls, open] = [recently(clock), recently(clock)];
  return {
    look() {
      const [all, through] = [calls(counted.hookCalls), open(counted.failedOpen)];
      const trouble = {
        says: `${figure(through)} of ${figure(all)} hook calls of the last 5 minutes were let through without a full check.`,
        toDo: "The page Gate, Hooks has the reason of the last one: a slow database, DNS, or a body that cannot be read.",
      };
      return Promise.resolve(through === 0 ? well : trouble);
    },
  };
}

const figure = (count: number): string => count.toLocaleString("en-US");
