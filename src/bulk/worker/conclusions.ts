import { CHUNK_ENTRIES } from "../../core/batch/batch-chunk.ts";
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

interface Ready {
  readonly at: number;
  readonly heard: Heard;
}

interface OpenChunk {
  readonly owner: OwnerKey;
  /** What the chunk cost its owner: entries of small lists weigh less here, too. */
  readonly turns: number;
  /** Of its beginning among all chunks. */
  readonly order: number;
  readonly ready: Ready[];
  readonly conclude: (at: number, heard: Heard) => void;
  /** After a fault some of its entries may still be under way. */
  isOver: boolean;
  fault: { readonly error: unknown } | undefined;
  emptied: () => void;
}

/** The chunks of an owner that have entries to conclude, oldest first. */
interface Line {
  readonly chunks: OpenChunk[];
  waiting: number;
  /** The weight of what was concluded for it; it starts with what others had. */
  spent: number;
}

/**
 * Turns what DNS said into results, a few in each turn of the event loop. So a list's names are all asked for as early as
 * can be, and what costs CPU alone is done while its last names are waited for. The owner with the least weight behind it is
 * next, with an entry of its oldest chunk.
 */
export class Conclusions {
  readonly #concluded: () => void;
  readonly #ready = new Map<OwnerKey, Line>();
  #waiting = 0;
  #begun = 0;
  /** Of the owner that was last. */
  #spent = 0;
  #isRunning = false;

  /** `concluded` is called after each turn in which entries were. */
  constructor(concluded: () => void = () => undefined) {
    this.#concluded = concluded;
  }

  /** Entries that wait, of each owner a chunk at most. */
  get waiting(): number {
    return this.#waiting;
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
    const line = this.#lineOf(chunk.owner);
    if (chunk.ready.length === 1) enlist(chunk, line);
    this.#count(line, 1);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#turn());
  }

  #lineOf(owner: OwnerKey): Line {
    const known = this.#ready.get(owner);
    if (known !== undefined) return known;
    const line: Line = { chunks: [], waiting: 0, spent: this.#spent };
    this.#ready.set(owner, line);
    return line;
  }

  #count(line: Line, more: number): void {
    this.#waiting -= Math.min(line.waiting, CHUNK_ENTRIES);
    line.waiting += more;
    this.#waiting += Math.min(line.waiting, CHUNK_ENTRIES);
  }

  #turn(): void {
    for (let count = 0; count < AT_ONCE && this.#ready.size > 0; count += 1) this.#concludeNext();
    this.#isRunning = this.#ready.size > 0;
    if (this.#isRunning) setImmediate(() => this.#turn());
    this.#concluded();
  }

  #concludeNext(): void {
    const line = this.#next();
    const chunk = line?.chunks[0];
    const next = chunk?.ready.pop();
    if (line === undefined || chunk === undefined || next === undefined) return;
    if (chunk.ready.length === 0) line.chunks.shift();
    this.#count(line, -1);
    this.#spent = line.spent;
    line.spent += chunk.turns * next.heard.weight;
    if (line.waiting === 0) this.#ready.delete(chunk.owner);
    conclude(chunk, next);
  }

  #next(): Line | undefined {
    let next: Line | undefined;
    for (const line of this.#ready.values()) {
      if (next === undefined || line.spent < next.spent) next = line;
    }
    return next;
  }
}

/** Behind the owner's older chunks. */
function enlist(chunk: OpenChunk, { chunks }: Line): void {
  chunks.splice(chunks.findLastIndex(({ order }) => order < chunk.order) + 1, 0, chunk);
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
