import { existsSync, statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { join, resolve } from "node:path";
import { sql } from "kysely";
import type { Clock } from "../../base/clock.ts";
import { RESOURCES } from "../../base/resources.ts";
import type { Finding } from "../../cli/commands/doctor.ts";
import type { FeedStatus } from "../../lists/feed-status.ts";
import { DatabaseFault, type DatabaseFaultCode } from "../../store/database-fault.ts";
import type { SqlDatabase } from "../../store/database.ts";
import type { Ailment } from "../../store/embedded/sqlite.ts";
import { LOCK_FILE, lockForServing } from "../../store/embedded/serving-lock.ts";
import { wouldTakeWrites } from "../../store/takes-writes.ts";
import { isDnsOff, openDns, openTrust } from "../checker.ts";
import { measureResolver } from "../dns-test.ts";
import { clockBeside, newestWritten, postgresTime } from "../clock-health.ts";
import {
  bornMs,
  databaseTrouble,
  diskTrouble,
  feedsTrouble,
  RESOLVER_FILTERS,
  megabytes,
  workersTrouble,
} from "../health.ts";
import { readFeeds } from "../lists.ts";
import { openProcess, type Process } from "../process.ts";
import { missingFiles } from "../program-files.ts";
import { type Config, readConfig, unknownSettings } from "../settings/config.ts";
import { openSql, requireSecretKey } from "../store.ts";
import { hasDatabase, missingWords } from "../terminal.ts";
import { finding, type Inspection, note, wrong } from "./found.ts";
import { examineFetchProxies, examineServer, examineTime, examineUrls } from "./network.ts";

const MIB = 1_048_576;

/** An embedded service with a batch of 100,000 entries; see docs/measurements.md. */
export const WORK_BYTES = 245 * MIB;

const BODY_BYTES = Object.values(RESOURCES).reduce(
  (all, { unit, total }) => all + (unit === "octets" ? total : 0),
  0,
);

export function examineMemory(
  { cacheMb }: Pick<Config, "cacheMb">,
  bytes = Math.min(totalmem(), process.constrainedMemory() || Infinity),
): Inspection {
  const least = WORK_BYTES + cacheMb * MIB;
  const full = least + BODY_BYTES;
  const says = `${megabytes(bytes)} for this process; it takes up to ${megabytes(least)}, and ${megabytes(full)} with all bodies that it may hold.`;
  if (bytes >= full) return says;
  const toDo = `Give the container or machine ${megabytes(full)}, or lower GATEPOST_CACHE_MB (${String(cacheMb)}).`;
  return { says, toDo, isWarning: bytes >= least };
}

export function examineFeeds(
  feeds: readonly FeedStatus[],
  { listsRefresh }: Config,
  times: Parameters<typeof feedsTrouble>[1],
): Inspection {
  if (listsRefresh === "off") {
    const says = "Fetching is off; only bundled lists are used.";
    return note(says, "Set GATEPOST_LISTS_REFRESH=daily.");
  }
  const old = feedsTrouble(feeds, times);
  if (old !== undefined) return note(old.says, old.toDo);
  const isNew = feeds.some(
    ({ askedAtMs, confirmedAtMs, isOff }) =>
      isOff !== true && askedAtMs !== undefined && confirmedAtMs === undefined,
  );
  return isNew
    ? "Some were never fetched; an installation has a day for that."
    : "All that were asked for were confirmed in the last 3 days.";
}

async function examineDisk(dataDir: string): Promise<Inspection> {
  const folder = existsSync(dataDir) ? dataDir : ".";
  const { bavail, bsize } = statfsSync(folder);
  const says = `${megabytes(bavail * bsize)} are free at ${resolve(folder)}.`;
  return (await diskTrouble(folder)) ?? says;
}

async function examineDatabase(
  { db }: SqlDatabase,
  config: Config,
  clock: Clock,
): Promise<readonly Finding[]> {
  if (!(await wouldTakeWrites(db))) {
    return [finding("database", databaseTrouble(config, "silent") ?? "The disk says why.")];
  }
  const { rows } = await sql<{ number: number }>`
    select max(number) as number from schema_migrations`.execute(db);
  const { number = 0 } = rows[0] ?? {};
  const known = await (config.databaseUrl === undefined ? newestWritten(db) : postgresTime(db));
  return [
    finding(
      "database",
      config.databaseUrl === undefined
        ? await examineFile(db, config)
        : "PostgreSQL answers and takes writes.",
    ),
    finding("schema", `Version ${String(number)}, as this program has it.`),
    finding("ledger", await examineLedger(db)),
    finding("clock", clockBeside(clock.nowMs(), known) ?? "It agrees with the database."),
  ];
}

async function examineFile(db: SqlDatabase["db"], config: Config): Promise<Inspection> {
  const { rows } = await sql<Record<string, string>>`pragma quick_check(5)`.execute(db);
  const words = rows.flatMap((row) => Object.values(row));
  if (words.join() === "ok") return "The file is whole and takes writes.";
  const line = words.join("; ").replaceAll(/\s+/g, " ").slice(0, 300);
  const { says = line, toDo = "" } = databaseTrouble(config, "damaged") ?? {};
  return wrong(says, `${toDo} SQLite says: ${line}.`);
}

/** An account's balance is the sum of its entries, and never negative. */
async function examineLedger(db: SqlDatabase["db"]): Promise<Inspection> {
  const { rows } = await sql<{ id: string }>`
    select id from accounts where credit_balance < 0 or credit_balance <>
      (select coalesce(sum(amount), 0) from credit_entries where account_id = accounts.id)
    limit 5`.execute(db);
  if (rows.length === 0) return "Every balance is the sum of its entries.";
  return wrong(
    `Balances differ from their entries: ${rows.map(({ id }) => id).join(", ")}.`,
    "Keep a copy of the database and report this; no command of Gatepost does it.",
  );
}

/** A pooler in transaction mode loses notices (LISTEN), locks and settings. */
export async function examinePooler(url: string): Promise<Inspection> {
  const { isPooled } = await import("../../store/postgres-database.ts");
  if (!(await isPooled(url))) return "Every session of the program is its own.";
  return wrong(
    "A connection pooler in transaction mode is between: it lends one session to several clients.",
    "Connect to PostgreSQL directly, or set the pooler to session mode (pool_mode = session).",
  );
}

export const examineWorkers = async (db: SqlDatabase["db"], nowMs: number): Promise<Inspection> =>
  (await workersTrouble(db, nowMs)) ?? "At least one was seen in the last minute.";

/** Looks at everything that a service needs. Changes nothing; a service may be running. */
export async function diagnose(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    return [finding("settings", wrong(messageOf(error), "Correct the settings."))];
  }
  const unknown = unknownSettings(environment).join(" ");
  const settings = unknown === "" ? ALL_KNOWN : note(unknown, "Correct or remove them.");
  const { findings, close } = await openProcess(config, { log: "silent" }, async (process) => ({
    findings: [finding("settings", settings), ...(await examine(process))],
  }));
  await close();
  return findings;
}

const ALL_KNOWN = "All are known and valid.";

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message.trim() : String(error);

async function examine(process: Process): Promise<readonly Finding[]> {
  const { config } = process;
  const found = [
    finding("program", examineProgram()),
    ...(await examineUrls(config)),
    ...(await examineFetchProxies(config)),
    ...(await examineServer(config, isServed(config))).map((each) => finding("service", each)),
    finding("memory", examineMemory(config)),
    finding("disk", await examineDisk(config.dataDir)),
    ...(await caught("database", config, () => examineStored(process))),
    ...(await caught("resolver", config, () => examineNetwork(process))),
  ];
  return inOneLine(found);
}

/** One cause is one line, under the name of what was looked at here, with the count that the service alone has. */
export function inOneLine(found: readonly Finding[]): readonly Finding[] {
  const filters = (name: string) =>
    found.find((each) => each.name === name && each.says.startsWith(RESOLVER_FILTERS));
  const [here, served] = [filters("resolver"), filters("service")];
  const told = found.map((each) =>
    each === here && served !== undefined ? { ...here, says: served.says } : each,
  );
  const own = new Set(told.flatMap(({ name, says }) => (name === "service" ? [] : [says])));
  return told.filter(({ name, says }) => name !== "service" || !own.has(says));
}

function examineProgram(): Inspection {
  const missing = missingFiles();
  if (missing.length === 0) return "All of its files are there.";
  return wrong(`Missing: ${missing.join(", ")}.`, "Install the whole package again.");
}

function isServed({ dataDir, databaseUrl }: Config): boolean | undefined {
  if (databaseUrl !== undefined) return undefined;
  if (!existsSync(join(dataDir, LOCK_FILE))) return false;
  try {
    lockForServing(dataDir)();
    return false;
  } catch {
    return true;
  }
}

async function examineNetwork(process: Process): Promise<readonly Finding[]> {
  const { config, machine, clock, ids } = process;
  const lookup = openDns(config, "interactive", process);
  const trust = openTrust(process);
  const outbound = machine.openOutbound({
    addresses: lookup.everyAddress,
    clock,
    allowed: config.outboundAllow,
  });
  const resolver = isDnsOff(config)
    ? "DNS is off: format, lists and rules decide alone."
    : (await measureResolver({ config, lookup, trust, clock, ids })).found;
  return [
    finding("resolver", resolver),
    finding("time", await examineTime(config, outbound, clock)),
  ];
}

async function examineStored(process: Process): Promise<readonly Finding[]> {
  const { config, clock } = process;
  if (!hasDatabase(config)) {
    const gone = isServed(config) === true ? databaseTrouble(config, "gone") : undefined;
    if (gone !== undefined) return [finding("database", gone)];
    const toDo = "Start the service once, or set GATEPOST_DATA_DIR.";
    return [finding("database", note(missingWords(config).trim(), toDo))];
  }
  const opened = await openSql(process, "look");
  const key = await secretKeyTrouble(config, opened);
  const times = { nowMs: clock.nowMs(), bornMs: await bornMs(opened.db) };
  const feeds = examineFeeds(await readFeeds(process, opened), config, times);
  const { databaseUrl } = config;
  return [
    ...(await examineDatabase(opened, config, clock)),
    finding("secret key", key ?? "It is the one that this database is used with."),
    ...(databaseUrl === undefined
      ? []
      : [
          finding("pooler", await examinePooler(databaseUrl)),
          finding("workers", await examineWorkers(opened.db, clock.nowMs())),
        ]),
    finding("feeds", feeds),
  ];
}

async function secretKeyTrouble(config: Config, opened: SqlDatabase) {
  try {
    await requireSecretKey(config, opened);
    return undefined;
  } catch (error) {
    return wrong(`${messageOf(error)}.`, "Put the right key back.");
  }
}

const REPAIRS: Partial<Record<DatabaseFaultCode, string>> = {
  behind:
    "Run gatepost migrate, or start the server of this version, when every older process has stopped.",
  newer_schema: "Run the newer version of gatepost.",
  older_schema:
    "Export what you need with that version, and begin with a new data directory or database.",
  locked: "Stop the program that holds it.",
  unwritable:
    "Give the folder to the service's user and make it writable, or run this as that user.",
  full: "Free some space.",
  not_a_directory: "Set GATEPOST_DATA_DIR to a folder.",
  unreachable: "Start PostgreSQL, or correct host and port in DATABASE_URL.",
  denied: "Correct user, password and TLS in DATABASE_URL, or the rights of the user.",
  no_database: "Restore a back-up, or correct the name.",
  too_old: "Bring PostgreSQL up to version 15 or newer.",
};

/** What a service that is open says in health's words, whoever finds it. */
const AILMENTS: Partial<Record<DatabaseFaultCode, Ailment>> = {
  not_a_database: "damaged",
  unreadable: "unreadable",
};

async function caught(
  name: "database" | "resolver",
  config: Config,
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    const { code } = error instanceof DatabaseFault ? error : { code: undefined };
    const ailment = code && AILMENTS[code];
    const told = ailment && databaseTrouble(config, ailment);
    if (told !== undefined) return [finding(name, told)];
    const isSchema = code !== undefined && /schema|behind/.test(code);
    const toDo = (code && REPAIRS[code]) ?? "Report this with what gatepost doctor --json prints.";
    return [finding(isSchema ? "schema" : name, wrong(messageOf(error), toDo))];
  }
}
