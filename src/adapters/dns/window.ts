/** Where nothing is known of the path yet. */
export const WINDOW_START = 64;
const LEAST = 16;
/** Below so many answers an interval says nothing. */
const SAMPLES_MIN = 20;
const SAMPLES_MAX = 256;
const GROWTH_MAX = 1.25;
const SHRINK_MAX = 0.7;
const RETRIED_SHARE_MAX = 0.03;
/** Of a few answers 3 % are lost by chance at 2 % loss: only so many tell one from the other. */
const LOSS_ANSWERS_MIN = 1_000;
/**
 * A retry's answer comes a second or two after the answers of its time. Judged sooner, the losses of a wide
 * window would be held against the few answers of the narrow one after it, and narrow it to nothing.
 */
const LOSS_EVERY_MS = 3_000;
/** What a round trip may grow by before it counts as queueing: twice the undisturbed one and this. */
const TOLERANCE_MS = 3;
/** How often, and how long at least, the window breathes out so that the undisturbed trip shows again. */
const BREATH_EVERY_MS = 10_000;
const BREATH_MIN_MS = 60;

/**
 * How many questions may be under way: grows while the median round trip stays below twice the
 * undisturbed one plus 3 ms, shrinks when it does not or when more than 3 % of the answers needed a
 * retry. Names that nobody answers for count for neither.
 */
export class Window {
  readonly #max: number;
  #size: number;
  #samplesMs: number[] = [];
  /** First tries that were answered, and retries, since loss was judged last. */
  #answers = 0;
  #retried = 0;
  #lossWeighedMs: number | undefined;
  /** As judged last; while it holds the window does not grow. */
  #isLossy = false;
  #wasFull = false;
  #baselineMs = Infinity;
  #lastBreathMs: number | undefined;
  #breath: { readonly untilMs: number; readonly size: number } | undefined;

  /** `max` is never passed, whatever the round trips say; `start` is where it begins. */
  constructor(max: number, start: number = WINDOW_START) {
    this.#max = max;
    this.#size = Math.min(start, max);
  }

  get size(): number {
    return this.#size;
  }

  /** An answer to a first try, `rttMs` after it was sent. */
  answered(rttMs: number): void {
    this.#answers += 1;
    if (this.#samplesMs.length < SAMPLES_MAX) this.#samplesMs.push(rttMs);
  }

  /** An answer that needed a retry. */
  recovered(): void {
    this.#answers += 1;
    this.#retried += 1;
  }

  /** Somebody had to wait: only then is there a reason to grow. */
  full(): void {
    this.#wasFull = true;
  }

  /** Takes stock of the answers since it last had enough of them; to be called every few milliseconds. */
  adjust(nowMs: number): void {
    this.#lastBreathMs ??= nowMs;
    if (this.#breath !== undefined) {
      if (nowMs >= this.#breath.untilMs) this.#breatheIn(this.#breath.size, nowMs);
      return;
    }
    if (this.#samplesMs.length < SAMPLES_MIN) return;
    const gradient = this.#gradient(nowMs);
    if (gradient < 1 || this.#wasFull) this.#scale(gradient);
    if (this.#wasFull && nowMs - this.#lastBreathMs >= BREATH_EVERY_MS) this.#breatheOut(nowMs);
    this.#forget();
  }

  /** Above 1 there is room for more, below it too much is under way. */
  #gradient(nowMs: number): number {
    const medianMs = quantile(this.#samplesMs, 0.5) ?? 0;
    this.#baselineMs = Math.min(this.#baselineMs, medianMs);
    const gradient = (2 * this.#baselineMs + TOLERANCE_MS) / medianMs;
    if (this.#weighsLoss(nowMs) && this.#isLossy) return 0;
    return this.#isLossy ? Math.min(1, gradient) : gradient;
  }

  /** Whether loss was judged just now. */
  #weighsLoss(nowMs: number): boolean {
    this.#lossWeighedMs ??= nowMs;
    const isTooSoon = nowMs - this.#lossWeighedMs < LOSS_EVERY_MS;
    if (isTooSoon || this.#answers < LOSS_ANSWERS_MIN) return false;
    this.#isLossy = this.#retried > RETRIED_SHARE_MAX * this.#answers;
    this.#answers = this.#retried = 0;
    this.#lossWeighedMs = nowMs;
    return true;
  }

  #scale(gradient: number): void {
    const factor = Math.min(GROWTH_MAX, Math.max(SHRINK_MAX, gradient));
    const least = Math.min(LEAST, this.#max);
    this.#size = Math.min(this.#max, Math.max(least, Math.round(this.#size * factor)));
  }

  /** Without this the baseline of a long run could only fall, and a slower path would starve it. */
  #breatheOut(nowMs: number): void {
    const lengthMs = Math.max(BREATH_MIN_MS, 2 * this.#baselineMs);
    this.#breath = { untilMs: nowMs + lengthMs, size: this.#size };
    this.#size = Math.min(LEAST, this.#max);
  }

  #breatheIn(size: number, nowMs: number): void {
    // The first answers of a breath still belong to the crowd before it: the lower quartile does not.
    this.#baselineMs = quantile(this.#samplesMs, 0.25) ?? this.#baselineMs;
    this.#size = size;
    this.#breath = undefined;
    this.#lastBreathMs = nowMs;
    this.#forget();
  }

  #forget(): void {
    this.#samplesMs = [];
    this.#wasFull = false;
  }
}

/** Sorts `samples` in place; undefined when there are none. */
function quantile(samples: number[], share: number): number | undefined {
  samples.sort((a, b) => a - b);
  return samples[Math.floor(samples.length * share)];
}
