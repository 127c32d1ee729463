import { TableFault } from "./entry-cell.ts";

/** Longest cell in UTF-16 code units: what spreadsheets hold, and one. */
export const CELL_MAX_UNITS = 32_768;

/** Spreadsheets hold 16,384 columns; ours come beside these. */
export const COLUMNS_MAX = 16_000;

export interface RawRow {
  readonly cells: readonly string[];
  readonly line: number;
  readonly fault?: string | undefined;
  readonly unvalued?: readonly number[] | undefined;
  readonly object?: string | undefined;
  /** The JSON text that it was: its entry, whatever the columns are. */
  readonly text?: string | undefined;
}

const BLANKS_MAX = 10_000_000;

/** Blank cells between those of a row, which take no room in the file; as many as it has characters are usual. */
export class Blanks {
  #left = BLANKS_MAX;

  count(cells: number, units: number): void {
    this.#left += units - cells;
    if (this.#left < 0)
      throw new TableFault("The file has too many blank cells between its cells; save it as .csv.");
  }
}

const LF = 10;
const CR = 13;

/** What stands beyond the last column joins its cell. Returns whether there was room. */
export function putCell(cells: string[], at: number, text: string): boolean {
  if (at < COLUMNS_MAX) cells[at] = text;
  else if (text !== "") {
    const last = cells[COLUMNS_MAX - 1] ?? "";
    const joined = last === "" ? text : `${last},${text}`;
    if (joined.length > CELL_MAX_UNITS) return false;
    cells[COLUMNS_MAX - 1] = joined;
  }
  return true;
}

/** Excel and old editors end a text with Ctrl-Z. */
export const END_OF_TEXT = "\u001a";

const isBlankRow = (cells: readonly string[]): boolean =>
  cells.length < 2 && ["", END_OF_TEXT].includes(cells[0] ?? "");

/** What a file has room for. */
const LINE_MAX_UNITS = 20_000_000;

/**
 * Reads CSV (RFC 4180) as it comes, linear and with bounded memory. Lines end with CR, LF or both; blank lines are no
 * rows; a quote inside an unquoted cell, and text behind a closing quote, belong to the cell. A quote that swallows
 * lines and is then followed by text, or is not closed within `CELL_MAX_UNITS`, spoils its first line alone: that is
 * a row with a fault, and the lines behind it are read again, as long as that is not more than there is text.
 */
export class CsvReader {
  readonly #delimiter: string;
  readonly #quote: string;
  /** Of the line that is not whole yet. */
  #tail = "";
  #endsWithCr = false;
  /** Whole lines with their ends, from the one on which the next cell begins, and the number of the first. */
  #lines: string[] = [];
  #first = 1;
  /** Where in them the next cell begins. */
  #at = 0;
  #from = 0;
  /** The row that is read, and the number of its first line. */
  #cells: string[] = [];
  #line = 1;
  #fault: string | undefined;
  /** How many code units may be read again. Below 0 a quote ends with its line. */
  #againUnits = 2 * CELL_MAX_UNITS;

  constructor(delimiter: string, quote = '"') {
    this.#delimiter = delimiter;
    this.#quote = quote;
  }

  push(text: string): readonly RawRow[] {
    if (text === "") return [];
    this.#againUnits += text.length;
    if (this.#endsWithCr && text.charCodeAt(0) !== LF) this.#endLine("");
    this.#endsWithCr = text.endsWith("\r");
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code !== LF && code !== CR) continue;
      if (code === CR && at + 1 === text.length) break;
      if (code === CR && text.charCodeAt(at + 1) === LF) at += 1;
      this.#endLine(text.slice(from, at + 1));
      from = at + 1;
    }
    this.#tail += text.slice(from);
    if (this.#tail.length > LINE_MAX_UNITS)
      throw new TableFault(`A line is longer than ${String(LINE_MAX_UNITS)} characters.`);
    return this.#rows(false);
  }

  end(): readonly RawRow[] {
    if (this.#tail !== "") this.#endLine("");
    return this.#rows(true);
  }

  #endLine(text: string): void {
    this.#lines.push(this.#tail + text);
    this.#tail = "";
  }

  #rows(isEnd: boolean): readonly RawRow[] {
    const rows: RawRow[] = [];
    while (this.#at < this.#lines.length && this.#readRow(isEnd)) {
      const cells = this.#cells;
      if (!isBlankRow(cells)) rows.push({ cells, line: this.#line, fault: this.#fault });
      [this.#from, this.#cells, this.#fault] = [0, [], undefined];
      this.#line = this.#first + this.#at;
    }
    this.#lines = this.#lines.slice(this.#at);
    this.#first += this.#at;
    this.#at = 0;
    return rows;
  }

  /** Returns whether the row is whole; the end of a quote may come yet. */
  #readRow(isEnd: boolean): boolean {
    for (;;) {
      const [open, from] = [this.#at, this.#from];
      const isQuoted = this.#lines[open]?.[from] === this.#quote;
      const quoted = isQuoted ? this.#quoted(isEnd) : "";
      if (quoted === undefined) {
        this.#at = open;
        return false;
      }
      const line = this.#lines[this.#at] ?? "";
      const found = line.indexOf(this.#delimiter, isQuoted ? this.#from : this.#behindQuotes(line));
      const rest = line.slice(this.#from, found < 0 ? endOfText(line) : found);
      if (quoted === BROKEN || (rest !== "" && this.#at > open)) {
        this.#spoil(open, from);
        return true;
      }
      this.#put(quoted + rest);
      this.#from = found + 1;
      if (found >= 0) continue;
      this.#at += 1;
      return true;
    }
  }

  /** What quotes enclose; undefined while more lines may come. */
  #quoted(isEnd: boolean): string | typeof BROKEN | undefined {
    const parts: string[] = [];
    let units = 0;
    for (let from = this.#from + 1; ; from = 0) {
      const line = this.#lines[this.#at] ?? "";
      const close = this.#closing(line, from);
      const part = close < 0 ? line.slice(from) : line.slice(from, close);
      parts.push(part);
      units += part.length;
      if (units >= CELL_MAX_UNITS && (close < 0 || parts.length > 1)) return BROKEN;
      if (close >= 0) {
        this.#from = close + 1;
        return parts.join("").replaceAll(this.#quote + this.#quote, this.#quote);
      }
      if (this.#againUnits < 0) return BROKEN;
      if (this.#at + 1 === this.#lines.length) return isEnd ? BROKEN : undefined;
      this.#at += 1;
    }
  }

  /** Behind the quotes of a cell before and behind which are blanks alone, so that they hold what they hold. */
  #behindQuotes(line: string): number {
    const from = this.#from;
    const open = this.#delimiter === " " ? from : behindBlanks(line, from);
    if (open === from || line[open] !== this.#quote) return from;
    const close = this.#closing(line, open + 1) + 1;
    const end = behindBlanks(line, close);
    const isWhole = line[end] === this.#delimiter || end >= endOfText(line);
    return close > 0 && isWhole ? close : from;
  }

  /** Where a quote stands that is not the first of a pair. */
  #closing(line: string, from: number): number {
    let at = line.indexOf(this.#quote, from);
    while (at >= 0 && line[at + 1] === this.#quote) at = line.indexOf(this.#quote, at + 2);
    return at;
  }

  #spoil(open: number, from: number): void {
    for (let at = open + 1; at <= this.#at; at += 1)
      this.#againUnits -= this.#lines[at]?.length ?? 0;
    const line = this.#lines[open] ?? "";
    const rest = line.slice(from, Math.min(endOfText(line), from + CELL_MAX_UNITS));
    this.#cells = [...this.#cells, ...rest.split(this.#delimiter)].slice(0, COLUMNS_MAX);
    this.#fault = `The quote opened on line ${String(this.#first + open)} is not closed.`;
    this.#at = open + 1;
  }

  #put(cell: string): void {
    const what =
      cell.length > CELL_MAX_UNITS
        ? `has a cell of more than ${String(CELL_MAX_UNITS)} characters`
        : undefined;
    const isPut = putCell(this.#cells, this.#cells.length, cell.slice(0, CELL_MAX_UNITS));
    const why = isPut ? what : `has more than ${String(COLUMNS_MAX)} columns`;
    if (why !== undefined) this.#fault = `Line ${String(this.#line)} ${why}.`;
  }
}

function behindBlanks(line: string, from: number): number {
  let at = from;
  while (line[at] === " ") at += 1;
  return at;
}

/** A quote that does not end where it should. */
const BROKEN = Symbol("broken");

function endOfText(line: string): number {
  const isLf = line.endsWith("\n");
  return line.length - (line.endsWith("\r\n") ? 2 : isLf || line.endsWith("\r") ? 1 : 0);
}
