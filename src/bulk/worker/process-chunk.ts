import { FairQueue } from "../../base/fair-queue.ts";
import type { ChunkLimiter } from "../../base/list-limiter.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { Share } from "../../base/shares.ts";
import {
  CHUNK_ENTRIES,
  type EntryClass,
  chunkEntries,
  entryClassOf,
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

/** An entry for which DNS was asked. Thousands wait for their result to be computed, and this weighs less. */
export interface EntryAnswer {
  /** DNS said something, or was not asked. */
  readonly isAnswered: boolean;
  /** About what its result costs to compute and weighs, in multiples of the least. */
  readonly weight: number;
  /** The result; it costs more CPU than the question. To be called once; throws for a fault only. */
  result(): FullResult;
}

/** Core checks of one entry, its type inferred. Rejects for a fault only. */
export type EntryCheck = (entry: string, options: EntryCheckOptions) => Promise<EntryAnswer>;

/** Whether DNS was asked, and whether anybody could say. */
type DnsOutcome = "conclusive" | "inconclusive" | "not_asked";

/** What is kept of a result, which is four times as large: thousands wait for the slowest of their chunk. */
interface CheckedText {
  readonly text: string;
  readonly kind: EntryClass;
  readonly dns: DnsOutcome;
}

export const checked = (result: FullResult): CheckedText => ({
  text: JSON.stringify(result),
  kind: entryClassOf(result),
  dns: dnsOutcome(result),
});

function dnsOutcome(result: FullResult): DnsOutcome {
  if (!result.format || result.signals.includes("special_use_domain")) return "not_asked";
  return isInconclusive(result) ? "inconclusive" : "conclusive";
}

export function outcomeOf(
  entries: readonly string[],
  results: readonly CheckedText[],
): ChunkOutcome {
  return {
    results: results.map(({ text }) => text),
    valid: entries.filter((_, index) => results[index]?.kind === "valid"),
    tally: tally(results.map(({ kind }) => kind)),
  };
}

/** Runs `check` on each item as `room` allows; rejects with the first fault once all have ended. */
export async function checkAll<Item, Result>(
  items: readonly Item[],
  check: (item: Item, at: number) => Promise<Result>,
  room: () => Promise<void> | undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  const faults: unknown[] = [];
  let open = items.length;
  let allEnded = (): void => undefined;
  // One promise for all of them, because a list has thousands under way.
  const ended = new Promise<void>((resolve) => (allEnded = resolve));
  const end = (): void => {
    open -= 1;
    if (open === 0) allEnded();
  };
  for (const [at, item] of items.entries()) {
    const wait = room();
    if (wait !== undefined) await wait;
    check(item, at).then(
      (result) => {
        results[at] = result;
        end();
      },
      (fault: unknown) => {
        faults.push(fault);
        end();
      },
    );
  }
  if (items.length > 0) await ended;
  if (faults.length > 0) throw faults[0];
  return results;
}

/** In one turn of the event loop: some 20 names begin in it, and those come first. */
const AT_ONCE = 8;

/** Owners' turns to compute results of what DNS said, while last names are waited for; an owner's oldest chunk first. */
export class ResultQueue {
  readonly #computed: () => void;
  readonly #ready = new FairQueue<() => void>(CHUNK_ENTRIES);
  #begun = 0;
  #isRunning = false;

  constructor(computed: () => void = () => undefined) {
    this.#computed = computed;
  }

  /** Entries that wait, of each owner a chunk at most. */
  get waiting(): number {
    return this.#ready.length;
  }

  /** Gives an entry of the chunk its turn. Entries of small lists weigh less here, too. */
  begin({
    owner,
    turns,
  }: Pick<ClaimedChunk, "owner" | "turns">): (weight: number) => Promise<void> {
    this.#begun += 1;
    const order = this.#begun;
    return (weight) =>
      new Promise((resolve) => {
        this.#ready.push(owner, resolve, turns * weight, order);
        if (this.#isRunning) return;
        this.#isRunning = true;
        setImmediate(() => this.#computeSome());
      });
  }

  #computeSome(): void {
    for (let count = 0; count < AT_ONCE; count += 1) this.#ready.next()?.item();
    this.#isRunning = this.#ready.length > 0;
    if (this.#isRunning) setImmediate(() => this.#computeSome());
    this.#computed();
  }
}

export interface ChunkDeps {
  readonly check: EntryCheck;
  /** Undefined while the resolver accepts questions; otherwise resolves when it does. */
  readonly room: () => Promise<void> | undefined;
  readonly dnsAnswers: () => Promise<boolean>;
  /** For the second passes of all chunks, each owner in turn. */
  readonly again: Share;
  readonly limiter: ChunkLimiter;
  /** Called for each entry that DNS answered for, as soon as its result is there, and at most once. */
  readonly answered: (kind: EntryClass) => void;
  readonly resultQueue: ResultQueue;
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

export class ChunkLost extends Error {}

const isOpen = ({ dns }: CheckedText): boolean => dns === "inconclusive";

/** Asks once more for names without an answer: of 100,000 live ones, some lose every try to packet loss. */
export async function processChunk(chunk: ClaimedChunk, deps: ChunkDeps): Promise<CheckedChunk> {
  const { check, room, again, limiter, resultQueue, answered, isLost, ended } = deps;
  const entries = chunkEntries(unpackChunk(chunk.content));
  const options = { spamTrap: chunk.spamTrap };
  const resultOf = (answer: EntryAnswer): CheckedText => {
    const result = checked(answer.result());
    if (answer.isAnswered) answered(result.kind);
    return result;
  };
  const waitForTurn = resultQueue.begin(chunk);
  // By callbacks: with `await` each of thousands of entries costs twice as much.
  const ask = (entry: string): Promise<CheckedText> =>
    check(entry, options).then(
      (answer) => {
        limiter.leave(answer.isAnswered);
        ended();
        return waitForTurn(answer.weight).then(() => resultOf(answer));
      },
      (fault: unknown) => {
        limiter.leave(false);
        throw fault;
      },
    );
  const results = await checkAll(entries, ask, () => {
    if (isLost()) throw new ChunkLost();
    const turn = limiter.enter();
    return turn === undefined ? room() : turn.then(room);
  });
  const conclusive = results.some(({ dns }) => dns === "conclusive");
  const isSilent = !conclusive && results.some(isOpen);
  if (!isSilent && !isLost()) {
    const retries = results.map(async (first, at) => {
      if (!isOpen(first)) return;
      const entry = entries[at] ?? "";
      const asked = again.run(chunk.owner, () => check(entry, { ...options, again: true }));
      results[at] = resultOf(await asked);
    });
    await Promise.all(retries);
  }
  const dnsDown = results.some(isOpen) && !(await deps.dnsAnswers());
  return {
    outcome: outcomeOf(entries, results),
    conclusive,
    isPostponed: isSilent || dnsDown,
    dnsDown,
  };
}
