import type { OwnerKey } from "../../base/owner.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import { mostUnderWay, provenAfter } from "../../base/list-limiter.ts";

/** A queue this short is refilled: long enough that places never stay empty, short enough to be cheap. */
const SHORT_QUEUE = 256;

/** In one turn of the event loop, about 0.5 ms. Without it a thousand premium checks made turns of 40 ms. */
export const QUESTIONS_PER_ITERATION = 16;

/** What a question costs that gets no answer: it keeps its place some fifty times as long as another. */
const SILENT_COST = 50;

/** Retries of an owner go before its first tries. */
const RETRY = 0;
const FIRST_TRY = 1;

/** The program's own questions. */
const NOBODY: OwnerKey = "";

interface Asked {
  readonly by?: OwnerKey | undefined;
}

interface LaneTerms<T> {
  readonly start: (item: T) => void;
  /** How many items may be under way. */
  readonly size: () => number;
  /** Places that other lanes use too. */
  readonly cap?: { take(): boolean; giveBack(): void };
  readonly perTurn?: number;
}

interface OwnerPlaces {
  open: number;
  underWay: number;
  /** Of its items that are over, answered ones count for it and others against it. */
  proven: number;
}

/**
 * Starts items in turn of their owners, who have no more under way than their answers have earned: else 1,000 silent
 * names of one make all others wait for 2 s.
 */
export class Lane<T extends Asked> {
  readonly #queue = new FairQueue<T>();
  readonly #owners = new Map<OwnerKey, OwnerPlaces>();
  readonly #terms: LaneTerms<T>;
  readonly #perTurn: number;
  #underWay = 0;
  #startedInTurn = 0;
  #isPumping = false;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(terms: LaneTerms<T>) {
    this.#terms = terms;
    this.#perTurn = terms.perTurn ?? Infinity;
  }

  get underWay(): number {
    return this.#underWay;
  }

  queuedOf(owner: OwnerKey): number {
    return this.#queue.lengthOf(owner);
  }

  room(): Promise<void> | undefined {
    if (this.#queue.length < SHORT_QUEUE) return undefined;
    if (this.#room === undefined) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((fulfil) => (resolve = fulfil));
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  /** `over` ends what this begins. */
  add(item: T): void {
    this.#placesOf(item).open += 1;
    this.#push(item, FIRST_TRY);
  }

  retry(item: T): void {
    this.#push(item, RETRY);
  }

  over(item: T, answered: boolean): void {
    const places = this.#placesOf(item);
    places.open -= 1;
    places.proven = provenAfter(answered, places.proven, this.#terms.size());
    if (!answered) this.#queue.charge(item.by ?? NOBODY, SILENT_COST);
    this.#forget(item, places);
  }

  /** Gives the place back in which an item of this owner was started. */
  release(item: Asked): void {
    this.#giveBack();
    const places = this.#placesOf(item);
    places.underWay -= 1;
    this.#forget(item, places);
    this.pump();
  }

  /** Starts what there is room for. A start that adds or releases is served by the loop already running. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#startedInTurn < this.#perTurn && this.#queue.length > 0 && this.#take()) {
      const next = this.#queue.next(this.#mayStart);
      if (next === undefined) {
        this.#giveBack();
        break;
      }
      this.#placesOf(next.item).underWay += 1;
      this.#countStart();
      this.#terms.start(next.item);
    }
    this.#isPumping = false;
    if (this.#room === undefined || this.#queue.length >= SHORT_QUEUE / 2) return;
    this.#room.resolve();
    this.#room = undefined;
  }

  #push(item: T, rank: number): void {
    this.#queue.push(item.by ?? NOBODY, item, 1, rank);
    this.pump();
  }

  #take(): boolean {
    const { size, cap } = this.#terms;
    if (this.#underWay >= size() || cap?.take() === false) return false;
    this.#underWay += 1;
    return true;
  }

  #giveBack(): void {
    this.#underWay -= 1;
    this.#terms.cap?.giveBack();
  }

  #countStart(): void {
    if (this.#perTurn === Infinity) return;
    if (this.#startedInTurn === 0) {
      setImmediate(() => {
        this.#startedInTurn = 0;
        this.pump();
      });
    }
    this.#startedInTurn += 1;
  }

  readonly #mayStart = (owner: OwnerKey): boolean => {
    if (owner === NOBODY) return true;
    const { underWay = 0, proven = 0 } = this.#owners.get(owner) ?? {};
    const window = this.#terms.size();
    return underWay < mostUnderWay(proven, { window, owners: this.#owners.size });
  };

  #placesOf({ by = NOBODY }: Asked): OwnerPlaces {
    const known = this.#owners.get(by);
    if (known !== undefined) return known;
    const made = { open: 0, underWay: 0, proven: 0 };
    this.#owners.set(by, made);
    return made;
  }

  #forget({ by = NOBODY }: Asked, { open, underWay }: OwnerPlaces): void {
    if (open <= 0 && underWay <= 0) this.#owners.delete(by);
  }
}
