import { TableFault } from "./table-fault.ts";

/** Longest cell in UTF-16 code units: what spreadsheets hold, and one. */
export const CELL_MAX_UNITS = 32_768;

/** Most cells in one row. */
export const COLUMNS_MAX = 500;

/** What separates cells, by how often it stands in the first line; a comma when nothing does. */
export function detectDelimiter(text: string): string {
  const line = /^[^\r\n]*/.exec(text.slice(0, CELL_MAX_UNITS))?.[0] ?? "";
  const unquoted = line.replace(/"[^"]*"/g, "");
  const count = (mark: string): number => unquoted.split(mark).length - 1;
  return DELIMITERS.reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

const DELIMITERS = [",", ";", "\t", "|"];

const QUOTE = 34;
const LF = 10;
const CR = 13;

/** `start`: of a cell. `closed`: behind a quote that ends the cell, or is the first of a pair. */
type State = "start" | "plain" | "quoted" | "closed";

/**
 * Reads CSV (RFC 4180) as it comes, linear and with bounded memory. Lines end with CR, LF or both; blank
 * lines are not rows; a quote inside an unquoted cell is text. Throws a `TableFault` for an open quote, text
 * behind a closing one, a cell over `CELL_MAX_UNITS` and a row over `COLUMNS_MAX`.
 */
export class CsvReader {
  readonly #delimiter: number;
  #state: State = "start";
  #cell = "";
  #row: string[] = [];
  #rows: (readonly string[])[] = [];
  #line = 1;
  #quoteLine = 1;
  #afterCr = false;

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** The rows that ended in `text`. */
  push(text: string): readonly (readonly string[])[] {
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const isPairedLf = this.#afterCr && code === LF;
      this.#afterCr = code === CR;
      if (isPairedLf) {
        if (this.#state === "start") start = at + 1;
        continue;
      }
      if (code === LF || code === CR) this.#line += 1;
      start = this.#step(code, { text, start, at });
    }
    if (this.#state !== "closed") this.#grow(text.slice(start));
    return this.#takeRows();
  }

  /** The last row, when no line break ended it. */
  end(): readonly (readonly string[])[] {
    if (this.#state === "quoted") {
      throw new TableFault(`The quote opened on line ${String(this.#quoteLine)} is not closed.`);
    }
    if (this.#state !== "start" || this.#row.length > 0) this.#endRow();
    return this.#takeRows();
  }

  /** Returns where the text not yet in the cell begins. */
  #step(code: number, { text, start, at }: Place): number {
    switch (this.#state) {
      case "quoted":
        if (code !== QUOTE) return start;
        this.#grow(text.slice(start, at));
        this.#state = "closed";
        return at + 1;
      case "closed":
        return this.#afterQuote(code, at);
      case "start":
        if (code === QUOTE) {
          this.#state = "quoted";
          this.#quoteLine = this.#line;
          return at + 1;
        }
        this.#state = "plain";
        return this.#inPlain(code, { text, start: at, at });
      case "plain":
        return this.#inPlain(code, { text, start, at });
    }
  }

  #inPlain(code: number, { text, start, at }: Place): number {
    if (!this.#isEnd(code)) return start;
    this.#grow(text.slice(start, at));
    this.#endCell(code);
    return at + 1;
  }

  #afterQuote(code: number, at: number): number {
    if (code === QUOTE) {
      this.#state = "quoted"; // a pair of quotes is one
      return at;
    }
    if (!this.#isEnd(code)) {
      throw new TableFault(`Line ${String(this.#line)} has text behind a closing quote.`);
    }
    this.#endCell(code);
    return at + 1;
  }

  #isEnd(code: number): boolean {
    return code === this.#delimiter || code === LF || code === CR;
  }

  #endCell(code: number): void {
    if (code === this.#delimiter) this.#addCell();
    else this.#endRow();
    this.#state = "start";
  }

  #grow(text: string): void {
    this.#cell += text;
    if (this.#cell.length <= CELL_MAX_UNITS) return;
    const tooLong = `cell is longer than ${String(CELL_MAX_UNITS)} characters`;
    throw new TableFault(
      this.#state === "quoted"
        ? `The quote opened on line ${String(this.#quoteLine)} is not closed, or its ${tooLong}.`
        : `A ${tooLong} on line ${String(this.#line)}.`,
    );
  }

  #addCell(): void {
    if (this.#row.length >= COLUMNS_MAX) {
      const message = `Line ${String(this.#line)} has more than ${String(COLUMNS_MAX)} columns.`;
      throw new TableFault(message);
    }
    this.#row.push(this.#cell);
    this.#cell = "";
  }

  #endRow(): void {
    this.#addCell();
    if (this.#row.length > 1 || this.#row[0] !== "") this.#rows.push(this.#row);
    this.#row = [];
  }

  #takeRows(): readonly (readonly string[])[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

interface Place {
  readonly text: string;
  readonly start: number;
  readonly at: number;
}
