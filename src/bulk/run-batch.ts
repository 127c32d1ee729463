import { chunkEntries, type PackedChunk, unpackChunk } from "../core/batch/batch-chunk.ts";
import type { ChunkOutcome } from "./batches.ts";
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
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

/** How a batch is checked. */
export type BatchOptions = Pick<EntryCheckOptions, "spamTrap" | "by">;

async function checkChunk(
  { content }: PackedChunk,
  check: EntryCheck,
  options: BatchOptions,
): Promise<ChunkOutcome> {
  const entries = chunkEntries(unpackChunk(content));
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
