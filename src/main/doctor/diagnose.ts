import type { Finding } from "../../cli/commands/doctor.ts";
import { openStoredLists } from "../feeds/lists.ts";
import { openDns, openTrust } from "../parts/dns.ts";
import { openAccountStore } from "../parts/backing/store.ts";
import { hasDatabase, missingWords } from "../process/stored.ts";
import { openProcess, type Process } from "../process/open-process.ts";
import { missingFiles } from "../process/program-files.ts";
import { type Config, readConfig } from "../settings/config.ts";
import { unknownSettings } from "../settings/unknown-settings.ts";
import { note, ok, wrong } from "./findings.ts";
import { examineFeeds, examineMemory } from "./machine.ts";
import { examineFetchProxies, examineTime, examineUrls } from "./network.ts";
import { examinePooler, examineWorkers } from "./postgres.ts";
import { examineResolver } from "./resolver.ts";
import { examineDatabase, examineDisk } from "./store.ts";

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
    examineMemory(config),
    examineDisk(config.dataDir),
    ...(await caught("database", () => examineStored(process))),
    ...(await caught("resolver", () => examineNetwork(process))),
  ];
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
    allowed: config.outboundAllow ?? [],
  });
  return [
    await examineResolver({ lookup, trust, clock, ids }),
    await examineTime(config, { outbound, clock }),
  ];
}

async function examineStored(process: Process): Promise<readonly Finding[]> {
  const { config, clock } = process;
  if (!hasDatabase(config)) {
    return [
      note(
        "database",
        missingWords(config).trim(),
        "Start the service once, or set GATEPOST_DATA_DIR.",
      ),
    ];
  }
  const store = await openAccountStore(process);
  const { refresh } = await openStoredLists(process, store);
  const feeds = examineFeeds(await refresh.status(), config.listsRefresh, clock.nowMs());
  const { databaseUrl } = config;
  return [
    ...(await examineDatabase(store.sql, databaseUrl === undefined, clock)),
    ...(databaseUrl === undefined
      ? []
      : [await examinePooler(databaseUrl), await examineWorkers(store.sql.db, clock.nowMs())]),
    feeds,
  ];
}

/** What cannot be opened is a finding, too. */
async function caught(
  name: "database" | "resolver",
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [wrong(name, messageOf(error), "Do what the message says.")];
  }
}
