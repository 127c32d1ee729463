import { csvLine, type CsvCell } from "../../core/batch/result-cells.ts";
import { toWindows1252 } from "./file-text.ts";
import type { ReadShape } from "./list-file.ts";

const MARK = "\ufeff";

type Encode = (text: string) => Uint8Array | string;

const ENCODERS: Readonly<Record<string, Encode>> = {
  "utf-8": (text) => text,
  "utf-16le": (text) => Buffer.from(text, "utf16le"),
  "utf-16be": (text) => Buffer.from(text, "utf16le").swap16(),
  "windows-1252": toWindows1252,
};

/** Text as the file has it, or in UTF-8 with the mark that Excel needs. What cannot be written again is UTF-8. */
export interface OutText {
  readonly encoding: string;
  readonly encode: Encode;
  /** What stands before the first row. */
  readonly head: string;
  readonly line: (cells: readonly CsvCell[]) => string;
}

export function outText(shape: ReadShape, isForExcel: boolean): OutText {
  const { encoding: read, delimiter, lineEnd, hasMark = false, isSaid = false } = shape;
  const encoding = isForExcel || ENCODERS[read] === undefined ? "utf-8" : read;
  const said = isSaid ? `sep=${delimiter}${lineEnd ?? ""}` : "";
  return {
    encoding,
    encode: ENCODERS[encoding] ?? ((text) => text),
    head: (isForExcel || hasMark ? MARK : "") + said,
    line: (cells) => csvLine(cells, delimiter, lineEnd),
  };
}
