import type { OwnerKey } from "./owner.ts";

/** Names of an owner that may be under way before DNS has answered any: a part of the window. */
const UNPROVEN_PART = 1 / 8;
const UNPROVEN_LEAST = 4;

/** The part of the window that all such names together may hold; beyond it each owner has the least. */
const ALL_UNPROVEN_PART = 1 / 2;

/** A silent name holds its place fifty times as long; those of a list's first second end together. */
const SILENT_COST = 4;

interface OwnerState {
  chunks: number;
  underWay: number;
  /** Names that DNS answered, less four times those that it did not. */
  proven: number;
}

/** An owner has a part of the window, and as many more as DNS has answered: a list of silent names cannot fill it. */
export class ListLimiter {
  readonly #readWindow: () => number;
  /** As it was read with the last name, for all owners are looked at for each. */
  #window: number;
  readonly #owners = new Map<OwnerKey, OwnerState>();
  /** Names under way beyond what DNS answered for their owners. */
  #unproven = 0;

  constructor(window: () => number) {
    this.#readWindow = window;
    this.#window = window();
  }

  get owners(): ReadonlyMap<OwnerKey, unknown> {
    return this.#owners;
  }

  addChunk(owner: OwnerKey): void {
    const state = this.#owners.get(owner);
    if (state === undefined) this.#owners.set(owner, { chunks: 1, underWay: 0, proven: 0 });
    else state.chunks += 1;
  }

  /** None of its names is under way any more. */
  removeChunk(owner: OwnerKey): void {
    const state = this.#owners.get(owner);
    if (state === undefined) return;
    state.chunks -= 1;
    if (state.chunks === 0) this.#owners.delete(owner);
  }

  most(owner: OwnerKey): number {
    const window = this.#window;
    const proven = this.#owners.get(owner)?.proven ?? 0;
    if (this.#unproven >= window * ALL_UNPROVEN_PART) {
      return UNPROVEN_LEAST + Math.min(proven, window);
    }
    return mostUnderWay(proven, { window, owners: this.#owners.size });
  }

  mayBegin(owner: OwnerKey): boolean {
    return (this.#owners.get(owner)?.underWay ?? 0) < this.most(owner);
  }

  begin(owner: OwnerKey): void {
    this.#change(owner, (state) => void (state.underWay += 1));
  }

  end(owner: OwnerKey, isAnswered: boolean): void {
    this.#window = this.#readWindow();
    this.#change(owner, (state) => {
      state.underWay -= 1;
      state.proven = provenAfter(isAnswered, state.proven, this.#window);
    });
  }

  #change(owner: OwnerKey, change: (state: OwnerState) => void): void {
    const state = this.#owners.get(owner);
    if (state === undefined) return;
    this.#unproven -= unprovenOf(state);
    change(state);
    this.#unproven += unprovenOf(state);
  }
}

const unprovenOf = ({ underWay, proven }: OwnerState): number => Math.max(0, underWay - proven);

function mostUnderWay(
  proven: number,
  { window, owners }: { readonly window: number; readonly owners: number },
): number {
  const part = Math.min(UNPROVEN_PART, 1 / (owners + 1));
  return Math.max(UNPROVEN_LEAST, Math.floor(window * part)) + Math.min(proven, window);
}

/** What an owner has proven once another of its names has ended. */
const provenAfter = (answered: boolean, proven: number, window: number): number =>
  Math.min(Math.max(0, proven + (answered ? 1 : -SILENT_COST)), window * SILENT_COST);
