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
  /** Their chunks, oldest first; the first owner is next. */
  readonly #owners = new Map<OwnerKey, OpenChunk[]>();
  #waiting = 0;
  #isRunning = false;

  /** `conclude` is called once for each entry that is added. */
  begin(owner: OwnerKey, conclude: (at: number, heard: Heard) => void): Concluding {
    const chunk: OpenChunk = {
      ready: [],
      conclude,
      isOver: false,
      fault: undefined,
      emptied: () => undefined,
    };
    const chunks = this.#owners.get(owner);
    if (chunks === undefined) this.#owners.set(owner, [chunk]);
    else chunks.push(chunk);
    return {
      add: (at, heard) => this.#add(chunk, { at, heard }),
      end: () => this.#end(owner, chunk),
    };
  }

  #add(chunk: OpenChunk, ready: Ready): void {
    if (chunk.isOver) return;
    chunk.ready.push(ready);
    this.#waiting += 1;
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#turn());
  }

  async #end(owner: OwnerKey, chunk: OpenChunk): Promise<void> {
    if (chunk.ready.length > 0) await new Promise<void>((resolve) => (chunk.emptied = resolve));
    chunk.isOver = true;
    const others = this.#owners.get(owner)?.filter((other) => other !== chunk) ?? [];
    if (others.length > 0) this.#owners.set(owner, others);
    else this.#owners.delete(owner);
    if (chunk.fault !== undefined) throw chunk.fault.error;
  }

  #turn(): void {
    for (let count = 0; count < AT_ONCE && this.#waiting > 0; count += 1) this.#concludeNext();
    this.#isRunning = this.#waiting > 0;
    if (this.#isRunning) setImmediate(() => this.#turn());
  }

  #concludeNext(): void {
    for (const [owner, chunks] of this.#owners) {
      const chunk = chunks.find(({ ready }) => ready.length > 0);
      if (chunk === undefined) continue;
      // Behind all others.
      this.#owners.delete(owner);
      this.#owners.set(owner, chunks);
      this.#conclude(chunk);
      return;
    }
  }

  #conclude(chunk: OpenChunk): void {
    const next = chunk.ready.pop();
    if (next === undefined) return;
    this.#waiting -= 1;
    try {
      chunk.conclude(next.at, next.heard);
    } catch (error) {
      chunk.fault ??= { error };
    }
    if (chunk.ready.length === 0) chunk.emptied();
  }
}
