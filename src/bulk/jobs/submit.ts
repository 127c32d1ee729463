import type { Caller } from "../../accounts/admission/caller.ts";
import type { Admission, Admitted } from "../../accounts/admission/admission.ts";
import type { Charge, ChargeTerms, Unpaid } from "../../accounts/admission/charges.ts";
import { limitsOf, type Tiers } from "../../accounts/admission/tiers.ts";
import { type Clock, inTime } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { ownerKey, type OwnerKey } from "../../base/owner.ts";
import {
  serviceFull,
  bulkCooldown,
  bulkTooLarge,
  storeUnavailable,
  jobRunning,
  missingParameter,
  Refusal,
  retryInFlight,
  retryOtherBody,
  sessionNotFound,
  tooManyEntries,
} from "../../base/refusals.ts";
import { NoRoom, type Shares } from "../../base/shares.ts";
import { storeDownOf } from "../../base/store-down.ts";
import {
  chunkEntries,
  type PackedChunk,
  type SplitBatch,
  sumOfTallies,
  unpackChunk,
} from "../../core/batch/batch-chunk.ts";
import type { TooMany } from "../../core/batch/batch.ts";
import { BULK_MAX_OCTETS } from "../../core/name/domain.ts";
import type { CheckedBatch, ChunkOutcome, JobOrder, KeptAnswer, NewBatch } from "./pack-batch.ts";
import {
  type BulkAnswer,
  type BulkRequest,
  type BulkResults,
  type BulkView,
  forBulk,
  type QueuedBatch,
  type SpelledResult,
  type Splitter,
} from "./bulk-shapes.ts";
import type { IdempotencyKeys } from "./idempotency.ts";
import type { JobOutcome, Jobs, QueueAhead } from "./jobs.ts";
import { spelledResults } from "./result-source.ts";
import {
  findSession,
  sessionResults,
  type SessionStore,
  statsOf,
  storedResults,
  viewSession,
} from "./sessions.ts";
import {
  entryOutcome,
  type EntryCheck,
  type EntryCheckOptions,
  chunkOutcome,
} from "./entry-check.ts";

async function checkChunk(
  { content }: PackedChunk,
  check: EntryCheck,
  options: EntryCheckOptions,
): Promise<ChunkOutcome> {
  const entries = chunkEntries(unpackChunk(content));
  const results = entries.map(async (entry) => entryOutcome(await check(entry, options)));
  return chunkOutcome(entries, await Promise.all(results));
}

async function runBatch(
  chunks: readonly PackedChunk[],
  options: EntryCheckOptions,
  { check, clock, syncBudgetMs }: SubmitDeps,
): Promise<readonly ChunkOutcome[] | undefined> {
  const outcomes = Promise.all(chunks.map((chunk) => checkChunk(chunk, check, options)));
  return await inTime(outcomes, { timeoutMs: syncBudgetMs, late: undefined, clock });
}

type KeptRecord =
  | { readonly kind: "done"; readonly session: string }
  | { readonly kind: "queued"; readonly queued: QueuedBatch };

const LOCK_SPARE_MS = 20_000;

const SYNC_MAX_ENTRIES = 100;

const ASSUMED_ENTRIES_PER_SECOND = 1_000;

/** At least 1. Owners take turns, so of each running job no more stands before it than it has itself. */
function estimatedSeconds(entries: number, { openEntries, entriesPerSecond }: QueueAhead): number {
  const ahead = openEntries.reduce((sum, open) => sum + Math.min(open, entries), 0);
  const speed = Math.max(1, entriesPerSecond ?? ASSUMED_ENTRIES_PER_SECOND);
  return Math.max(1, Math.ceil((ahead + entries) / speed));
}

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

interface SubmitRequest {
  readonly admitted: Admitted;
  readonly owner: OwnerKey;
  readonly request: BulkRequest;
  readonly keep?: Omit<KeptAnswer, "answer">;
}

interface Submission extends SubmitRequest {
  readonly batch: Omit<NewBatch, "nowMs">;
  readonly terms: ChargeTerms;
  readonly spamTrap: boolean;
}

/** Throws a `Refusal` for what it will not do; a session that is not the caller's is the same 404 as an unknown one. */
export class BulkService {
  readonly #deps: SubmitDeps;

  constructor(deps: SubmitDeps) {
    this.#deps = deps;
  }

  /** Refuses in the order of decisions section 5, from 400 on; a refusal charges nothing. */
  async submit(admitted: Admitted, request: BulkRequest): Promise<BulkAnswer> {
    const { log, clock, syncBudgetMs, idempotencyKeys } = this.#deps;
    if ("text" in request) checkBulkText(request.text);
    try {
      const owner = ownerKey(admitted.caller.owner);
      const { retry } = request;
      if (retry === undefined) return await this.#answer({ admitted, owner, request });
      const [nowMs, lockMs] = [clock.nowMs(), syncBudgetMs + LOCK_SPARE_MS];
      const opened = await idempotencyKeys.begin({ owner, ...retry, nowMs, lockMs });
      if (opened.kind === "in_flight") throw retryInFlight(1);
      if (opened.kind === "other_body") throw retryOtherBody();
      if (opened.kind === "kept") return await this.#kept(JSON.parse(opened.answer) as KeptRecord);
      const { token } = opened;
      try {
        return await this.#answer({ admitted, owner, request, keep: { key: retry.key, token } });
      } catch (error) {
        // For a request that is refused or failed the key is as if never used.
        const releasing = idempotencyKeys.release(owner, retry.key, token);
        // A store that is down would make the client wait twice; the lock on the key ends by itself.
        if (storeDownOf(error) === undefined) await releasing;
        else releasing.catch((again: unknown) => log.error("bulk.release_failed", again));
        throw error;
      }
    } catch (error) {
      if (error instanceof Refusal || error instanceof NoRoom) throw error;
      log.error("bulk.submit_failed", error);
      throw storeUnavailable(10);
    }
  }

  async #kept(record: KeptRecord): Promise<BulkAnswer> {
    if (record.kind === "queued") return { paidBy: "plan", ...record };
    const { sessions, clock } = this.#deps;
    const session = await sessions.find(record.session, clock.nowMs());
    if (session === undefined) throw new Error("kept answer without its session");
    const source = storedResults(sessions, session);
    const results = (): AsyncIterable<readonly SpelledResult[]> =>
      spelledResults(source, { isNoted: false });
    return { kind: "done", paidBy: "plan", stats: statsOf(session), results };
  }

  entriesMax(caller: Caller): number | null {
    return limitsOf(this.#deps.tiers, caller).bulkLimit;
  }

  view(caller: Caller, session: string): Promise<BulkView> {
    return viewSession(this.#deps, caller, session);
  }

  results(caller: Caller, session: string): Promise<BulkResults> {
    return sessionResults(this.#deps, caller, session);
  }

  /** DELETE: cancels a job, refunding what was not processed, or forgets results. The cooldown stays. Access as `results`. */
  async remove(caller: Caller, hash: string): Promise<void> {
    const { jobs, clock } = this.#deps;
    await findSession(this.#deps, hash, { caller, access: "everything" });
    if (!(await jobs.remove(hash, clock.nowMs()))) throw sessionNotFound();
  }

  async #answer(asked: SubmitRequest): Promise<BulkAnswer> {
    const { admitted, owner, request } = asked;
    const { caller } = admitted;
    const { tiers, admission, jobs, shares, ids } = this.#deps;
    const { bulkLimit, premium } = limitsOf(tiers, caller);
    const split = await this.#split(asked);
    if ("kind" in split) throw tooManyEntries(bulkLimit ?? split.count, split.count);
    const { total, unique, chunks } = split;
    if (total === 0) throw missingParameter("email");
    const terms = admission.terms(admitted, unique);
    const batch = {
      session: request.session ?? ids.hex32(),
      owner: caller.owner,
      clientAddress: caller.clientAddress,
      ...split,
      ...("table" in request && request.table !== undefined && { table: request.table }),
    };
    const submission: Submission = { ...asked, batch, terms, spamTrap: premium };
    if (unique > SYNC_MAX_ENTRIES) return this.#enqueue(submission);
    const unpaid = await jobs.payable(terms);
    if (unpaid !== undefined) await this.#paidBy(admitted, unpaid);
    const run = () => runBatch(chunks, { spamTrap: premium, by: owner }, this.#deps);
    const outcomes = await shares.of("batches").run(owner, run);
    return outcomes === undefined ? this.#enqueue(submission) : this.#finish(submission, outcomes);
  }

  async #split({ admitted, owner, request }: SubmitRequest): Promise<SplitBatch | TooMany> {
    if ("split" in request) return request.split;
    const entriesMax = this.entriesMax(admitted.caller);
    return await this.#deps.split({ text: request.text, owner, entriesMax, left: request.left });
  }

  async #finish(submission: Submission, outcomes: readonly ChunkOutcome[]): Promise<BulkAnswer> {
    const { session, total, unique, chunks } = submission.batch;
    const paidBy = await this.#store(submission, { kind: "done", session }, { outcomes });
    this.#deps.completed();
    const source = {
      chunks: chunks.length,
      chunk: (number: number) =>
        Promise.resolve(chunks[number] && unpackChunk(chunks[number].content)),
      results: (number: number) => Promise.resolve(outcomes[number]?.results),
    };
    const tally = sumOfTallies(outcomes.map((outcome) => outcome.tally));
    const stats = statsOf({ session, total, unique, tally });
    return {
      kind: "done",
      paidBy,
      stats,
      results: () => spelledResults(source, { isNoted: false }),
    };
  }

  async #enqueue(submission: Submission): Promise<BulkAnswer> {
    const { session, owner, unique } = submission.batch;
    const { clock, jobs, bufferMax, wake } = this.#deps;
    const queued: QueuedBatch = {
      session,
      status: "pending",
      email_count: unique,
      estimated_seconds: estimatedSeconds(unique, await jobs.queueAhead(clock.nowMs())),
    };
    const cooldownMs = owner.kind === "bucket" ? ANONYMOUS_COOLDOWN_MS : 0;
    const job = { spamTrap: submission.spamTrap, cooldownMs, bufferMax };
    const paidBy = await this.#store(submission, { kind: "queued", queued }, job);
    wake();
    return { kind: "queued", paidBy, queued };
  }

  async #store(
    { admitted, owner, batch, terms, keep: kept }: Submission,
    record: KeptRecord,
    how: Omit<JobOrder, keyof NewBatch> | Omit<CheckedBatch, keyof NewBatch>,
  ): Promise<"plan" | "credits"> {
    const { clock, jobs, shares } = this.#deps;
    const nowMs = clock.nowMs();
    const keep = kept && { ...kept, answer: JSON.stringify(record) };
    const order = { ...batch, ...how, ...(keep && { keep }), nowMs };
    const create = (): Promise<JobOutcome> => jobs.create(order, { ...terms, nowMs });
    const outcome = await shares.of("writes").run(owner, create);
    return await this.#paidBy(admitted, chargeOf(outcome, nowMs));
  }

  async #paidBy(admitted: Admitted, charge: Charge | Unpaid): Promise<"plan" | "credits"> {
    try {
      return (await this.#deps.admission.receipt(admitted, charge)).paidBy;
    } catch (error) {
      throw error instanceof Refusal ? forBulk(error) : error;
    }
  }
}

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
      throw serviceFull(60);
  }
}
