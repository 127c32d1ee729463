import type { OwnerKey } from "../../base/owner.ts";
import { FairQueue } from "../../base/fair-queue.ts";

/** Questions that wait for all owners together: enough that places never stay empty, few enough to be cheap. */
const SHORT_QUEUE = 256;
const SHORT_QUEUE_OF_OWNER = 8;

/** In one turn of the event loop, about 0.5 ms. Without it a thousand premium checks made turns of 40 ms. */
export const QUESTIONS_PER_ITERATION = 16;

/** What a question costs that gets no answer: it keeps its place some fifty times as long as another. */
const SILENT_COST = 50;

/** Such a question takes back what so many answers have earned; those of a list's first second end together. */
const SILENT_ANSWERS = 4;

/** The part of the window that an owner has before DNS has answered anything. */
const UNPROVEN_PART = 1 / 8;
const UNPROVEN_LEAST = 4;

/** The part of the window that all such questions together may hold; beyond it each owner has the least. */
const ALL_UNPROVEN_PART = 1 / 2;

const RETRY = 0;
const FIRST_TRY = 1;

const NOBODY: OwnerKey = "";

interface Asked {
  readonly by?: OwnerKey | undefined;
}

interface LaneTerms<T> {
  readonly start: (item: T) => void;
  readonly size: () => number;
  readonly cap?: { take(): boolean; giveBack(): void };
  readonly perTurn?: number;
}

interface Answers {
  open: number;
  /** Items of the owner that were answered, less four times those that were not. */
  proven: number;
}

/** Starts items in turn of owners, who have no more under way than their answers earned: else silent names block all. */
export class Lane<T extends Asked> {
  readonly #queue: FairQueue<T>;
  readonly #answers = new Map<OwnerKey, Answers>();
  readonly #rooms = new Map<OwnerKey, Room>();
  readonly #terms: LaneTerms<T>;
  #unproven = 0;
  #startedInTurn = 0;
  #isPumping = false;

  constructor(terms: LaneTerms<T>) {
    this.#terms = terms;
    const perOwner = (owner: OwnerKey): number => this.#mostOf(owner);
    this.#queue = new FairQueue({ total: terms.size, perOwner });
  }

  get underWay(): number {
    return this.#queue.used;
  }

  queuedOf(owner: OwnerKey): number {
    return this.#queue.lengthOf(owner);
  }

  /** Undefined while few questions of the owner wait, else a promise of that. */
  room(owner = NOBODY): Promise<void> | undefined {
    if (!this.#isFull(owner)) return undefined;
    const known = this.#rooms.get(owner);
    if (known !== undefined) return known.promise;
    let resolve = (): void => undefined;
    const promise = new Promise<void>((fulfil) => (resolve = fulfil));
    this.#rooms.set(owner, { promise, resolve });
    return promise;
  }

  add(item: T): void {
    this.#answersOf(item).open += 1;
    this.#push(item, FIRST_TRY);
  }

  retry(item: T): void {
    this.#push(item, RETRY);
  }

  over(item: T, isAnswered: boolean): void {
    const owner = ownerOf(item);
    const answers = this.#answersOf(item);
    this.#unproven -= this.#unprovenOf(owner);
    answers.open -= 1;
    const proven = Math.max(0, answers.proven + (isAnswered ? 1 : -SILENT_ANSWERS));
    answers.proven = Math.min(proven, this.#terms.size() * SILENT_ANSWERS);
    if (answers.open <= 0) this.#answers.delete(owner);
    this.#unproven += this.#unprovenOf(owner);
    if (!isAnswered) this.#queue.charge(owner, SILENT_COST);
  }

  release(item: Asked): void {
    const owner = ownerOf(item);
    this.#terms.cap?.giveBack();
    this.#unproven -= this.#unprovenOf(owner);
    this.#queue.release(owner);
    this.#unproven += this.#unprovenOf(owner);
    this.pump();
  }

  /** Starts what there is room for. A start that adds or releases is served by the loop already running. */
  pump(): void {
    if (this.#isPumping) return;
    const { start, cap, perTurn = Infinity } = this.#terms;
    this.#isPumping = true;
    while (this.#startedInTurn < perTurn && this.#queue.length > 0 && cap?.take() !== false) {
      const next = this.#queue.next();
      if (next === undefined) {
        cap?.giveBack();
        break;
      }
      const owner = ownerOf(next.item);
      if (owner !== NOBODY && this.#queue.usedBy(owner) > this.#provenOf(owner))
        this.#unproven += 1;
      if (perTurn !== Infinity) this.#countStart();
      start(next.item);
      this.#tellRoom(owner);
    }
    this.#isPumping = false;
  }

  #push(item: T, rank: number): void {
    this.#queue.push(ownerOf(item), item, { rank });
    this.pump();
  }

  #countStart(): void {
    if (this.#startedInTurn === 0) {
      setImmediate(() => {
        this.#startedInTurn = 0;
        this.pump();
      });
    }
    this.#startedInTurn += 1;
  }

  #mostOf(owner: OwnerKey): number {
    if (owner === NOBODY) return Infinity;
    const window = this.#terms.size();
    const isCrowded = this.#unproven >= window * ALL_UNPROVEN_PART;
    const part = isCrowded ? 0 : Math.min(UNPROVEN_PART, 1 / (this.#answers.size + 1));
    const least = Math.max(UNPROVEN_LEAST, Math.floor(window * part));
    return least + Math.min(this.#provenOf(owner), window);
  }

  #provenOf(owner: OwnerKey): number {
    return this.#answers.get(owner)?.proven ?? 0;
  }

  #unprovenOf(owner: OwnerKey): number {
    return owner === NOBODY ? 0 : Math.max(0, this.#queue.usedBy(owner) - this.#provenOf(owner));
  }

  #isFull(owner: OwnerKey): boolean {
    const part = Math.floor(SHORT_QUEUE / Math.max(1, this.#answers.size));
    const most = Math.min(Math.max(SHORT_QUEUE_OF_OWNER, part), this.#mostOf(owner));
    return this.#queue.lengthOf(owner) >= most;
  }

  #tellRoom(owner: OwnerKey): void {
    const room = this.#rooms.get(owner);
    if (room === undefined || this.#isFull(owner)) return;
    this.#rooms.delete(owner);
    room.resolve();
  }

  #answersOf(item: Asked): Answers {
    const owner = ownerOf(item);
    const known = this.#answers.get(owner);
    if (known !== undefined) return known;
    const made = { open: 0, proven: 0 };
    this.#answers.set(owner, made);
    return made;
  }
}

interface Room {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

const ownerOf = ({ by = NOBODY }: Asked): OwnerKey => by;
