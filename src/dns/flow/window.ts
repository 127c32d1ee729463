import type { OwnerKey } from "../../base/owner.ts";

/** First tries sent in this part of an epoch are counted; at its end all of them are answered or expired. */
const COUNTED_MS = 1_200;
const EPOCH_MS = 2_500;
const TRIES_MIN = 100;
/** Of owners with any answer; and of all in a trial, which lets few begin where many are silent. */
const FEW_TRIES_MIN = 20;
/** Share of bad tries that is always accepted: 2 % of dead names, 1 % loss each way, and chance. */
const BAD_MAX = 0.05;
/** A trial must lower the share by a tenth and by two standard deviations of chance, or the size is not its cause. */
const TRIAL_FACTOR = 0.7;
const HELPED_PART = 0.1;
const DEVIATIONS = 2;
/** Where as much is lost, what was asked before fills the server for some seconds: the first epoch of a trial says nothing. */
const MOST = 0.5;
/** A share that does not come from the size is accepted with this margin, which wears off by 2 % an epoch and as the share falls. */
const ACCEPTED_MARGIN = 1.3;
const ACCEPTED_DECAY = 0.98;
/** Added after a good epoch, not multiplied: two clients of one server then come to equal shares. */
const GROWTH_SHARE = 1 / 8;
const LEAST = 16;

interface WindowSample {
  readonly share: number;
  readonly tries: number;
}

interface AnswerTally {
  good: number;
  bad: number;
}

/**
 * How many tries may be under way: the maximum, unless that makes the server lose or refuse them. When more than
 * 5 % of the first tries expired or were answered SERVFAIL or REFUSED, the next epoch runs at 0.7 of the size or less. When
 * that does not lower the share, the cause is the path or the names: the size comes back and the share is accepted. A
 * server that answers nothing is down, and not overloaded. The share that counts is that of the owner with the least: an
 * overloaded server loses tries of all owners, and silent names of one owner must not shrink the window of the others.
 * Round trips are not looked at, because a slow path needs a full window most.
 */
export class Window {
  readonly #owners = new Map<OwnerKey | undefined, AnswerTally>();
  readonly #max: number;
  #size: number;
  #epoch = 0;
  #startedMs: number | undefined;
  #most = 0;
  #accepted = BAD_MAX;
  #trial: { readonly size: number; readonly before: WindowSample; isJudged: boolean } | undefined;

  constructor(max: number) {
    this.#max = max;
    this.#size = max;
  }

  get size(): number {
    return this.#size;
  }

  /** A first try is sent while so many are under way, it included. Returns the number to report its end with. */
  sent(underWay: number, nowMs: number): number {
    this.#startedMs ??= nowMs;
    if (underWay > this.#most) this.#most = underWay;
    return nowMs - this.#startedMs < COUNTED_MS ? this.#epoch : -1;
  }

  answered(epoch: number, by?: OwnerKey): void {
    if (epoch === this.#epoch) this.#tallyOf(by).good += 1;
  }

  failed(epoch: number, by?: OwnerKey): void {
    if (epoch === this.#epoch) this.#tallyOf(by).bad += 1;
  }

  late(epoch: number, by?: OwnerKey): void {
    if (epoch !== this.#epoch) return;
    const tally = this.#tallyOf(by);
    tally.bad -= 1;
    tally.good += 1;
  }

  adjust(nowMs: number): void {
    if (this.#startedMs === undefined || nowMs - this.#startedMs < EPOCH_MS) return;
    const triesMin = this.#trial === undefined ? TRIES_MIN : FEW_TRIES_MIN;
    const sample = sampleOf([...this.#owners.values()], triesMin);
    if (this.#trial?.isJudged === false) this.#trial.isJudged = true;
    else if (sample !== undefined) this.#judge(sample);
    else this.#endTrial();
    this.#epoch += 1;
    this.#startedMs = undefined;
    this.#owners.clear();
    this.#most = 0;
  }

  #tallyOf(by: OwnerKey | undefined): AnswerTally {
    const known = this.#owners.get(by);
    if (known !== undefined) return known;
    const made = { good: 0, bad: 0 };
    this.#owners.set(by, made);
    return made;
  }

  #judge(sample: WindowSample): void {
    const { share } = sample;
    const trial = this.#trial;
    this.#trial = undefined;
    if (trial !== undefined && !hasHelped(trial.before, sample)) {
      this.#size = trial.size;
      this.#accepted = Math.max(this.#accepted, share * ACCEPTED_MARGIN);
    } else if (share > this.#accepted) {
      this.#trial = { size: this.#size, before: sample, isJudged: share < MOST };
      const used = Math.min(this.#size, this.#most);
      const factor = Math.min(TRIAL_FACTOR, 1 - share);
      this.#size = Math.max(Math.min(LEAST, this.#max), Math.floor(used * factor));
    } else {
      if (this.#most >= this.#size) this.#grow();
      const accepted = Math.min(this.#accepted * ACCEPTED_DECAY, share * ACCEPTED_MARGIN);
      this.#accepted = Math.max(BAD_MAX, accepted);
    }
  }

  #endTrial(): void {
    this.#size = this.#trial?.size ?? this.#size;
    this.#trial = undefined;
  }

  #grow(): void {
    const growth = Math.min(this.#size, Math.ceil(this.#max * GROWTH_SHARE));
    this.#size = Math.min(this.#max, this.#size + growth);
  }
}

const triesOf = ({ good, bad }: AnswerTally): number => good + bad;

/** Of the owner with the least, among those with any answer. Undefined: it proves nothing. */
function sampleOf(tallies: readonly AnswerTally[], triesMin: number): WindowSample | undefined {
  const answered = tallies.filter(({ good }) => good > 0);
  const tries = sum(answered.map(triesOf));
  if (sum(tallies.map(triesOf)) < triesMin || tries < FEW_TRIES_MIN) return undefined;
  const many = answered.filter((tally) => triesOf(tally) >= FEW_TRIES_MIN);
  if (many.length === 0) return { share: sum(answered.map(({ bad }) => bad)) / tries, tries };
  const samples = many.map((tally) => ({
    share: tally.bad / triesOf(tally),
    tries: triesOf(tally),
  }));
  return samples.reduce((least, one) => (one.share < least.share ? one : least));
}

function hasHelped(before: WindowSample, now: WindowSample): boolean {
  const all = (before.share * before.tries + now.share * now.tries) / (before.tries + now.tries);
  const variance = all * (1 - all) * (1 / before.tries + 1 / now.tries);
  const byChance = DEVIATIONS * Math.sqrt(variance);
  return before.share - now.share > Math.max(before.share * HELPED_PART, byChance);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Tries under way, over all clients and threads. Each thread has a cell of its own, which can be cleared if it dies. */
export class SharedCap {
  readonly max: number;
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array;
  readonly #own: 0 | 1;

  constructor(max: number, memory?: SharedArrayBuffer) {
    this.max = max;
    this.memory = memory ?? new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
    this.#cells = new Int32Array(this.memory);
    this.#own = memory === undefined ? 0 : 1;
  }

  get underWay(): number {
    return Atomics.load(this.#cells, 0) + Atomics.load(this.#cells, 1);
  }

  limit(part: number): number {
    return Math.ceil(this.max * part);
  }

  take(limit: number): boolean {
    Atomics.add(this.#cells, this.#own, 1);
    // Read after the add: of two threads that take the last place at once, at least one sees the sum.
    if (this.underWay <= limit) return true;
    this.giveBack();
    return false;
  }

  giveBack(): void {
    Atomics.sub(this.#cells, this.#own, 1);
  }

  clearOther(): void {
    Atomics.store(this.#cells, 1 - this.#own, 0);
  }
}
