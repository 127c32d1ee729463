import { isInconclusive } from "../../core/validate/result.ts";
import { fateOf, type Tally } from "../../core/batch/tally.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { FileWriter } from "../../ports/process/files.ts";
import { entryWriter, fileHead, type CheckedEntry } from "./entry-writer.ts";
import type { FileFormat } from "./entry-source.ts";
import type { CheckedPage } from "./check-pages.ts";
import type { RunState } from "./resume.ts";

export interface RunDeps {
  readonly writer: FileWriter;
  readonly clock: Clock;
  /** Saves the progress; the entries it counts are already in the output. */
  readonly save: (state: RunState) => Promise<void>;
  readonly show: (state: RunState) => void;
}

export interface OutputOptions {
  readonly format: FileFormat;
  readonly from: RunState;
  /** The input begins with a byte order mark, by which spreadsheets know UTF-8. */
  readonly mark: boolean;
}

const BYTE_ORDER_MARK = "\ufeff";

/** How often a run saves its progress. */
const SAVE_EVERY_MS = 1_000;

/** How often the progress bar moves. */
const SHOW_EVERY_MS = 200;

/** Appends checked pages to the output of an earlier run; returns the progress. */
export async function writePages(
  pages: AsyncIterable<CheckedPage>,
  { format, from, mark }: OutputOptions,
  { writer, clock, save, show }: RunDeps,
): Promise<RunState> {
  const textOf = entryWriter(format);
  const isDueToSave = every(SAVE_EVERY_MS, clock);
  const isDueToShow = every(SHOW_EVERY_MS, clock);
  let state = from;
  for await (const { entries, ...table } of pages) {
    const isStart = state.outputBytes === 0;
    const head = isStart
      ? (mark && format === "csv" ? BYTE_ORDER_MARK : "") + fileHead(format, table)
      : "";
    const writtenBytes = await writer.write(head + textOf(entries, table));
    state = advanced(state, entries, writtenBytes);
    if (isDueToShow()) show(state);
    if (!isDueToSave()) continue;
    await writer.sync();
    await save(state);
  }
  await writer.sync();
  await save(state);
  show(state);
  return state;
}

function every(periodMs: number, clock: Clock): () => boolean {
  let lastMs = clock.monotonicMs();
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lastMs < periodMs) return false;
    lastMs = nowMs;
    return true;
  };
}

function advanced(state: RunState, entries: readonly CheckedEntry[], bytes: number): RunState {
  const tally: Record<keyof Tally, number> = { ...state.tally };
  let { inconclusive } = state;
  for (const { result } of entries) {
    if (result === undefined) continue;
    const fate = fateOf(result);
    tally[fate] += 1;
    if (fate === "invalidDns" && isInconclusive(result)) inconclusive += 1;
  }
  return {
    entries: state.entries + entries.length,
    outputBytes: state.outputBytes + bytes,
    tally,
    inconclusive,
  };
}
