import { chunkEntries, unpackChunk } from "../../core/batch/batch-chunk.ts";
import type { ChunkOutcome } from "../../ports/bulk/batches.ts";
import type { Checkpoint } from "../../ports/bulk/checkpoint.ts";
import type { ClaimedChunk } from "../../ports/bulk/chunk-queue.ts";
import type { OwnEvidence } from "../evidence/own-spellings.ts";
import {
  type EntryCheck,
  type Checked,
  checked,
  type EntryCheckOptions,
  outcomeOf,
} from "./entry-check.ts";
import type { Places } from "../../ports/process/places.ts";
import { startChecks } from "./start-checks.ts";

export interface ChunkDeps {
  /** On the bulk lane. */
  readonly check: EntryCheck;
  /** Undefined while the resolver accepts questions; otherwise resolves when it does. */
  readonly room: () => Promise<void> | undefined;
  /** Whether DNS answers at all. */
  readonly dnsAnswers: () => Promise<boolean>;
  /** Limits the second pass of all running chunks together. */
  readonly again: Places;
  readonly checkpoint: Checkpoint;
  /** Absent when no account has its traffic counted. */
  readonly ownEvidence?: OwnEvidence;
}

export interface CheckedChunk {
  readonly outcome: ChunkOutcome;
  /** DNS answered for at least one entry. */
  readonly conclusive: boolean;
  /** DNS seems to be down: check the chunk again later. */
  readonly dnsDown: boolean;
}

/**
 * Checks the entries of a chunk, then once more those that DNS did not answer for: of 100,000 live names, some
 * lose every try to packet loss.
 */
export async function processChunk(chunk: ClaimedChunk, deps: ChunkDeps): Promise<CheckedChunk> {
  const entries = chunkEntries(unpackChunk(chunk.content));
  const options = await optionsOf(chunk, entries, deps);
  const results = await firstPass(entries, options, deps);
  const conclusive = results.some(({ dns }) => dns === "conclusive");
  let dnsDown = !conclusive && results.some(isInconclusive);
  if (!dnsDown) {
    await secondPass({ entries, results, options }, deps);
    dnsDown = results.some(isInconclusive) && !(await deps.dnsAnswers());
  }
  return { outcome: outcomeOf(entries, results), conclusive, dnsDown };
}

async function optionsOf(
  { spamTrap, countedFor }: ClaimedChunk,
  entries: readonly string[],
  { ownEvidence }: ChunkDeps,
): Promise<EntryCheckOptions> {
  if (countedFor === undefined || ownEvidence === undefined) return { spamTrap };
  return { spamTrap, ownEvidence: await ownEvidence(countedFor, entries) };
}

const isInconclusive = ({ dns }: Checked): boolean => dns === "inconclusive";

async function firstPass(
  entries: readonly string[],
  options: EntryCheckOptions,
  { check, room, checkpoint }: ChunkDeps,
): Promise<Checked[]> {
  const started = await startChecks(entries, (entry) => check(entry, options).then(checked), room);
  checkpoint("mid_chunk");
  return Promise.all(started);
}

interface FirstPass {
  readonly entries: readonly string[];
  /** The second pass replaces inconclusive results in place. */
  readonly results: Checked[];
  readonly options: EntryCheckOptions;
}

async function secondPass(
  { entries, results, options }: FirstPass,
  { check, again }: ChunkDeps,
): Promise<void> {
  const retries = results.map(async (first, index) => {
    if (!isInconclusive(first)) return;
    const entry = entries[index] ?? "";
    const result = await again.hold(() => check(entry, { ...options, again: true }));
    results[index] = checked(result);
  });
  await Promise.all(retries);
}
