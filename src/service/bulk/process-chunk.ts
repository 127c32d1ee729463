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

export interface ChunkDeps {
  /** On the bulk lane. */
  readonly check: EntryCheck;
  /** Undefined while the resolver takes questions, else a promise of that. */
  readonly room: () => Promise<void> | undefined;
  /** Whether DNS gives any answer at all just now. */
  readonly dnsAnswers: () => Promise<boolean>;
  /** For the second pass, shared by all chunks under way. */
  readonly again: Places;
  readonly checkpoint: Checkpoint;
  /** Absent: no account has its traffic counted. */
  readonly ownEvidence?: OwnEvidence;
}

export interface CheckedChunk {
  readonly outcome: ChunkOutcome;
  /** DNS answered for some of it. */
  readonly conclusive: boolean;
  /** DNS seems to be down: rather ask again later. */
  readonly dnsDown: boolean;
}

/**
 * Judges the entries of a chunk, then once more those that nobody could say anything of: of 100,000 live
 * names some lose all their tries to chance.
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
  const open: Promise<Checked>[] = [];
  for (const entry of entries) {
    const wait = room();
    if (wait !== undefined) await wait;
    open.push(check(entry, options).then(checked));
  }
  checkpoint("mid_chunk");
  return Promise.all(open);
}

interface FirstPass {
  readonly entries: readonly string[];
  /** Replaced where the second pass knows more. */
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
