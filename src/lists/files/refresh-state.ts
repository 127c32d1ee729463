import { join } from "node:path";
import { DAY_MS } from "../../core/calendar.ts";
import type { ListRefusal } from "../feed-refresh.ts";
import { textOf, writeWhole } from "./feed-copy.ts";

/** When a source was last asked, and why its answer was not taken. */
export interface SourceState {
  readonly askedAtMs: number;
  readonly why?: ListRefusal;
  readonly detail?: string;
  /** When its answer was last taken, or was that the copy is the newest still. */
  readonly confirmedAtMs?: number;
}

export type RefreshState = Readonly<Record<string, SourceState | undefined>>;

export const STATE_FILE = "state.json";

const pathIn = (folder: string): string => join(folder, STATE_FILE);

/** What this process or another wrote last; nothing when there is no such file. */
export function readState(folder: string): RefreshState {
  return parseState(textOf(pathIn(folder)) ?? "") ?? {};
}

/** Undefined unless the text is a state. */
export function parseState(text: string): RefreshState | undefined {
  try {
    const state: unknown = JSON.parse(text);
    const isState = isObject(state) && Object.values(state).every(isSourceState);
    return isState ? (state as RefreshState) : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function isSourceState(value: unknown): value is SourceState {
  if (!isObject(value)) return false;
  const {
    askedAtMs,
    why,
    detail,
    confirmedAtMs = 0,
  } = value as Partial<Record<keyof SourceState, unknown>>;
  return [askedAtMs, confirmedAtMs].every(Number.isFinite) && [why, detail].every(isTextOrNone);
}

const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === "string";

export function writeState(folder: string, state: RefreshState): void {
  writeWhole(pathIn(folder), JSON.stringify(state));
}

/** What came of the questions: in the folder, and here where the folder takes nothing. */
export class RefreshNotes {
  readonly #folder: string;
  #unkept: RefreshState = {};

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(): RefreshState {
    return { ...readState(this.#folder), ...this.#unkept };
  }

  /** Throws when the folder takes nothing; the note is kept here then, so that no source is asked without pause. */
  add(id: string, { confirmedAtMs = this.#confirmedAtMs(id), ...news }: SourceState): void {
    const note = confirmedAtMs === undefined ? news : { ...news, confirmedAtMs };
    this.#unkept = { ...this.#unkept, [id]: note };
    writeState(this.#folder, this.read());
    this.#unkept = {};
  }

  #confirmedAtMs(id: string): number | undefined {
    return this.read()[id]?.confirmedAtMs;
  }
}

const RETRY_MS = 3_600_000;

/** A source that did not answer is asked again sooner, and so is one whose answer the disk did not take. */
const RETRIED: ReadonlySet<ListRefusal | undefined> = new Set([
  "not_fetched",
  "bad_status",
  "not_kept",
]);

/** A clock that was set back makes a source due, not silent. */
export function isDue(state: SourceState | undefined, nowMs: number): boolean {
  if (state === undefined) return true;
  const restMs = RETRIED.has(state.why) ? RETRY_MS : DAY_MS;
  return Math.abs(nowMs - state.askedAtMs) >= restMs;
}

const generationIn = (folder: string): string => join(folder, "generation");

/** Changes whenever any process put a new copy of a list there; "" before the first. */
export function readGeneration(folder: string): string {
  return textOf(generationIn(folder)) ?? "";
}

export const writeGeneration = (folder: string, generation: string): void =>
  writeWhole(generationIn(folder), generation);
