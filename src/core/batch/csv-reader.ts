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

export const isBlankRow = (cells: readonly string[]): boolean =>
  cells.length < 2 && (cells[0] ?? "").replace(END_OF_TEXT, "") === "";

/** `start`: of a cell. `closed`: behind a quote that ends the cell, or is the first of a pair. */
type State = "start" | "plain" | "quoted" | "closed";

/**
 * Reads CSV (RFC 4180) as it comes, linear and with bounded memory. Lines end with CR, LF or both; blank lines are no
 * rows; a quote inside an unquoted cell, and text behind a closing quote, belong to the cell. A quote that swallows
 * lines and is then followed by text, or is not closed within `CELL_MAX_UNITS`, spoils its first line alone: that is
 * a row with a fault, and the lines behind it are read again, as long as that is not more than there is text.
 */
export class CsvReader {
  readonly #delimiter: number;
  readonly #quote: number;
  #state: State = "start";
  #cell = "";
  #cells: string[] = [];
  #rows: RawRow[] = [];
  #line = 1;
  #rowLine = 1;
  #quoteLine = 1;
  #afterCr = false;
  #hasBreak = false;
  #fault: string | undefined;
  #quoted = "";
  /** Where the open quote is in this piece; negative: in an earlier one. */
  #quoteAt = -1;
  readonly #texts: string[] = [];
  /** How many code units may be read again. Below 0 a quote ends with its line. */
  #againUnits = 2 * CELL_MAX_UNITS;

  constructor(delimiter: string, quote = '"') {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#quote = quote.charCodeAt(0);
  }

  push(text: string): readonly RawRow[] {
    this.#againUnits += text.length;
    this.#texts.push(text);
    this.#readAll();
    return this.#takeRows();
  }

  end(): readonly RawRow[] {
    while (this.#state === "quoted") {
      this.#spoil("", 0);
      this.#readAll();
    }
    if (this.#state !== "start" || this.#cells.length > 0) this.#endRow();
    return this.#takeRows();
  }

  #readAll(): void {
    for (let text = this.#texts.pop(); text !== undefined; text = this.#texts.pop()) {
      let at = 0;
      while (at < text.length) at = this.#readCells(text, at);
      if (this.#state !== "quoted" && this.#state !== "closed") this.#quoted = "";
      else this.#quoted += this.#quoteAt < 0 ? text : text.slice(this.#quoteAt);
      this.#quoteAt = -1;
      if (!this.#hasBreak) this.#quoted = this.#quoted.slice(0, CELL_MAX_UNITS);
    }
  }

  /** Reads from `from` to the end, or until a quote turns out to be broken. Returns where to read on. */
  #readCells(text: string, from: number): number {
    let start = from;
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const isPairedLf = this.#afterCr && code === LF;
      this.#afterCr = code === CR;
      if (isPairedLf && this.#state === "start") {
        start = at + 1;
        continue;
      }
      const isBreak = code === LF || code === CR;
      if (isBreak && !isPairedLf) this.#line += 1;
      const isEnd = isBreak || code === this.#delimiter;
      switch (this.#state) {
        case "quoted":
          if (code === this.#quote) {
            this.#grow(text.slice(start, at));
            this.#state = "closed";
            start = at + 1;
          } else if (this.#isBroken(isBreak, at - start)) return this.#spoil(text, at);
          continue;
        case "closed":
          if (code === this.#quote) {
            this.#state = "quoted"; // a pair of quotes is one
            start = at;
            continue;
          }
          if (!isEnd && this.#hasBreak) return this.#spoil(text, at);
          start = at;
          break;
        case "start":
          if (code === this.#quote) {
            this.#open(at);
            start = at + 1;
            continue;
          }
          start = at;
          break;
        case "plain":
      }
      this.#state = "plain";
      if (!isEnd) continue;
      this.#grow(text.slice(start, at));
      this.#addCell();
      start = at + 1;
      if (isBreak) this.#endRow(true);
    }
    if (this.#state !== "closed") this.#grow(text.slice(start));
    return text.length;
  }

  #open(at: number): void {
    this.#state = "quoted";
    this.#hasBreak = false;
    this.#quoteLine = this.#line;
    this.#quoteAt = at;
    this.#quoted = "";
  }

  #isBroken(isBreak: boolean, units: number): boolean {
    if (!isBreak && !this.#hasBreak) return false;
    this.#hasBreak = true;
    return this.#againUnits < 0 || this.#cell.length + units >= CELL_MAX_UNITS;
  }

  /** Makes a row with a fault of what is read up to the end of the line with the quote. Returns where to read on. */
  #spoil(text: string, at: number): number {
    const isHere = this.#quoteAt >= 0;
    const earlier = isHere ? "" : this.#quoted;
    const inEarlier = earlier.search(/[\r\n]/);
    const from = Math.max(0, this.#quoteAt);
    const found = inEarlier < 0 ? text.slice(from, at + 1).search(/[\r\n]/) : -1;
    const end = found < 0 ? text.length : from + found;
    const first = inEarlier < 0 ? earlier + text.slice(from, end) : earlier.slice(0, inEarlier);
    const line = this.#quoteLine;
    const rest = first.slice(0, CELL_MAX_UNITS).split(String.fromCharCode(this.#delimiter));
    const fault = `The quote opened on line ${String(line)} is not closed.`;
    const cells = [...this.#cells, ...rest].slice(0, COLUMNS_MAX);
    this.#rows.push({ cells, line: this.#rowLine, fault });
    this.#afterCr = (inEarlier < 0 ? text.charCodeAt(end) : earlier.charCodeAt(inEarlier)) === CR;
    this.#begin();
    this.#quoted = "";
    this.#quoteAt = -1;
    this.#line = this.#rowLine = line + 1;
    if (inEarlier < 0) {
      this.#againUnits -= Math.max(0, at - end);
      return end + 1;
    }
    this.#againUnits -= earlier.length - inEarlier + at;
    this.#texts.push(text, earlier.slice(inEarlier + 1));
    return Infinity;
  }

  #grow(text: string): void {
    const room = CELL_MAX_UNITS - this.#cell.length;
    this.#cell += text.length > room ? text.slice(0, room) : text;
    if (text.length <= room) return;
    this.#fault = `Line ${String(this.#rowLine)} has a cell of more than ${String(CELL_MAX_UNITS)} characters.`;
  }

  #addCell(): void {
    if (!putCell(this.#cells, this.#cells.length, this.#cell))
      this.#fault = `Line ${String(this.#rowLine)} has more than ${String(COLUMNS_MAX)} columns.`;
    this.#cell = "";
    this.#state = "start";
  }

  #endRow(isCellDone = false): void {
    if (!isCellDone) this.#addCell();
    const cells = this.#cells;
    if (!isBlankRow(cells)) this.#rows.push({ cells, line: this.#rowLine, fault: this.#fault });
    this.#begin();
    this.#rowLine = this.#line;
  }

  #begin(): void {
    this.#cells = [];
    this.#cell = "";
    this.#fault = undefined;
    this.#state = "start";
  }

  #takeRows(): readonly RawRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}
