/** Where the rows of a sheet stand once some of them are taken out. Rows count from 1. */
export class MovedRows {
  readonly #removed: readonly number[];

  /** `removed` ascends. */
  constructor(removed: readonly number[]) {
    this.#removed = removed;
  }

  get isNone(): boolean {
    return this.#removed.length === 0;
  }

  has(row: number): boolean {
    return this.#removed[this.#before(row)] === row;
  }

  /** Of a row that is taken out, where the next one stands. */
  at(row: number): number {
    return row - this.#before(row);
  }

  #before(row: number): number {
    let [from, to] = [0, this.#removed.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#removed[middle] ?? 0) < row) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Of "B4" or "$B$2:C9"; undefined when nothing of it is left. */
  range(text: string): string | undefined {
    const [, column, row, lastColumn, last = row] = RANGE.exec(text) ?? [];
    if (column === undefined) return text;
    const top = this.at(Number(row));
    const bottom = this.at(Number(last)) - (this.has(Number(last)) ? 1 : 0);
    if (bottom < top) return undefined;
    const first = column + String(top);
    return lastColumn === undefined ? first : `${first}:${lastColumn}${String(bottom)}`;
  }

  /** A formula with the cells of the sheet `name` where they are now; undefined when it names one that is gone. */
  formula(text: string, name: string): string | undefined {
    let isGone = false;
    const moved = text.replace(OF_SHEET, (whole: string, sheet: string, cells: string) => {
      const called = sheet.replace(/^'|'$/g, "").replaceAll("''", "'");
      if (called.toLowerCase() !== name.toLowerCase()) return whole;
      const range = this.range(cells);
      isGone ||= range === undefined;
      return `${sheet}!${range ?? ""}`;
    });
    return isGone ? undefined : moved;
  }
}

const RANGE = /^(\$?[A-Z]+\$?)(\d+)(?::(\$?[A-Z]+\$?)(\d+))?$/;
const OF_SHEET =
  /('(?:[^']|''){1,200}'|[\p{L}\p{N}_.]{1,31})!(\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?)/gu;

/** Of "AB12" or "AB": 27. */
export function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at += 1) {
    const code = reference.charCodeAt(at) & ~32;
    if (code < 65 || code > 90) break;
    column = column * 26 + code - 64;
  }
  return column - 1;
}

/** Of 27: "AB". */
export function columnLetters(column: number): string {
  let name = "";
  for (let rest = column; rest >= 0; rest = Math.floor(rest / 26) - 1)
    name = String.fromCharCode(65 + (rest % 26)) + name;
  return name;
}
