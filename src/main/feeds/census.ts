import { listFolder } from "../../adapters/lists/files/feed-copy.ts";
import {
  CENSUS_FILE,
  CENSUS_IMPORTED_FILE,
  censusFile,
  censusText,
  parseCensus,
} from "../../adapters/lists/files/census-file.ts";
import { loadSecretKey } from "../../adapters/system/secrets.ts";
import type { CensusImport, CliCensus } from "../../cli/commands/census.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import type { Census } from "../../ports/evidence/census.ts";
import { dayOf } from "../../core/calendar.ts";
import { every } from "../../ports/process/every.ts";
import type { Outbound } from "../../ports/process/outbound.ts";
import {
  openSignedCensus,
  signCensus,
} from "../../service/evidence/mail-servers/census-exchange.ts";
import { censusJson, type CensusState } from "../../service/evidence/rules/entry-json.ts";
import {
  censusNames,
  mergedCensus,
  takeCensus,
} from "../../service/evidence/mail-servers/census.ts";
import type { Begin } from "../../service/upkeep/elected.ts";
import type { Process } from "../process/open-process.ts";

/** The counts made here and those of other installations; undefined without any. An unfinished census does not count. */
export function readCensus(folder: string): Census | undefined {
  const own = censusFile(folder, CENSUS_FILE).read();
  const finished = own !== undefined && own.asked === own.names ? own : undefined;
  const imported = censusFile(folder, CENSUS_IMPORTED_FILE).read();
  if (finished === undefined || imported === undefined) return finished ?? imported;
  return mergedCensus(finished, imported);
}

/** What the dashboard shows: read when it is asked for, a file of some hundred KB. */
export function censusState({ dataDir, censusNames: names }: Process["config"]): CensusState {
  const folder = listFolder(dataDir);
  return censusJson(names !== undefined, {
    own: censusFile(folder, CENSUS_FILE).read(),
    imported: censusFile(folder, CENSUS_IMPORTED_FILE).read(),
    inUse: readCensus(folder),
  });
}

/** The census as the command line uses it, without a server. */
export function openCensus(
  { config, clock }: Pick<Process, "config" | "clock">,
  lookup: Pick<Lookup, "mx" | "addresses">,
): Omit<CliCensus, "close"> {
  const folder = listFolder(config.dataDir);
  const store = censusFile(folder, CENSUS_FILE);
  const imported = censusFile(folder, CENSUS_IMPORTED_FILE);
  return {
    async take(text, rate, progress, onInterrupt) {
      let isStopped = false;
      const forget = onInterrupt(() => (isStopped = true));
      try {
        const deps = { lookup, store, clock };
        const options = { rate, progress, isStopped: () => isStopped };
        return await takeCensus(censusNames(text), deps, options);
      } finally {
        forget();
      }
    },
    export() {
      const census = readCensus(folder);
      if (census === undefined) return undefined;
      return signCensus(censusText(census), loadSecretKey(config.secretKey, config.dataDir));
    },
    import(file, trusted): CensusImport {
      const opened = openSignedCensus(file);
      const census = opened === undefined ? undefined : parseCensus(opened.text);
      if (opened === undefined || census === undefined) return { kind: "invalid" };
      const { fingerprint } = opened;
      if (trusted !== fingerprint) return { kind: "untrusted", fingerprint };
      const held = imported.read();
      const merged = held === undefined ? census : mergedCensus(held, census);
      imported.save(merged);
      return { kind: "taken", census: merged };
    },
  };
}

interface DutyDeps {
  readonly lookup: Pick<Lookup, "mx" | "addresses">;
  readonly http: Outbound["http"];
  /** A file's text. */
  readonly readFile: (path: string) => Promise<string>;
  /** Called after each finished census. */
  readonly finished: () => void;
}

/** Days until a census is repeated. */
const CENSUS_DAYS = 30;
const LOOK_MS = 3_600_000;
const RATE = 20;
const FETCH_MS = 120_000;
const FILE_BYTES_MAX = 64 * 1_048_576;

/** Where GATEPOST_CENSUS_NAMES names popular names: takes the census in the background, again every 30 days. */
export function censusDuty(
  { config, clock, log }: Pick<Process, "config" | "clock" | "log">,
  { lookup, http, readFile, finished }: DutyDeps,
): Begin {
  const store = censusFile(listFolder(config.dataDir), CENSUS_FILE);
  const source = config.censusNames ?? "";
  const work = async (isStopped: () => boolean): Promise<void> => {
    const kept = store.read();
    const today = dayOf(clock.nowMs());
    if (kept?.asked === kept?.names && kept !== undefined && today - kept.day < CENSUS_DAYS) return;
    const text = await namesText(source, { http, readFile });
    const deps = { lookup, store, clock };
    const census = await takeCensus(censusNames(text), deps, { rate: RATE, isStopped });
    const { asked, names, domains, servers } = census;
    if (asked < names) return;
    log.info("census.finished", { domains, servers: servers.size });
    finished();
  };
  return () => {
    let isStopped = false;
    const failed = (fault: unknown): void => log.error("census.failed", fault, { source });
    const end = every({ ms: LOOK_MS, firstMs: 0, clock, failed }, async () => {
      await work(() => isStopped);
      return LOOK_MS;
    });
    return Promise.resolve(() => {
      isStopped = true;
      return end();
    });
  };
}

async function namesText(
  source: string,
  { http, readFile }: Pick<DutyDeps, "http" | "readFile">,
): Promise<string> {
  if (!/^https?:/i.test(source)) return readFile(source);
  const answer = await http({
    url: source,
    method: "GET",
    headers: { Accept: "*/*", "User-Agent": "gatepost" },
    timeoutMs: FETCH_MS,
    maxBodyBytes: FILE_BYTES_MAX,
    maxRedirects: 3,
  });
  if (answer.ok && answer.value.status === 200 && !answer.value.cut) {
    return new TextDecoder().decode(answer.value.body);
  }
  const why = answer.ok ? `status ${String(answer.value.status)}` : answer.fault;
  throw new Error(`GATEPOST_CENSUS_NAMES: ${source}: ${why}`);
}
