import { chunkEntries, unpackChunk } from "../../core/batch/batch-chunk.ts";
import type { Fate } from "../../core/batch/tally.ts";
import type { ChunkOutcome } from "../batches.ts";
import type { ClaimedChunk } from "../chunk-queue.ts";
import type { OwnerKey } from "../../base/owner.ts";
import {
  type EntryCheck,
  type Checked,
  checked,
  type EntryCheckOptions,
  outcomeOf,
} from "./entry-check.ts";
import type { Share } from "../../base/shares.ts";
import type { Pace } from "../../base/owner-paces.ts";
import { checkAll } from "./check-all.ts";
import type { Conclusions } from "./conclusions.ts";

export interface ChunkDeps {
  /** On the bulk lane. */
  readonly check: EntryCheck;
  /** Undefined while the resolver accepts questions; otherwise resolves when it does. */
  readonly room: () => Promise<void> | undefined;
  /** Whether DNS answers at all. */
  readonly dnsAnswers: () => Promise<boolean>;
  /** For the second passes of all chunks, each owner in turn. */
  readonly again: Share;
  /** Of this chunk. */
  readonly pace: Pace;
  /** Called for each entry that DNS answered for, as soon as its result is there, and at most once. */
  readonly answered: (fate: Fate) => void;
  /** Of all chunks. */
  readonly conclusions: Conclusions;
  /** The chunk is another worker's by now: what is left of it is not asked for. */
  readonly isLost: () => boolean;
  /** Called when DNS has said what it says the first time. */
  readonly ended: () => void;
}

export interface CheckedChunk {
  readonly outcome: ChunkOutcome;
  /** DNS answered for at least one entry. */
  readonly conclusive: boolean;
  /** Check the chunk again later: DNS is down, or answered nothing of it. */
  readonly isPostponed: boolean;
  /** Not even well-known names are answered. One owner's chunk never decides that. */
  readonly dnsDown: boolean;
}

/**
 * Checks the entries of a chunk, then once more those that DNS did not answer for: of 100,000 live names, some
 * lose every try to packet loss.
 */
export async function processChunk(chunk: ClaimedChunk, deps: ChunkDeps): Promise<CheckedChunk> {
  const entries = chunkEntries(unpackChunk(chunk.content));
  const options = { spamTrap: chunk.spamTrap };
  const { owner } = chunk;
  const results = await firstPass({ chunk, entries, options }, deps);
  const conclusive = results.some(({ dns }) => dns === "conclusive");
  const isSilent = !conclusive && results.some(isInconclusive);
  if (!isSilent && !deps.isLost()) await secondPass({ owner, entries, results, options }, deps);
  const dnsDown = results.some(isInconclusive) && !(await deps.dnsAnswers());
  return {
    outcome: outcomeOf(entries, results),
    conclusive,
    isPostponed: isSilent || dnsDown,
    dnsDown,
  };
}

/** Ends the check of a chunk that another worker has by now. */
export class ChunkLost extends Error {}

const isInconclusive = ({ dns }: Checked): boolean => dns === "inconclusive";

async function firstPass(
  { chunk, entries, options }: FirstPass,
  { check, room, pace, conclusions, answered, ended, isLost }: ChunkDeps,
): Promise<Checked[]> {
  const results: Checked[] = [];
  const concluding = conclusions.begin(chunk, (at, heard) => {
    const result = checked(heard.conclude());
    if (heard.isAnswered) answered(result.fate);
    results[at] = result;
  });
  // By callbacks: with `await` each of thousands of entries costs twice as much.
  const askInPace = (entry: string, at: number): Promise<void> =>
    check(entry, options).then(
      (heard) => {
        pace.leave(heard.isAnswered);
        concluding.add(at, heard);
        ended();
      },
      (fault: unknown) => {
        pace.leave(false);
        throw fault;
      },
    );
  try {
    await checkAll(entries, askInPace, () => {
      if (isLost()) throw new ChunkLost();
      const turn = pace.enter();
      return turn === undefined ? room() : turn.then(room);
    });
  } finally {
    await concluding.end();
  }
  return results;
}

interface FirstPass {
  readonly chunk: ClaimedChunk;
  readonly entries: readonly string[];
  readonly options: EntryCheckOptions;
}

interface SecondPass {
  readonly owner: OwnerKey;
  readonly entries: readonly string[];
  /** Inconclusive ones are replaced in place. */
  readonly results: Checked[];
  readonly options: EntryCheckOptions;
}

async function secondPass(
  { owner, entries, results, options }: SecondPass,
  { check, again, answered }: ChunkDeps,
): Promise<void> {
  const retries = results.map(async (first, index) => {
    if (!isInconclusive(first)) return;
    const entry = entries[index] ?? "";
    const heard = await again.run(owner, () => check(entry, { ...options, again: true }));
    const result = checked(heard.conclude());
    results[index] = result;
    if (heard.isAnswered) answered(result.fate);
  });
  await Promise.all(retries);
}
