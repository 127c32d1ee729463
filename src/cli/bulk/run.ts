import { isInconclusive } from "../../core/validate/result.ts";
import { EMPTY_TALLY, fateOf, type Tally } from "../../core/batch/tally.ts";
import type { Clock } from "../../base/clock.ts";
import type { FileWriter } from "../../base/files.ts";
import {
  type CheckedRow,
  type FileFormat,
  fileHead,
  formatOfForm,
  rowsText,
} from "./entry-writer.ts";
import type { ReadShape } from "../../bulk/list-file.ts";
import type { CheckedPage } from "./check-pages.ts";

/** The progress of a run. */
export interface RunState {
  readonly rows: number;
  /** Rows that could not be read, and the first reasons. */
  readonly spoilt: number;
  readonly reasons: readonly string[];
  /** What was read; absent for an empty file. */
  readonly shape?: ReadShape;
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
  /** Absent: the input's. */
  readonly format: FileFormat | undefined;
  /** The input begins with a byte order mark, by which spreadsheets know UTF-8. */
  readonly mark: () => boolean;
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
  let state: RunState = { rows: 0, spoilt: 0, reasons: [], tally: EMPTY_TALLY, inconclusive: 0 };
  let shownMs = clock.monotonicMs();
  for await (const { rows, shape } of pages) {
    const to = format ?? formatOfForm[shape.form];
    const start = mark() && to === "csv" ? BYTE_ORDER_MARK : "";
    const head = state.shape === undefined ? start + fileHead(to, shape) : "";
    await writer.write(head + rowsText(to, rows, shape));
    state = { ...advanced(state, rows), shape };
    if (clock.monotonicMs() - shownMs < SHOW_EVERY_MS) continue;
    shownMs = clock.monotonicMs();
    show(state);
  }
  show(state);
  return state;
}

/** Reasons that are shown. */
const REASONS_MAX = 10;

function advanced(state: RunState, rows: readonly CheckedRow[]): RunState {
  const tally: Record<keyof Tally, number> = { ...state.tally };
  let { inconclusive, spoilt, reasons } = state;
  for (const { results, reason } of rows) {
    if (reason !== undefined) {
      spoilt += 1;
      if (reasons.length < REASONS_MAX) reasons = [...reasons, reason];
    }
    for (const result of results) {
      const fate = fateOf(result);
      tally[fate] += 1;
      if (fate === "invalidDns" && isInconclusive(result)) inconclusive += 1;
    }
  }
  return { ...state, rows: state.rows + rows.length, spoilt, reasons, tally, inconclusive };
}
