import type { ChunkQueue, ClaimedChunk, CompleteOutcome } from "../chunk-queue.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { CheckedChunk } from "./process-chunk.ts";

/** A result that cannot be stored, on a full disk say, is offered again every second for half a minute. */
const STORE_TRIES_MAX = 30;
export const STORE_PAUSE_MS = 1_000;

interface StoreDeps {
  readonly chunks: Pick<ChunkQueue, "complete">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

/** Stores the results of a chunk; rejects with the last fault after 30 tries, and after the first one once it is stopped. */
export async function storeChunk(
  chunk: ClaimedChunk,
  { outcome, conclusive }: Pick<CheckedChunk, "outcome" | "conclusive">,
  { chunks, clock, log }: StoreDeps,
  isStopped: () => boolean,
): Promise<CompleteOutcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await chunks.complete(chunk, outcome, { nowMs: clock.nowMs(), conclusive });
    } catch (fault) {
      if (tries === STORE_TRIES_MAX || isStopped()) throw fault;
      log.error("bulk.store_failed", fault, { tries });
    }
    await new Promise<void>((resolve) => void clock.after(STORE_PAUSE_MS, resolve));
  }
}
