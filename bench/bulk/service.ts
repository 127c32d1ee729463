import { createShares } from "../../src/base/shares.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryQuotaCounter, memoryRateCounter } from "../../src/accounts/admission/counters.ts";
import { readPackagedLists } from "../../src/lists/load-lists.ts";
import { noRules } from "../../src/lists/shared-datasets.ts";
import { attachDatasets, shareDatasets } from "../../src/lists/shared-datasets.ts";
import { Charges } from "../../src/accounts/admission/charges.ts";
import { openEmbedded } from "../../src/store/database.ts";
import { UsageLedger } from "../../src/accounts/admission/usage.ts";
import { systemClock as clock } from "../../src/base/clock.ts";
import { systemIds as ids } from "../../src/base/ids.ts";
import { openDns } from "../../src/main/checker.ts";
import { Closing, systemMachine } from "../../src/main/process.ts";
import { readConfig } from "../../src/main/settings/config.ts";
import { Jobs } from "../../src/bulk/jobs/jobs.ts";
import { openBulk } from "../../src/main/bulk.ts";
import type { Lookup } from "../../src/core/mail/lookup.ts";
import type { Log } from "../../src/base/log.ts";
import type { BulkStats } from "../../src/bulk/jobs/bulk-shapes.ts";
import type { BulkService } from "../../src/bulk/jobs/submit.ts";
import type { Caller } from "../../src/accounts/admission/caller.ts";
import { createAdmission } from "../../src/accounts/admission/admission.ts";
import { createSingleCheck, type SingleCheck } from "../../src/check/single-check.ts";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";

export interface Service {
  readonly bulk: BulkService;
  readonly check: SingleCheck;
  readonly address: string;
  /** Runs a batch to its end; returns the time since before it was submitted. */
  run(text: string, account?: string): Promise<Run>;
  stop(): Promise<void>;
}

export interface Run {
  readonly seconds: number;
  readonly submitMs: number;
  readonly stats: BulkStats;
  readonly inconclusive: number;
}

const log: Log = {
  info: () => undefined,
  warn: (event) => void process.stderr.write(`${event}\n`),
  error: (event, fault) => void process.stderr.write(`${event} ${String(fault)}\n`),
};

export const PAUSE_MS = 20;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

const callerOf = (account: string): Caller => ({
  owner: { kind: "account", accountId: account },
  tier: "pro",
  clientAddress: "192.0.2.1",
});

const lookupBy = (dns: ReturnType<typeof openDns>): Lookup => ({
  mx: (name) => dns.mx(name),
  addresses: (host) => dns.addresses(host),
  txt: (name) => dns.txt(name),
  registration: () => ({ kind: "unknown", why: "network" }),
});

/** The embedded service without its HTTP face. */
export async function startService(address: string): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-bench-"));
  const config = readConfig({ GATEPOST_DATA_DIR: dataDir, GATEPOST_DNS_SERVERS: address });
  const sql = await openEmbedded(dataDir, clock.nowMs());
  const ledger = new UsageLedger(sql.db);
  const counter = new MemoryQuotaCounter({ ledger, clock, log });
  const charges = new Charges({ db: sql.db, counter, ids });
  const tiers = DEFAULT_TIERS;
  const keys = { holder: () => Promise.resolve(undefined) };
  const admission = createAdmission({
    keys,
    rates: memoryRateCounter(),
    quotas: counter,
    charges,
    clock,
    tiers,
  });
  const datasets = shareDatasets(readPackagedLists());
  const attached = attachDatasets(datasets, noRules);
  const dns = openDns(config, "interactive", { machine: systemMachine });
  const known = { datasets: () => attached, lookup: lookupBy(dns) };
  const check = createSingleCheck({ ...known, clock, implicitMx: false });
  const announcement = { write: () => Promise.resolve(), written: () => undefined };
  const secretKey = new Uint8Array(32);
  const jobs = new Jobs({ db: sql.db, charges, ids });
  const deps = { sql, jobs, admission, tiers, datasets, secretKey, announcement };
  const shares = createShares();
  const { split, lists, close } = systemMachine.openTexts(shares);
  const runner = { where: "alone", shares, split, lists } as const;
  const closing = new Closing();
  closing.add(close);
  const process = { config, machine: systemMachine, clock, ids, log, closing };
  const open = await openBulk(process, {
    ...deps,
    ...runner,
    checker: known,
    recorder: { record: () => undefined },
  });
  const bulk = open.service;
  return {
    bulk,
    check,
    address,
    run: (text, account = "a1") => run(bulk, text, callerOf(account)),
    async stop() {
      await closing.close();
      dns.close();
      await sql.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function run(bulk: BulkService, text: string, caller: Caller): Promise<Run> {
  const startMs = clock.monotonicMs();
  const answer = await bulk.submit({ caller, hasCredits: false }, { text });
  const submitMs = clock.monotonicMs() - startMs;
  if (answer.kind !== "queued") throw new Error("the bench's batches are queued");
  const { session } = answer.queued;
  for (;;) {
    const found = await bulk.view(caller, session);
    if (found.kind === "list") {
      const seconds = (clock.monotonicMs() - startMs) / 1_000;
      return {
        seconds,
        submitMs,
        stats: found.stats,
        inconclusive: await silent(bulk, caller, session),
      };
    }
    if (found.kind === "summary" || found.progress.status === "failed")
      throw new Error("it failed");
    await pause();
  }
}

async function silent(bulk: BulkService, caller: Caller, session: string): Promise<number> {
  const answer = await bulk.results(caller, session);
  if (answer.kind !== "results") return 0;
  let count = 0;
  for await (const page of answer.results()) {
    for (const { result } of page) if (result.includes("dns_indeterminate")) count += 1;
  }
  return count;
}
