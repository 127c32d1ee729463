import type { OwnerKey } from "../../../ports/admission/owner.ts";
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

interface Ready {
  readonly at: number;
  readonly heard: Heard;
}

interface OpenChunk {
  readonly owner: OwnerKey;
  /** Of its beginning among all chunks. */
  readonly order: number;
  readonly ready: Ready[];
  readonly conclude: (at: number, heard: Heard) => void;
  /** After a fault some of its entries may still be under way. */
  isOver: boolean;
  fault: { readonly error: unknown } | undefined;
  emptied: () => void;
}

/**
 * Turns what DNS said into results, a few in each turn of the event loop. So a list's names are all asked for as early as
 * can be, and what costs CPU alone is done while its last names are waited for. One entry of each owner in turn, of its
 * oldest chunk.
 */
export class Conclusions {
  /** The chunks with entries to conclude, oldest first; the first owner is next. */
  readonly #ready = new Map<OwnerKey, OpenChunk[]>();
  #begun = 0;
  #isRunning = false;

  /** `conclude` is called once for each entry that is added. */
  begin(owner: OwnerKey, conclude: (at: number, heard: Heard) => void): Concluding {
    this.#begun += 1;
    const chunk: OpenChunk = {
      owner,
      order: this.#begun,
      ready: [],
      conclude,
      isOver: false,
      fault: undefined,
      emptied: () => undefined,
    };
    return {
      add: (at, heard) => this.#add(chunk, { at, heard }),
      end: () => end(chunk),
    };
  }

  #add(chunk: OpenChunk, ready: Ready): void {
    if (chunk.isOver) return;
    chunk.ready.push(ready);
    if (chunk.ready.length === 1) this.#enlist(chunk);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#turn());
  }

  /** Behind the owner's older chunks. */
  #enlist(chunk: OpenChunk): void {
    const chunks = this.#ready.get(chunk.owner);
    if (chunks === undefined) this.#ready.set(chunk.owner, [chunk]);
    else chunks.splice(chunks.findLastIndex(({ order }) => order < chunk.order) + 1, 0, chunk);
  }

  #turn(): void {
    for (let count = 0; count < AT_ONCE && this.#ready.size > 0; count += 1) this.#concludeNext();
    this.#isRunning = this.#ready.size > 0;
    if (this.#isRunning) setImmediate(() => this.#turn());
  }

  #concludeNext(): void {
    for (const chunks of this.#ready.values()) {
      const chunk = chunks[0];
      const next = chunk?.ready.pop();
      if (chunk === undefined || next === undefined) return;
      if (chunk.ready.length === 0) chunks.shift();
      this.#putLast(chunk.owner, chunks);
      conclude(chunk, next);
      return;
    }
  }

  #putLast(owner: OwnerKey, chunks: OpenChunk[]): void {
    if (chunks.length > 0 && this.#ready.size === 1) return;
    this.#ready.delete(owner);
    if (chunks.length > 0) this.#ready.set(owner, chunks);
  }
}

function conclude(chunk: OpenChunk, { at, heard }: Ready): void {
  try {
    chunk.conclude(at, heard);
  } catch (error) {
    chunk.fault ??= { error };
  }
  if (chunk.ready.length === 0) chunk.emptied();
}

async function end(chunk: OpenChunk): Promise<void> {
  if (chunk.ready.length > 0) await new Promise<void>((resolve) => (chunk.emptied = resolve));
  chunk.isOver = true;
  if (chunk.fault !== undefined) throw chunk.fault.error;
}
