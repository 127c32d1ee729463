import { chunkEntries, type PackedChunk, unpackChunk } from "../../core/batch-chunk.ts";
import type { ChunkOutcome } from "../../ports/batches.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Judge, judged, type JudgeOptions, outcomeOf } from "./judge.ts";

export interface RunBatchDeps {
  /** On the interactive lane: a client waits. */
  readonly judge: Judge;
  readonly clock: Clock;
  readonly syncBudgetMs: number;
}

async function judgeChunk(
  { content }: PackedChunk,
  judge: Judge,
  options: JudgeOptions,
): Promise<ChunkOutcome> {
  const entries = chunkEntries(unpackChunk(content));
  const results = entries.map(async (entry) => judged(await judge(entry, options)));
  return outcomeOf(entries, await Promise.all(results));
}

/** Judges a small batch at once; undefined when the time budget ends first. */
export async function runBatch(
  chunks: readonly PackedChunk[],
  options: JudgeOptions,
  { judge, clock, syncBudgetMs }: RunBatchDeps,
): Promise<readonly ChunkOutcome[] | undefined> {
  let callOff = (): void => undefined;
  const overdue = new Promise<undefined>((resolve) => {
    callOff = clock.after(syncBudgetMs, () => resolve(undefined));
  });
  try {
    const outcomes = Promise.all(chunks.map((chunk) => judgeChunk(chunk, judge, options)));
    return await Promise.race([outcomes, overdue]);
  } finally {
    callOff();
  }
}
