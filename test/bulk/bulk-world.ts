import { createShares } from "../../src/base/shares.ts";
import type { TestContext } from "node:test";
import { splitText } from "../../src/core/batch/batch-chunk.ts";
import { finish } from "./finish.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { Log } from "../../src/base/log.ts";
import type { Datasets } from "../../src/core/evidence/datasets.ts";
import type { Lookup } from "../../src/core/mail/lookup.ts";
import { type Announcement, announcer, type CompletedEvent } from "../../src/bulk/jobs/announce.ts";
import type { BulkAnswer, BulkRequest } from "../../src/bulk/jobs/bulk-shapes.ts";
import { coreEntryCheck } from "../../src/bulk/jobs/entry-check.ts";
import { BulkService } from "../../src/bulk/jobs/submit.ts";
import type { EntryCheck } from "../../src/bulk/jobs/entry-check.ts";
import { BulkWorker } from "../../src/bulk/jobs/worker.ts";
import type { Caller } from "../../src/accounts/admission/caller.ts";
import {
  type Admission,
  createAdmission,
  type Admitted,
} from "../../src/accounts/admission/admission.ts";
import { DEFAULT_TIERS, type Tiers } from "../../src/accounts/admission/tiers.ts";
import { type BulkStores, openBulkStores } from "../contracts/bulk/bulk-stores.ts";
import type { storesOn } from "../contracts/stores.ts";
import { literalDatasets } from "../lists/literal-datasets.ts";
import { memoryRateCounter } from "../../src/accounts/admission/counters.ts";

/** Has no evidence about any name. */
export const noDatasets: Datasets = literalDatasets();

export interface BulkWorld {
  readonly stores: BulkStores;
  readonly bulk: BulkService;
  readonly events: readonly CompletedEvent[];
  /** A worker with its own name, not started. */
  worker(name?: string): BulkWorker;
  announce(): Promise<void>;
}

export interface WorldOptions {
  readonly lookup: Lookup;
  readonly tiers?: Partial<Tiers>;
  readonly bufferMax?: number;
  readonly check?: EntryCheck;
  readonly dnsAnswers?: () => Promise<boolean>;
  readonly isDnsOff?: boolean;
  readonly silentMs?: () => number;
  readonly room?: () => Promise<void> | undefined;
  readonly hasRoom?: (owner: string) => boolean;
}

export const STARTER: Caller = {
  owner: { kind: "account", accountId: "a1" },
  tier: "starter",
  clientAddress: "192.0.2.1",
};
export const KEYLESS: Caller = {
  owner: { kind: "bucket", bucket: "192.0.2.1" },
  tier: "anonymous",
  clientAddress: "192.0.2.1",
};

export const admittedAs = (caller: Caller): Admitted => ({ caller, hasCredits: false });

export const listOf = (text: string, more: Partial<BulkRequest> = {}): BulkRequest => ({
  text,
  ...more,
});

/** `count` domains that the zone of `mailZone` knows. */
export const domains = (count: number): string =>
  Array.from({ length: count }, (_, at) => `d${String(at)}.example`).join("\n");

/** Every name has mail, except those in `silent`. */
export function mailEverywhere(silent: (name: string) => boolean = () => false): Lookup {
  const unknown = { kind: "unknown", why: "timeout" } as const;
  return {
    mx: (name) =>
      silent(name) ? unknown : { kind: "found", records: [{ preference: 10, host: `mx.${name}` }] },
    addresses: () => ({ kind: "found", records: ["203.0.113.5"] }),
    txt: () => unknown,
    registration: () => unknown,
  };
}

interface BulkTerms extends Pick<
  WorldOptions,
  "bufferMax" | "dnsAnswers" | "isDnsOff" | "silentMs" | "room" | "hasRoom"
> {
  readonly admission: Admission;
  readonly tiers: Tiers;
  readonly check: EntryCheck;
  readonly announcement: Announcement;
}

/** The service of batches and its workers on these stores. */
export function bulkOn(
  stores: ReturnType<typeof storesOn<Clock, Log>>,
  { check, announcement, bufferMax = 1_000_000, ...terms }: BulkTerms,
) {
  const { announce, stop } = announcer({ ...stores, announcement });
  const shared = { ...stores, check, shares: createShares(), completed: () => void announce() };
  const workers: BulkWorker[] = [];
  const bulk = new BulkService({
    ...shared,
    ...terms,
    split: ({ text, entriesMax }) =>
      Promise.resolve(finish(splitText(text, entriesMax ?? Infinity))),
    wake() {
      for (const made of workers) made.wake();
    },
    syncBudgetMs: 10_000,
    bufferMax,
  });
  const worker = (name = "w1"): BulkWorker => {
    const made = new BulkWorker({
      ...shared,
      shares: createShares(),
      hasRoom: terms.hasRoom ?? (() => true),
      name,
      room: terms.room ?? (() => undefined),
      isDnsOff: terms.isDnsOff ?? false,
      silentMs: terms.silentMs ?? (() => 0),
      dnsAnswers: terms.dnsAnswers ?? (() => Promise.resolve(true)),
    });
    workers.push(made);
    return made;
  };
  return { bulk, worker, announce, stop };
}

/** The core's checks, as batches run them. */
export const coreCheck = (datasets: () => Datasets, lookup: Lookup, clock: Clock): EntryCheck =>
  coreEntryCheck({
    datasets,
    lookup,
    again: lookup,
    clock,
    implicitMx: false,
    budgetMs: 5_000,
    againBudgetMs: 1_700,
  });

export const keptIn = (events: CompletedEvent[]): Announcement => ({
  write: (_tx, event) => Promise.resolve(void events.push(event)),
  written: () => undefined,
});

export async function bulkWorld(t: TestContext, options: WorldOptions): Promise<BulkWorld> {
  const stores = await openBulkStores(t);
  const { clock, charges, counter } = stores;
  const tiers = { ...DEFAULT_TIERS, ...options.tiers };
  const keys = { holder: () => Promise.resolve(undefined) };
  const rates = memoryRateCounter();
  const admission = createAdmission({ keys, rates, quotas: counter, charges, clock, tiers });
  const events: CompletedEvent[] = [];
  const { bulk, worker, announce, stop } = bulkOn(stores, {
    admission,
    check: coreCheck(() => noDatasets, options.lookup, clock),
    announcement: keptIn(events),
    ...options,
    tiers,
  });
  t.after(stop);
  return {
    stores,
    bulk,
    events,
    announce,
    worker(name) {
      const made = worker(name);
      // The stores were closed before: it must do nothing now.
      t.after(() => made.stop().catch(() => undefined));
      return made;
    },
  };
}

/** The answer's session. */
export function sessionOf(answer: BulkAnswer): string {
  return answer.kind === "done" ? answer.stats.session : answer.queued.session;
}
