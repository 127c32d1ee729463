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

  /** Of "B4" or "B2:C9"; undefined when nothing of it is left. */
  range(text: string): string | undefined {
    const [, column, row, end] = /^([A-Z]+)(\d+)(?::([A-Z]+\d+))?$/.exec(text) ?? [];
    if (column === undefined) return text;
    const [, lastColumn = column, last = row] = /^([A-Z]+)(\d+)$/.exec(end ?? "") ?? [];
    const top = this.at(Number(row));
    const bottom = this.at(Number(last)) - (this.has(Number(last)) ? 1 : 0);
    if (bottom < top) return undefined;
    const first = column + String(top);
    return end === undefined ? first : `${first}:${lastColumn}${String(bottom)}`;
  }
}

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
