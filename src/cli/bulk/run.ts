import { isInconclusive } from "../../core/validate/result.ts";
import { EMPTY_TALLY, fateOf, type Tally } from "../../core/batch/tally.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { FileWriter } from "../../ports/process/files.ts";
import { entryWriter, fileHead, type CheckedEntry } from "./entry-writer.ts";
import type { FileFormat } from "./entry-source.ts";
import type { CheckedPage } from "./check-pages.ts";

/** The progress of a run. */
export interface RunState {
  /** Entries of the input, blank ones included. */
  readonly entries: number;
  readonly tally: Tally;
  /** Entries of `tally.invalidDns` for which DNS did not answer. */
  readonly inconclusive: number;
}

export interface RunDeps {
  readonly writer: FileWriter;
  readonly clock: Clock;
  readonly show: (state: RunState) => void;
}

export interface OutputOptions {
  readonly format: FileFormat;
  /** The input begins with a byte order mark, by which spreadsheets know UTF-8. */
  readonly mark: boolean;
}

const BYTE_ORDER_MARK = "\ufeff";

/** How often the progress bar moves. */
const SHOW_EVERY_MS = 200;

/** Writes checked pages; returns what they came to. */
export async function writePages(
  pages: AsyncIterable<CheckedPage>,
  { format, mark }: OutputOptions,
  { writer, clock, show }: RunDeps,
): Promise<RunState> {
  const textOf = entryWriter(format);
  let state: RunState = { entries: 0, tally: EMPTY_TALLY, inconclusive: 0 };
  let isStart = true;
  let shownMs = clock.monotonicMs();
  for await (const { entries, ...table } of pages) {
    const start = mark && format === "csv" ? BYTE_ORDER_MARK : "";
    const head = isStart ? start + fileHead(format, table) : "";
    isStart = false;
    await writer.write(head + textOf(entries, table));
    state = advanced(state, entries);
    if (clock.monotonicMs() - shownMs < SHOW_EVERY_MS) continue;
    shownMs = clock.monotonicMs();
    show(state);
  }
  show(state);
  return state;
}

function advanced(state: RunState, entries: readonly CheckedEntry[]): RunState {
  const tally: Record<keyof Tally, number> = { ...state.tally };
  let { inconclusive } = state;
  for (const { result } of entries) {
    if (result === undefined) continue;
    const fate = fateOf(result);
    tally[fate] += 1;
    if (fate === "invalidDns" && isInconclusive(result)) inconclusive += 1;
  }
  return { entries: state.entries + entries.length, tally, inconclusive };
}
