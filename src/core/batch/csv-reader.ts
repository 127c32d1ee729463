/** Longest cell in UTF-16 code units: what spreadsheets hold, and one. */
export const CELL_MAX_UNITS = 32_768;

export const COLUMNS_MAX = 500;

export interface RawRow {
  readonly cells: readonly string[];
  /** Where it begins, from 1. */
  readonly line: number;
  /** Why it cannot be read: a sentence. */
  readonly fault?: string;
  readonly object?: string;
  /** The JSON text that it was: its entry, whatever the columns are. */
  readonly text?: string;
}

const QUOTE = 34;
const LF = 10;
const CR = 13;

/** `start`: of a cell. `closed`: behind a quote that ends the cell, or is the first of a pair. */
type State = "start" | "plain" | "quoted" | "closed";

/**
 * Reads CSV (RFC 4180) as it comes, linear and with bounded memory. Lines end with CR, LF or both; blank lines are no
 * rows; a quote inside an unquoted cell, and text behind a closing quote, belong to the cell. A quote that swallows
 * lines and is then followed by text, or is not closed within `CELL_MAX_UNITS`, spoils its first line alone: that is
 * a row with a fault, and reading goes on behind it.
 */
export class CsvReader {
  readonly #delimiter: number;
  #state: State = "start";
  #cell = "";
  #cells: string[] = [];
  #rows: RawRow[] = [];
  #line = 1;
  #rowLine = 1;
  #afterCr = false;
  /** The text of the row, kept while a quoted cell in it may have swallowed lines. */
  #raw = "";
  #hasBreak = false;
  #fault: string | undefined;

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  push(text: string): readonly RawRow[] {
    let rest: string | undefined = text;
    while (rest !== undefined) rest = this.#read(rest);
    return this.#takeRows();
  }

  end(): readonly RawRow[] {
    while (this.#state === "quoted") {
      let rest: string | undefined = this.#spoilt("");
      while (rest !== undefined) rest = this.#read(rest);
    }
    if (this.#state !== "start" || this.#cells.length > 0) this.#endRow();
    return this.#takeRows();
  }

  /** Returns what has to be read again, when a quote turned out to be broken. */
  #read(text: string): string | undefined {
    let start = 0;
    let rowStart = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const isPairedLf = this.#afterCr && code === LF;
      this.#afterCr = code === CR;
      if (isPairedLf && this.#state === "start") {
        start = rowStart = at + 1;
        continue;
      }
      if ((code === LF && !isPairedLf) || code === CR) this.#line += 1;
      const isEnd = code === this.#delimiter || code === LF || code === CR;
      switch (this.#state) {
        case "quoted":
          if (code === LF || code === CR) this.#hasBreak = true;
          if (code === QUOTE) {
            this.#cell += text.slice(start, at);
            this.#state = "closed";
            start = at + 1;
          } else if (this.#cell.length + at - start > CELL_MAX_UNITS) {
            this.#raw += text.slice(rowStart, at + 1);
            return this.#spoilt(text.slice(at + 1));
          }
          continue;
        case "closed":
          if (code === QUOTE) {
            this.#state = "quoted"; // a pair of quotes is one
            start = at;
            continue;
          }
          if (!isEnd) {
            if (this.#hasBreak) {
              this.#raw += text.slice(rowStart, at + 1);
              return this.#spoilt(text.slice(at + 1));
            }
            this.#state = "plain";
            start = at;
            continue;
          }
          start = at;
          break;
        case "start":
          if (code === QUOTE) {
            this.#state = "quoted";
            this.#hasBreak = false;
            start = at + 1;
            continue;
          }
          this.#state = "plain";
          start = at;
          break;
        case "plain":
      }
      if (!isEnd) continue;
      this.#grow(text.slice(start, at));
      this.#addCell();
      this.#state = "start";
      start = at + 1;
      if (code === this.#delimiter) continue;
      this.#endRow(true);
      rowStart = start;
    }
    if (this.#state !== "closed") this.#grow(text.slice(start));
    this.#raw += text.slice(rowStart);
    if (this.#raw.length > RAW_MAX_UNITS) this.#raw = this.#raw.slice(0, RAW_MAX_UNITS);
    return undefined;
  }

  /** Makes a row with a fault of the row's first line; returns the text behind that line, and `behind`. */
  #spoilt(behind: string): string {
    const text = this.#raw + behind;
    const end = /\r\n|\r|\n/.exec(text);
    const first = end === null ? text : text.slice(0, end.index);
    const cells = first
      .slice(0, CELL_MAX_UNITS)
      .split(String.fromCharCode(this.#delimiter), COLUMNS_MAX);
    const line = this.#rowLine;
    this.#rows.push({
      cells,
      line,
      fault: `The quote opened on line ${String(line)} is not closed.`,
    });
    this.#begin();
    this.#line = this.#rowLine = line + 1;
    this.#afterCr = false;
    return end === null ? "" : text.slice(end.index + end[0].length);
  }

  #grow(text: string): void {
    this.#cell += text;
    if (this.#cell.length <= CELL_MAX_UNITS || this.#state === "quoted") return;
    this.#cell = this.#cell.slice(0, CELL_MAX_UNITS);
    this.#fault = `Line ${String(this.#rowLine)} has a cell of more than ${String(CELL_MAX_UNITS)} characters.`;
  }

  #addCell(): void {
    if (this.#cells.length < COLUMNS_MAX) this.#cells.push(this.#cell);
    else
      this.#fault = `Line ${String(this.#rowLine)} has more than ${String(COLUMNS_MAX)} columns.`;
    this.#cell = "";
  }

  #endRow(isCellDone = false): void {
    if (!isCellDone) this.#addCell();
    const cells = this.#cells;
    if (cells.length > 1 || cells[0] !== "") {
      const fault = this.#fault;
      this.#rows.push({ cells, line: this.#rowLine, ...(fault !== undefined && { fault }) });
    }
    this.#begin();
    this.#rowLine = this.#line;
  }

  #begin(): void {
    this.#cells = [];
    this.#cell = "";
    this.#raw = "";
    this.#fault = undefined;
    this.#hasBreak = false;
    this.#state = "start";
  }

  #takeRows(): readonly RawRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

/** Of a row whose quote may be broken: a whole row of short cells, or a long one. */
const RAW_MAX_UNITS = 4 * CELL_MAX_UNITS;
