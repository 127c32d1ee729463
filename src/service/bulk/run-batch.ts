import { chunkEntries, type PackedChunk, unpackChunk } from "../../core/batch/batch-chunk.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { ChunkOutcome } from "../../ports/bulk/batches.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { EvidenceOf } from "../evidence/own-spellings.ts";
import {
  type EntryCheck,
  checked,
  type EntryCheckOptions,
  outcomeOf,
} from "./worker/entry-check.ts";

export interface RunBatchDeps {
  /** On the interactive lane: a client waits. */
  readonly check: EntryCheck;
  readonly clock: Clock;
  readonly syncBudgetMs: number;
}

/** How a batch is checked; `ownEvidence` takes the entries of a chunk for the owner's traffic first. */
export interface BatchOptions extends Pick<EntryCheckOptions, "spamTrap" | "by"> {
  readonly ownEvidence: (entries: readonly string[]) => Awaitable<EvidenceOf>;
}

async function checkChunk(
  { content }: PackedChunk,
  check: EntryCheck,
  { ownEvidence, ...of }: BatchOptions,
): Promise<ChunkOutcome> {
  const entries = chunkEntries(unpackChunk(content));
  const options = { ...of, ownEvidence: await ownEvidence(entries) };
  const results = entries.map(async (entry) => checked((await check(entry, options)).conclude()));
  return outcomeOf(entries, await Promise.all(results));
}

/** Checks a small batch at once; undefined when the time budget ends first. */
export async function runBatch(
  chunks: readonly PackedChunk[],
  options: BatchOptions,
  { check, clock, syncBudgetMs }: RunBatchDeps,
): Promise<readonly ChunkOutcome[] | undefined> {
  const outcomes = Promise.all(chunks.map((chunk) => checkChunk(chunk, check, options)));
  return await inTime(outcomes, { timeoutMs: syncBudgetMs, late: undefined, clock });
}
