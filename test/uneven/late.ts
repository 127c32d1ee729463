import { basename } from "node:path";
import { threadId } from "node:worker_threads";

const setting = (name: string, otherwise: number): number => {
  const value = Number(process.env[name]);
  return process.env[name] !== undefined && Number.isFinite(value) ? value : otherwise;
};

const SEED = setting("UNEVEN_SEED", 1);
/** The longest delay of one event. */
const MAX_MS = setting("UNEVEN_MAX_MS", 40);

/** FNV-1a, so that every program and thread of a run draws its own numbers, repeatably. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}

const program = [basename(process.argv[1] ?? ""), ...process.argv.slice(2), threadId].join(" ");
let state = (hashed(`${String(SEED)} ${program}`) || 1) >>> 0;

/** From 0 to 1 (xorshift32). */
export function chance(): number {
  state = (state ^ (state << 13)) >>> 0;
  state = (state ^ (state >>> 17)) >>> 0;
  state = (state ^ (state << 5)) >>> 0;
  return state / 4_294_967_296;
}

// Saved before a test replaces the clock of this process.
const afterMs = setTimeout;
const nextTurn = setImmediate;

/** Mostly in the next turn or soon, sometimes late. */
export function later(task: () => void): void {
  const kind = chance();
  if (kind < 0.6) nextTurn(task);
  else afterMs(task, chance() * (kind < 0.9 ? MAX_MS / 4 : MAX_MS));
}

const queues = new WeakMap<object, (() => void)[]>();

/** The same, but never before earlier events of this source. */
export function laterInTurn(source: object, task: () => void): void {
  const waiting = queues.get(source) ?? [];
  queues.set(source, waiting);
  waiting.push(task);
  if (waiting.length > 1) return;
  const next = (): void => {
    // Removed from the queue only when done: its effects must not overtake waiting events.
    try {
      waiting[0]?.();
    } finally {
      waiting.shift();
      if (waiting.length > 0) later(next);
    }
  };
  later(next);
}

type Any = (this: never, ...args: never[]) => unknown;

/** Replaces a method by what `make` returns; the caller guarantees equal types. */
export function replace(owner: object, name: string | symbol, make: (real: Any) => Any): void {
  const methods = owner as Record<string | symbol, Any | undefined>;
  const real = methods[name];
  if (real === undefined) throw new Error(`uneven: this Node has no ${String(name)}`);
  methods[name] = make(real);
}

/** Delays the named events of a kind of emitter, in their order. */
export function lateEvents(emitters: object, isLate: (name: string | symbol) => boolean): void {
  replace(
    emitters,
    "emit",
    (real) =>
      function (this: object, name: string | symbol, ...args: unknown[]) {
        const emit = (): unknown => Reflect.apply(real, this, [name, ...args]);
        if (!isLate(name)) return emit();
        laterInTurn(this, emit);
        return true;
      },
  );
}
