import { CHUNK_ENTRIES } from "../../core/batch/batch-chunk.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { ClaimedChunk } from "../chunk-queue.ts";
import type { Heard } from "./entry-check.ts";

/** In one turn of the event loop: some 20 names begin in it, and those come first. */
const AT_ONCE = 8;

/** The entries of one chunk. */
export interface Concluding {
  /** DNS was asked for the entry at `at`. */
  add(at: number, heard: Heard): void;
  /** Resolves when all that were added are concluded; rejects with the first fault. No more are added. */
  end(): Promise<void>;
}

interface OpenChunk {
  readonly owner: OwnerKey;
  /** What the chunk cost its owner: entries of small lists weigh less here, too. */
  readonly turns: number;
  /** Of its beginning among all chunks. */
  readonly order: number;
  readonly conclude: (at: number, heard: Heard) => void;
  /** Entries that wait. */
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

/**
 * Turns what DNS said into results, a few in each turn of the event loop. So a list's names are all asked for as early as
 * can be, and what costs CPU alone is done while its last names are waited for. Owners are served in turn, each with the
 * entries of its oldest chunk first.
 */
export class Conclusions {
  readonly #concluded: () => void;
  readonly #ready = new FairQueue<Ready>(CHUNK_ENTRIES);
  #begun = 0;
  #isRunning = false;

  /** `concluded` is called after each turn in which entries were. */
  constructor(concluded: () => void = () => undefined) {
    this.#concluded = concluded;
  }

  /** Entries that wait, of each owner a chunk at most. */
  get waiting(): number {
    return this.#ready.length;
  }

  /** `conclude` is called once for each entry that is added. */
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
