import { EMPTY_TALLY, type Fate, type Tally } from "../../core/batch/tally.ts";
import type { FileFacts, Files } from "../../ports/process/files.ts";
import { CommandFailure, EXIT } from "../terminal.ts";
import type { FileFormat } from "./entry-source.ts";

/** Facts that must be equal for a run to be resumed. */
export interface RunPlan {
  readonly input: string;
  readonly inputBytes: number;
  readonly inputModifiedMs: number;
  readonly from: FileFormat;
  readonly to: FileFormat;
  readonly column: string;
}

/** The progress of a run; everything before it is in the output. */
export interface RunState {
  /** Entries of the input, blank ones included. */
  readonly entries: number;
  readonly outputBytes: number;
  readonly tally: Tally;
  /** Entries of `tally.invalidDns` for which DNS did not answer. */
  readonly inconclusive: number;
}

export const NEW_RUN: RunState = {
  entries: 0,
  outputBytes: 0,
  tally: EMPTY_TALLY,
  inconclusive: 0,
};

const VERSION = 1;

/** The file that records the progress of a run into `out`. */
export const statePath = (out: string): string => `${out}.resume.json`;

/** The file beside the output. It is written after the output and removed when the run is complete. */
export class RunFile {
  readonly #files: Files;
  readonly #path: string;
  readonly #plan: RunPlan;

  constructor(files: Files, out: string, plan: RunPlan) {
    this.#files = files;
    this.#path = statePath(out);
    this.#plan = plan;
  }

  /** `NEW_RUN` without a file. Fails if the file belongs to another run. */
  async load(output: FileFacts | undefined): Promise<RunState> {
    const text = await this.#files.readText(this.#path);
    if (text === undefined) return NEW_RUN;
    const state = readState(text, this.#plan);
    if (state === undefined || (output?.sizeBytes ?? 0) < state.outputBytes) {
      throw new CommandFailure(
        EXIT.failed,
        `${this.#path} belongs to another run, or its output has changed. Delete it to start over.`,
      );
    }
    return state;
  }

  save(state: RunState): Promise<void> {
    const text = JSON.stringify({ version: VERSION, plan: this.#plan, state });
    return this.#files.replaceText(this.#path, `${text}\n`);
  }

  remove(): Promise<void> {
    return this.#files.remove(this.#path);
  }
}

/** Undefined if the text is not a state of this plan. */
function readState(text: string, plan: RunPlan): RunState | undefined {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    return undefined;
  }
  const whole = kept as Readonly<Record<string, unknown>> | null;
  const isOurs = whole?.["version"] === VERSION;
  if (!isOurs || JSON.stringify(whole["plan"]) !== JSON.stringify(plan)) return undefined;
  const state = whole["state"] as Partial<RunState> | undefined;
  return isState(state) ? state : undefined;
}

const FATES: readonly Fate[] = ["invalidFormat", "disposable", "invalidDns", "valid"];

function isState(state: Partial<RunState> | undefined): state is RunState {
  const { entries, outputBytes, inconclusive, tally } = state ?? {};
  const counts = [entries, outputBytes, inconclusive, ...FATES.map((fate) => tally?.[fate])];
  return counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0);
}
