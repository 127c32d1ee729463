import { FairQueue } from "../../base/fair-queue.ts";
import type { Pace } from "../../base/owner-paces.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { Share } from "../../base/shares.ts";
import {
  CHUNK_ENTRIES,
  type Fate,
  chunkEntries,
  fateOf,
  tally,
  unpackChunk,
} from "../../core/batch/batch-chunk.ts";
import { type FullResult, isInconclusive } from "../../core/validate/result.ts";
import type { ChunkOutcome } from "../batches-store.ts";
import type { ClaimedChunk } from "../chunk-queue.ts";

export interface EntryCheckOptions {
  readonly spamTrap: boolean;
  /** The first answer was inconclusive: ask DNS once more, without the cache. */
  readonly again?: true;
  readonly by?: OwnerKey;
}

/** An entry for which DNS was asked. Thousands wait for their conclusion: it weighs less than the result. */
export interface Heard {
  /** DNS said something, or was not asked. */
  readonly isAnswered: boolean;
  /** About what its conclusion costs and its result weighs, in multiples of the least. */
  readonly weight: number;
  /** The result; it costs more CPU than the question. To be called once; throws for a fault only. */
  conclude(): FullResult;
}

/** Core checks of one entry, its type inferred. Rejects for a fault only. */
export type EntryCheck = (entry: string, options: EntryCheckOptions) => Promise<Heard>;

/** Whether DNS was asked, and whether anybody could say. */
type DnsOutcome = "conclusive" | "inconclusive" | "not_asked";

/** What is kept of a result, which is four times as large: thousands wait for the slowest of their chunk. */
interface Checked {
  readonly text: string;
  readonly fate: Fate;
  readonly dns: DnsOutcome;
}

export const checked = (result: FullResult): Checked => ({
  text: JSON.stringify(result),
  fate: fateOf(result),
  dns: dnsOutcome(result),
});

function dnsOutcome(result: FullResult): DnsOutcome {
  if (!result.format || result.signals.includes("special_use_domain")) return "not_asked";
  return isInconclusive(result) ? "inconclusive" : "conclusive";
}

export function outcomeOf(entries: readonly string[], results: readonly Checked[]): ChunkOutcome {
  return {
    results: results.map(({ text }) => text),
    valid: entries.filter((_, index) => results[index]?.fate === "valid"),
    tally: tally(results.map(({ fate }) => fate)),
  };
}

/** Runs `check` on each item as `room` allows; rejects with the first fault once all have begun. */
export async function checkAll<Item, Result>(
  items: readonly Item[],
  check: (item: Item, at: number) => Promise<Result>,
  room: () => Promise<void> | undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  let open = items.length;
  let resolve = (): void => undefined;
  let reject: (fault: unknown) => void = () => undefined;
  // One promise for all of them, because a list has thousands under way.
  const ended = new Promise<void>((...settle) => ([resolve, reject] = settle));
  ended.catch(() => undefined); // an unhandled rejection would end the process
  if (open === 0) resolve();
  for (const [at, item] of items.entries()) {
    const wait = room();
    if (wait !== undefined) await wait;
    check(item, at).then((result) => {
      results[at] = result;
      open -= 1;
      if (open === 0) resolve();
    }, reject);
  }
  await ended;
  return results;
}

/** In one turn of the event loop: some 20 names begin in it, and those come first. */
const AT_ONCE = 8;

interface Concluding {
  add(at: number, heard: Heard): void;
  end(): Promise<void>;
}

interface OpenChunk {
  readonly owner: OwnerKey;
  /** What the chunk cost its owner: entries of small lists weigh less here, too. */
  readonly turns: number;
  readonly order: number;
  readonly conclude: (at: number, heard: Heard) => void;
  waiting: number;
  /** After a fault some of its entries may still be under way. */
  isOver: boolean;
  fault: { readonly error: unknown } | undefined;
  emptied: () => void;
}

interface Ready {
  readonly chunk: OpenChunk;
  readonly at: number;
  readonly heard: Heard;
}

/** Turns what DNS said into results, a few in each turn, while last names are waited for; owners in turn, oldest chunk first. */
export class Conclusions {
  readonly #concluded: () => void;
  readonly #ready = new FairQueue<Ready>(CHUNK_ENTRIES);
  #begun = 0;
  #isRunning = false;

  constructor(concluded: () => void = () => undefined) {
    this.#concluded = concluded;
  }

  /** Entries that wait, of each owner a chunk at most. */
  get waiting(): number {
    return this.#ready.length;
  }

  begin(
    { owner, turns }: Pick<ClaimedChunk, "owner" | "turns">,
    conclude: (at: number, heard: Heard) => void,
  ): Concluding {
    this.#begun += 1;
    const chunk: OpenChunk = {
      owner,
      turns,
      order: this.#begun,
      conclude,
      waiting: 0,
      isOver: false,
      fault: undefined,
      emptied: () => undefined,
    };
    return {
      add: (at, heard) => this.#add({ chunk, at, heard }),
      end: () => end(chunk),
    };
  }

  #add(ready: Ready): void {
    const { chunk, heard } = ready;
    if (chunk.isOver) return;
    chunk.waiting += 1;
    this.#ready.push(chunk.owner, ready, chunk.turns * heard.weight, chunk.order);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    for (let count = 0; count < AT_ONCE; count += 1) {
      const next = this.#ready.next();
      if (next !== undefined) conclude(next.item);
    }
    this.#isRunning = this.#ready.length > 0;
    if (this.#isRunning) setImmediate(() => this.#turn());
    this.#concluded();
  }
}

function conclude({ chunk, at, heard }: Ready): void {
  chunk.waiting -= 1;
  try {
    chunk.conclude(at, heard);
  } catch (error) {
    chunk.fault ??= { error };
  }
  if (chunk.waiting === 0) chunk.emptied();
}

async function end(chunk: OpenChunk): Promise<void> {
  if (chunk.waiting > 0) await new Promise<void>((resolve) => (chunk.emptied = resolve));
  chunk.isOver = true;
  if (chunk.fault !== undefined) throw chunk.fault.error;
}

export interface ChunkDeps {
  readonly check: EntryCheck;
  /** Undefined while the resolver accepts questions; otherwise resolves when it does. */
  readonly room: () => Promise<void> | undefined;
  readonly dnsAnswers: () => Promise<boolean>;
  /** For the second passes of all chunks, each owner in turn. */
  readonly again: Share;
  readonly pace: Pace;
  /** Called for each entry that DNS answered for, as soon as its result is there, and at most once. */
  readonly answered: (fate: Fate) => void;
  readonly conclusions: Conclusions;
  /** The chunk is another worker's by now: what is left of it is not asked for. */
  readonly isLost: () => boolean;
  readonly ended: () => void;
}

export interface CheckedChunk {
  readonly outcome: ChunkOutcome;
  readonly conclusive: boolean;
  /** Check the chunk again later: DNS is down, or answered nothing of it. */
  readonly isPostponed: boolean;
  /** Not even well-known names are answered. One owner's chunk never decides that. */
  readonly dnsDown: boolean;
}

/** Asks once more for names without an answer: of 100,000 live ones, some lose every try to packet loss. */
export async function processChunk(chunk: ClaimedChunk, deps: ChunkDeps): Promise<CheckedChunk> {
  const entries = chunkEntries(unpackChunk(chunk.content));
  const options = { spamTrap: chunk.spamTrap };
  const { owner } = chunk;
  const results = await firstPass({ chunk, entries, options }, deps);
  const conclusive = results.some(({ dns }) => dns === "conclusive");
  const isSilent = !conclusive && results.some(isOpen);
  if (!isSilent && !deps.isLost()) await secondPass({ owner, entries, results, options }, deps);
  const dnsDown = results.some(isOpen) && !(await deps.dnsAnswers());
  return {
    outcome: outcomeOf(entries, results),
    conclusive,
    isPostponed: isSilent || dnsDown,
    dnsDown,
  };
}

export class ChunkLost extends Error {}

const isOpen = ({ dns }: Checked): boolean => dns === "inconclusive";

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
    if (!isOpen(first)) return;
    const entry = entries[index] ?? "";
    const heard = await again.run(owner, () => check(entry, { ...options, again: true }));
    const result = checked(heard.conclude());
    results[index] = result;
    if (heard.isAnswered) answered(result.fate);
  });
  await Promise.all(retries);
}
