import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { join, resolve } from "node:path";
import { type Kysely, sql } from "kysely";
import type { Clock } from "../../base/clock.ts";
import { RESOURCES } from "../../base/resources.ts";
import type { Finding } from "../../cli/commands/doctor.ts";
import type { FeedStatus } from "../../lists/feed-status.ts";
import { DatabaseFault, type DatabaseFaultCode } from "../../store/database-fault.ts";
import type { SqlDatabase } from "../../store/database.ts";
import type { Database } from "../../store/schema.ts";
import { LOCK_FILE, lockForServing } from "../../store/embedded/serving-lock.ts";
import { wouldTakeWrites } from "../../store/takes-writes.ts";
import { isDnsOff, openDns, openTrust } from "../checker.ts";
import { diskTrouble, feedsTrouble, megabytes, workersTrouble } from "../health.ts";
import { readFeeds } from "../lists.ts";
import { openProcess, type Process } from "../process.ts";
import { fewFiles, missingFiles } from "../program-files.ts";
import { type Config, readConfig, unknownSettings } from "../settings/config.ts";
import { openSql } from "../store.ts";
import { hasDatabase, missingWords } from "../terminal.ts";
import {
  examineFetchProxies,
  examineServer,
  examineTime,
  examineUrls,
  measureResolver,
  note,
  ok,
  wrong,
} from "./network.ts";

const MIB = 1_048_576;

/** An embedded service with a batch of 100,000 entries; see docs/operations/sizing.md. */
export const WORK_BYTES = 245 * MIB;

/** Bodies that are received and parsed at once, at the most. */
const BODY_BYTES = Object.values(RESOURCES).reduce(
  (all, { unit, total }) => all + (unit === "octets" ? total : 0),
  0,
);

/** What a process may use, against what sizing.md says that it takes. */
export function examineMemory(
  { cacheMb }: Pick<Config, "cacheMb">,
  bytes = Math.min(totalmem(), process.constrainedMemory() || Infinity),
): Finding {
  const least = WORK_BYTES + cacheMb * MIB;
  const full = least + BODY_BYTES;
  const says = `${megabytes(bytes)} for this process; it takes up to ${megabytes(least)}, and ${megabytes(full)} with all bodies that it may hold.`;
  const advice = `Give the container or machine ${megabytes(full)}, or lower GATEPOST_CACHE_MB (${String(cacheMb)}).`;
  if (bytes < least) return wrong("memory", says, advice);
  return bytes < full ? note("memory", says, advice) : ok("memory", says);
}

function examineFeeds(
  feeds: readonly FeedStatus[],
  refresh: Config["listsRefresh"],
  nowMs: number,
): Finding {
  if (refresh === "off") {
    return note(
      "feeds",
      "Fetching is off; only bundled lists are used.",
      "Set GATEPOST_LISTS_REFRESH=daily.",
    );
  }
  const old = feedsTrouble(feeds, nowMs);
  return old === undefined
    ? ok("feeds", "All that were asked for were confirmed in the last 3 days.")
    : note("feeds", old.says, old.toDo);
}

const DISK_LOW_BYTES = 1_000_000_000;
const DISK_FULL_BYTES = 100_000_000;

/** As the service meets it: its own user, whose files these are. */
async function examineDisk(dataDir: string): Promise<Finding> {
  const folder = existsSync(dataDir) ? dataDir : ".";
  const trouble = await diskTrouble(folder);
  if (trouble !== undefined && trouble.isWarning !== true) {
    return wrong("disk", trouble.says, trouble.toDo);
  }
  const foreign = foreignFile(folder);
  if (foreign !== undefined) {
    const says = `${foreign} belongs to another user than ${resolve(folder)}: the service cannot write it.`;
    return wrong(
      "disk",
      says,
      "Give it to the user of the folder (chown), and run gatepost as that user.",
    );
  }
  const { bavail, bsize } = statfsSync(folder);
  const says = `${megabytes(bavail * bsize)} are free at ${resolve(folder)}.`;
  const advice = "Free some space, or set GATEPOST_DATA_DIR to a larger disk.";
  if (bavail * bsize < DISK_FULL_BYTES) return wrong("disk", says, advice);
  return bavail * bsize < DISK_LOW_BYTES ? note("disk", says, advice) : ok("disk", says);
}

/** A file that a command made as another user, root say. */
function foreignFile(folder: string): string | undefined {
  const { uid } = statSync(folder);
  return readdirSync(folder)
    .filter((name) => /^gatepost\.db|^secret\.key$/.test(name))
    .map((name) => join(folder, name))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.uid !== uid);
}

/** Integrity of the file (SQLite), the schema's version, the ledger, the clock against what was written. */
async function examineDatabase(
  { db }: SqlDatabase,
  isEmbedded: boolean,
  clock: Clock,
): Promise<readonly Finding[]> {
  if (!(await wouldTakeWrites(db))) {
    return [
      wrong(
        "database",
        "It takes no writes now.",
        "Look for a full disk, a read-only file or server, or another program that holds it locked.",
      ),
    ];
  }
  const findings = [
    isEmbedded ? await integrity(db) : ok("database", "PostgreSQL answers and takes writes."),
  ];
  const { rows } = await sql<{ number: number; newest: number | string }>`
    select max(number) as number, max(applied_at_ms) as newest from schema_migrations`.execute(db);
  const { number = 0, newest = 0 } = rows[0] ?? {};
  findings.push(ok("schema", `Version ${String(number)}, as this program has it.`));
  findings.push(await ledger(db), clockFinding(clock.nowMs(), Number(newest)));
  return findings;
}

async function integrity(db: SqlDatabase["db"]): Promise<Finding> {
  const { rows } = await sql<Record<string, string>>`pragma quick_check(5)`.execute(db);
  const words = rows.flatMap((row) => Object.values(row));
  if (words.join() === "ok") return ok("database", "The file is whole and takes writes.");
  return wrong(
    "database",
    `The file is damaged: ${words.join("; ").slice(0, 300)}`,
    "Stop the service and restore a back-up.",
  );
}

/** An account's balance is the sum of its entries, and never negative. */
async function ledger(db: SqlDatabase["db"]): Promise<Finding> {
  const { rows } = await sql<{ id: string }>`
    select id from accounts where credit_balance < 0 or credit_balance <>
      (select coalesce(sum(amount), 0) from credit_entries where account_id = accounts.id)
    limit 5`.execute(db);
  if (rows.length === 0) return ok("ledger", "Every balance is the sum of its entries.");
  const ids = rows.map(({ id }) => id).join(", ");
  return wrong(
    "ledger",
    `Balances differ from their entries: ${ids}.`,
    "Keep a copy of the database and report this; no command of Gatepost does it.",
  );
}

/** A minute: what was written a moment ago by another machine may be ahead. */
const CLOCK_SLACK_MS = 60_000;

function clockFinding(nowMs: number, newestMs: number): Finding {
  if (nowMs >= newestMs - CLOCK_SLACK_MS) return ok("clock", "It is not behind the database.");
  return wrong(
    "clock",
    "It is behind times that are in the database.",
    "Set this machine's clock (NTP): quotas, sessions and keys go by it.",
  );
}

/** A pooler in transaction mode loses notices (LISTEN), locks and settings. */
export async function examinePooler(url: string): Promise<Finding> {
  const { isPooled } = await import("../../store/postgres-database.ts");
  if (!(await isPooled(url))) return ok("pooler", "Every session of the program is its own.");
  return wrong(
    "pooler",
    "A connection pooler in transaction mode is between: it lends one session to several clients.",
    "Connect to PostgreSQL directly, or set the pooler to session mode (pool_mode = session).",
  );
}

export async function examineWorkers(db: Kysely<Database>, nowMs: number): Promise<Finding> {
  const trouble = await workersTrouble(db, nowMs);
  if (trouble !== undefined) return wrong("workers", trouble.says, trouble.toDo);
  return ok("workers", "At least one was seen in the last minute.");
}

/** Looks at everything that a service needs. Changes nothing; a service may be running. */
export async function diagnose(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    return [wrong("settings", messageOf(error), "Correct the settings.")];
  }
  const examined = await openProcess(config, { log: "silent" }, async (process) => ({
    findings: [settingsFinding(environment), ...(await examine(process))],
  }));
  await examined.close();
  return examined.findings;
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message.trim() : String(error);

function settingsFinding(environment: Parameters<typeof unknownSettings>[0]): Finding {
  const unknown = unknownSettings(environment);
  if (unknown.length === 0) return ok("settings", "All are known and valid.");
  return note("settings", unknown.join(" "), "Correct or remove them.");
}

function examineProgram(): Finding {
  const missing = missingFiles();
  if (missing.length === 0) return ok("program", "All of its files are there.");
  return wrong("program", `Missing: ${missing.join(", ")}.`, "Install the whole package again.");
}

async function examine(process: Process): Promise<readonly Finding[]> {
  const { config } = process;
  return [
    examineProgram(),
    ...(await examineUrls(config)),
    ...(await examineFetchProxies(config)),
    await examineServer(config, isServed(config)),
    examineMemory(config),
    ...examineFiles(),
    await examineDisk(config.dataDir),
    ...(await caught("database", () => examineStored(process))),
    ...(await caught("resolver", () => examineNetwork(process))),
  ];
}

/** Whether a service has this data directory; undefined where others share the database. */
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

function examineFiles(): readonly Finding[] {
  const few = fewFiles();
  return few === undefined ? [] : [note("files", few.says, few.toDo)];
}

async function examineNetwork(process: Process): Promise<readonly Finding[]> {
  const { config, machine, clock, ids, closing } = process;
  const lookup = openDns(config, "interactive", { machine });
  closing.add(() => lookup.close());
  const trust = openTrust(process);
  closing.add(() => trust?.close());
  const outbound = machine.openOutbound({
    addresses: lookup.everyAddress,
    clock,
    allowed: config.outboundAllow,
  });
  const finding = isDnsOff(config)
    ? ok("resolver", "DNS is off: format, lists and rules decide alone.")
    : (await measureResolver({ lookup, trust, clock, ids })).finding;
  return [finding, await examineTime(config, outbound, clock)];
}

async function examineStored(process: Process): Promise<readonly Finding[]> {
  const { config, clock } = process;
  if (!hasDatabase(config)) {
    const says = missingWords(config).trim();
    return [note("database", says, "Start the service once, or set GATEPOST_DATA_DIR.")];
  }
  const opened = await openSql(process, "look");
  const { databaseUrl } = config;
  const feeds = examineFeeds(await readFeeds(process, opened), config.listsRefresh, clock.nowMs());
  return [
    ...(await examineDatabase(opened, databaseUrl === undefined, clock)),
    ...(databaseUrl === undefined
      ? []
      : [await examinePooler(databaseUrl), await examineWorkers(opened.db, clock.nowMs())]),
    feeds,
  ];
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
  not_a_database: "Restore a back-up.",
  unreachable: "Start PostgreSQL, or correct host and port in DATABASE_URL.",
  denied: "Correct user, password and TLS in DATABASE_URL, or the rights of the user.",
  no_database: "Restore a back-up, or correct the name.",
  too_old: "Bring PostgreSQL up to version 15 or newer.",
};

async function caught(
  name: "database" | "resolver",
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    const repair = error instanceof DatabaseFault ? REPAIRS[error.code] : undefined;
    const isSchema = error instanceof DatabaseFault && /schema|behind/.test(error.code);
    const toDo = repair ?? "Report this with what gatepost doctor --json prints.";
    return [wrong(isSchema ? "schema" : name, messageOf(error), toDo)];
  }
}
