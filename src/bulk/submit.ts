import type { Admission, Entrance } from "../accounts/admission/admission.ts";
import type { Charge, ChargeTerms, Unpaid } from "../accounts/admission/charges.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import { ownerKey } from "../base/owner.ts";
import {
  bulkBusy,
  bulkCooldown,
  bulkTooLarge,
  bulkUnavailable,
  jobRunning,
  missingParameter,
  Refusal,
  sessionNotFound,
  tooManyEntries,
} from "../base/refusals.ts";
import { NoRoom, type Shares } from "../base/shares.ts";
import { storeDownOf } from "../base/store-down.ts";
import {
  chunkEntries,
  type PackedChunk,
  type SplitBatch,
  sumOf,
  unpackChunk,
} from "../core/batch/batch-chunk.ts";
import { BULK_MAX_OCTETS } from "../core/name/domain.ts";
import type { ChunkOutcome, KeptAnswer, NewBatch } from "./batches-store.ts";
import {
  type BulkAnswer,
  type BulkRequest,
  type BulkService,
  forBulk,
  type QueuedBatch,
  type Splitter,
  type TooMany,
} from "./bulk.ts";
import {
  type IdempotencyKeys,
  keptAnswer,
  type KeptRecord,
  openRetry,
  type RetryDeps,
} from "./idempotency.ts";
import type { JobOutcome, Jobs } from "./jobs.ts";
import {
  findSession,
  followSession,
  sessionResults,
  statsOf,
  viewSession,
} from "./read-session.ts";
import { spelledResults } from "./result-source.ts";
import type { SessionStore } from "./sessions.ts";
import {
  checked,
  type EntryCheck,
  type EntryCheckOptions,
  outcomeOf,
} from "./worker/process-chunk.ts";
import { estimatedSeconds } from "./worker/leases.ts";

async function checkChunk(
  { content }: PackedChunk,
  check: EntryCheck,
  options: EntryCheckOptions,
): Promise<ChunkOutcome> {
  const entries = chunkEntries(unpackChunk(content));
  const results = entries.map(async (entry) => checked((await check(entry, options)).conclude()));
  return outcomeOf(entries, await Promise.all(results));
}

/** Checks a small batch at once; undefined when the time budget ends first. */
async function runBatch(
  chunks: readonly PackedChunk[],
  options: EntryCheckOptions,
  { check, clock, syncBudgetMs }: SubmitDeps,
): Promise<readonly ChunkOutcome[] | undefined> {
  const outcomes = Promise.all(chunks.map((chunk) => checkChunk(chunk, check, options)));
  return await inTime(outcomes, { timeoutMs: syncBudgetMs, late: undefined, clock });
}

const SYNC_MAX_ENTRIES = 100;

const ANONYMOUS_COOLDOWN_MS = 60_000;

/** Entries not yet checked, of all owners. 100 Starter accounts' jobs and then some; about 100 MB of disk. */
export const BUFFER_MAX_ENTRIES = 2_000_000;

interface SubmitDeps {
  readonly check: EntryCheck;
  readonly clock: Clock;
  readonly syncBudgetMs: number;
  readonly split: Splitter;
  readonly shares: Pick<Shares, "of">;
  readonly jobs: Jobs;
  readonly sessions: SessionStore;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly where: RetryDeps["where"];
  readonly wake: () => void;
  readonly admission: Pick<Admission, "terms" | "receipt">;
  readonly tiers: Tiers;
  readonly ids: Ids;
  readonly log: Log;
  readonly bufferMax: number;
  readonly completed: () => void;
}

/** Throws the 400 for an empty text and the 413 for one over `BULK_MAX_OCTETS`; linear, without splitting. */
export function checkBulkText(text: string): void {
  if (text === "") throw missingParameter("email");
  const isSmall = text.length * 3 <= BULK_MAX_OCTETS;
  const isLarge = text.length > BULK_MAX_OCTETS;
  if (isLarge || (!isSmall && Buffer.byteLength(text) > BULK_MAX_OCTETS)) throw bulkTooLarge();
}

export function createBulk(deps: SubmitDeps): BulkService {
  return {
    submit: (entrance, request) => submit(entrance, request, deps),
    entriesMax: ({ tier }) => deps.tiers[tier].bulkLimit,
    view: (caller, session) => viewSession(deps, caller, session),
    results: (caller, session) => sessionResults(deps, caller, session),
    progress: (caller, session) => followSession(deps, caller, session),
    async remove(caller, hash) {
      await findSession(deps, hash, { caller, access: "everything" });
      if (!(await deps.jobs.remove(hash, deps.clock.nowMs()))) throw sessionNotFound();
    },
  };
}

interface Submission {
  readonly entrance: Entrance;
  readonly batch: NewBatch;
  readonly terms: ChargeTerms;
  readonly spamTrap: boolean;
}

async function submit(
  entrance: Entrance,
  request: BulkRequest,
  deps: SubmitDeps,
): Promise<BulkAnswer> {
  if ("text" in request) checkBulkText(request.text);
  try {
    const retry = await openRetry(deps, ownerKey(entrance.caller.owner), request.retry);
    if (retry.kind === "kept") return await keptAnswer(deps, retry.record);
    try {
      return await answer({ entrance, request, token: retry.token }, deps);
    } catch (error) {
      const releasing = retry.release();
      // A store that is down would make the client wait twice; the lock on the key ends by itself.
      if (storeDownOf(error) === undefined) await releasing;
      else releasing.catch((again: unknown) => deps.log.error("bulk.release_failed", again));
      throw error;
    }
  } catch (error) {
    if (error instanceof Refusal || error instanceof NoRoom) throw error;
    deps.log.error("bulk.submit_failed", error);
    throw bulkUnavailable();
  }
}

interface Asked {
  readonly entrance: Entrance;
  readonly request: BulkRequest;
  readonly token: string | undefined;
}

async function answer(asked: Asked, deps: SubmitDeps): Promise<BulkAnswer> {
  const { entrance } = asked;
  const { bulkLimit, premium } = deps.tiers[entrance.caller.tier];
  const split = await splitOf(asked, deps);
  if ("kind" in split) throw tooManyEntries(bulkLimit ?? split.count, split.count);
  if (split.total === 0) throw missingParameter("email");
  if (bulkLimit !== null && split.unique > bulkLimit) throw tooManyEntries(bulkLimit, split.unique);
  const submission: Submission = {
    entrance,
    batch: newBatch(asked, split, deps),
    terms: deps.admission.terms(entrance, split.unique),
    spamTrap: premium,
  };
  if (split.unique > SYNC_MAX_ENTRIES) return enqueue(submission, asked, deps);
  // Asked beforehand so that unpaid work is not done; the charge decides.
  const unpaid = await deps.sessions.payable(submission.terms);
  if (unpaid !== undefined) await settle(entrance, unpaid, deps);
  const owner = ownerKey(entrance.caller.owner);
  const options: EntryCheckOptions = { spamTrap: premium, by: owner };
  const batches = deps.shares.of("batches");
  const outcomes = await batches.run(owner, () => runBatch(split.chunks, options, deps));
  if (outcomes === undefined) return enqueue(submission, asked, deps);
  return finish(submission, { outcomes, asked }, deps);
}

async function splitOf(asked: Asked, deps: SubmitDeps): Promise<SplitBatch | TooMany> {
  const { entrance, request } = asked;
  if ("split" in request) return request.split;
  const { text, layout } = request;
  const owner = ownerKey(entrance.caller.owner);
  const entriesMax = deps.tiers[entrance.caller.tier].bulkLimit;
  return await deps.split({ text, layout, owner, entriesMax });
}

function newBatch({ entrance, request }: Asked, split: SplitBatch, deps: SubmitDeps): NewBatch {
  const { owner, clientAddress } = entrance.caller;
  const { total, unique, chunks } = split;
  const table = "table" in request ? request.table : undefined;
  return {
    session: request.session ?? deps.ids.hex32(),
    owner,
    clientAddress,
    total,
    unique,
    chunks,
    nowMs: deps.clock.nowMs(),
    ...(table === undefined ? {} : { table }),
  };
}

/** The batch with the answer that a repetition of its request will get. */
function keeping(batch: NewBatch, { request, token }: Asked, record: KeptRecord): NewBatch {
  if (request.retry === undefined || token === undefined) return batch;
  const keep: KeptAnswer = { key: request.retry.key, token, answer: JSON.stringify(record) };
  return { ...batch, keep };
}

async function finish(
  { entrance, batch, terms }: Submission,
  { outcomes, asked }: { readonly outcomes: readonly ChunkOutcome[]; readonly asked: Asked },
  deps: SubmitDeps,
): Promise<BulkAnswer> {
  const { session, total, unique, chunks } = batch;
  const nowMs = deps.clock.nowMs();
  const kept = keeping({ ...batch, nowMs }, asked, { kind: "done", session });
  const save = (): Promise<Charge | Unpaid> =>
    deps.sessions.save(kept, outcomes, { ...terms, nowMs });
  const charge = await deps.shares.of("writes").run(ownerKey(batch.owner), save);
  const paidBy = await settle(entrance, charge, deps);
  deps.completed();
  const source = {
    chunks: chunks.length,
    chunk: (number: number) =>
      Promise.resolve(chunks[number] && unpackChunk(chunks[number].content)),
    results: (number: number) => Promise.resolve(outcomes[number]?.results),
  };
  const tally = sumOf(outcomes.map((outcome) => outcome.tally));
  return {
    kind: "done",
    paidBy,
    stats: statsOf({ session, total, unique, tally }),
    results: () => spelledResults(source),
  };
}

async function enqueue(
  { entrance, batch, terms, spamTrap }: Submission,
  asked: Asked,
  deps: SubmitDeps,
): Promise<BulkAnswer> {
  const nowMs = deps.clock.nowMs();
  const ahead = await deps.jobs.queueAhead(nowMs);
  const queued: QueuedBatch = {
    session: batch.session,
    status: "pending",
    email_count: batch.unique,
    estimated_seconds: estimatedSeconds(batch.unique, ahead),
  };
  const kept = keeping({ ...batch, nowMs }, asked, { kind: "queued", queued });
  const cooldownMs = batch.owner.kind === "bucket" ? ANONYMOUS_COOLDOWN_MS : 0;
  const order = { ...kept, spamTrap, cooldownMs, bufferMax: deps.bufferMax };
  const create = (): Promise<JobOutcome> => deps.jobs.create(order, { ...terms, nowMs });
  const outcome = await deps.shares.of("writes").run(ownerKey(batch.owner), create);
  const paidBy = await settle(entrance, chargeOf(outcome, nowMs), deps);
  deps.wake();
  return { kind: "queued", paidBy, queued };
}

/** What the job was paid with, or that nothing paid for it; throws what else stands against it. */
function chargeOf(outcome: JobOutcome, nowMs: number): Charge | Unpaid {
  switch (outcome.kind) {
    case "accepted":
      return outcome.charge;
    case "unpaid":
      return outcome;
    case "running":
      throw jobRunning();
    case "cooldown":
      throw bulkCooldown(Math.ceil((outcome.untilMs - nowMs) / 1_000));
    case "full":
      throw bulkBusy();
  }
}

/** Throws the refusal of an `Unpaid`; paid by credits, the request's rate count is given back. */
async function settle(
  entrance: Entrance,
  charge: Charge | Unpaid,
  { admission }: Pick<SubmitDeps, "admission">,
): Promise<"plan" | "credits"> {
  try {
    return (await admission.receipt(entrance, charge)).paidBy;
  } catch (error) {
    throw error instanceof Refusal ? forBulk(error) : error;
  }
}
