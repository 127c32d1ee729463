import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { ClaimedChunk } from "../../../src/bulk/jobs/chunk-queue.ts";
import { dayOf } from "../../../src/core/calendar.ts";
import { splitText } from "../../../src/core/batch/batch-chunk.ts";
import { finish } from "../../bulk/finish.ts";
import type {
  ChunkOutcome,
  CompletedBatch,
  JobOrder,
  NewBatch,
} from "../../../src/bulk/jobs/pack-batch.ts";
import type { ChargeTerms } from "../../../src/accounts/admission/charges.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { Owner } from "../../../src/base/owner.ts";
import type { UsageLedger } from "../../../src/accounts/admission/usage.ts";
import { addAccount, type OpenSql, openStores, type Stores } from "../stores.ts";

/** The bulk stores of one process, and one account. */
export interface BulkStores extends Stores {
  /** Units of the account's day in the ledger. */
  unitsUsed(): Promise<number>;
}

export const DAILY = 1_000_000;
export const ACCOUNT: Owner = { kind: "account", accountId: "a1" };
export const STRANGER: Owner = { kind: "bucket", bucket: "192.0.2.7" };

export async function openBulkStores(
  t: TestContext,
  { place = ":memory:" }: { readonly place?: string | OpenSql } = {},
): Promise<BulkStores> {
  const stores = await openStores(t, place);
  const { usage, clock } = stores;
  await addAccount(stores);
  return { ...stores, unitsUsed: () => unitsOf(usage, clock.nowMs()) };
}

/** Units of the account's day in the ledger. */
export const unitsOf = async (usage: UsageLedger, nowMs: number): Promise<number> =>
  (await usage.unitsUsed("account:a1", dayOf(nowMs))).inDay;

/** What a new batch needs from its stores. */
type BatchDeps = Pick<Stores, "ids"> & { readonly clock: Pick<Clock, "nowMs"> };

/** `count` domains, split as a batch is. */
export function newBatch(stores: BatchDeps, count: number, more: Partial<NewBatch> = {}): NewBatch {
  const text = Array.from({ length: count }, (_, at) => `d${String(at)}.example`).join(",");
  const split = finish(splitText(text));
  assert.ok("chunks" in split);
  const { total, unique, chunks } = split;
  return {
    session: stores.ids.hex32(),
    owner: ACCOUNT,
    clientAddress: "192.0.2.1",
    total,
    unique,
    chunks,
    nowMs: stores.clock.nowMs(),
    ...more,
  };
}

export function newJob(stores: BatchDeps, count: number, more: Partial<JobOrder> = {}): JobOrder {
  return {
    ...newBatch(stores, count, more),
    spamTrap: false,
    cooldownMs: 0,
    bufferMax: 1_000_000,
    ...more,
  };
}

export function termsFor(batch: NewBatch, more: Partial<ChargeTerms> = {}): ChargeTerms {
  const { owner, unique, nowMs } = batch;
  return {
    owner,
    units: unique,
    limits: { daily: DAILY, monthly: null },
    purses: "plan",
    nowMs,
    ...more,
  };
}

/** Creates a job and expects it to be accepted. */
export async function accept(stores: BulkStores, order: JobOrder): Promise<string> {
  const outcome = await stores.jobs.create(order, termsFor(order));
  assert.equal(outcome.kind, "accepted");
  return order.session;
}

export async function claim(stores: BulkStores, worker = "w1"): Promise<ClaimedChunk> {
  const lease = { worker, nowMs: stores.clock.nowMs(), leaseMs: 3_000 };
  const chunk = await stores.chunks.claim(lease, stores.ids.hex32());
  assert.ok(chunk !== undefined);
  return chunk;
}

/** All of `count` entries valid. */
export function allValid(count: number): ChunkOutcome {
  const texts = Array.from({ length: count }, (_, at) => `d${String(at)}.example`);
  return {
    results: texts.map((domain) => JSON.stringify({ format: true, domain })),
    valid: texts,
    tally: { invalidFormat: 0, disposable: 0, invalidDns: 0, valid: count },
  };
}

/** Marks the oldest batch that completed and is not announced as announced; undefined: there is none. */
export async function takeCompleted({
  jobs,
}: Pick<Stores, "jobs">): Promise<CompletedBatch | undefined> {
  for (const session of await jobs.unannounced()) {
    let taken: CompletedBatch | undefined;
    await jobs.announce(session, (_tx, batch) => Promise.resolve(void (taken = batch)));
    if (taken !== undefined) return taken;
  }
  return undefined;
}
