/** Excel takes 8,192. */
const FORMULA_MAX_UNITS = 8_192;

const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;

/** Texts, names of sheets, what stands in brackets, words, and signs between those. Linear: each takes all it can. */
const TOKEN =
  /"[^"]*"?|(?:'[^']*'?)+!?|\[[^\]]*\]?|[\p{L}\p{N}_.$:\\?]+!?|[^"'[\p{L}\p{N}_.$:\\?]+/gu;

const END = /^(\$?)([A-Z]{0,3})(\$?)(\d{0,7})$/i;

type RangeEnd = readonly [start: string, column: string, dollar: string, row: number];

/** How far a formula that is shared with another cell is from it. */
export type Distance = readonly [rows: number, columns: number];

const NEAR: Distance = [0, 0];

/** Where the rows of a sheet stand, and what refers to them says, once some of them are taken out. Rows count from 1. */
export class MovedRows {
  readonly #removed: readonly number[];
  readonly #sheet: string;

  /** `removed` ascends. */
  constructor(removed: readonly number[], sheet: string) {
    this.#removed = removed;
    this.#sheet = sheet.toLowerCase();
  }

  get isNone(): boolean {
    return this.#removed.length === 0;
  }

  has(row: number): boolean {
    return this.#removed[this.#count((removed) => removed < row)] === row;
  }

  /** Of a row that is taken out, where the next one stands. */
  at(row: number): number {
    return row - this.#count((removed) => removed < row);
  }

  /** What the row at `at` was before. */
  before(at: number): number {
    return at + this.#count((removed, index) => removed - index <= at);
  }

  /** How many there are from the first on; they come before the others. */
  #count(is: (removed: number, index: number) => boolean): number {
    let [from, to] = [0, this.#removed.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (is(this.#removed[middle] ?? 0, middle)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** "B2:C9", or several behind blanks; undefined when nothing of them is left. */
  ranges(text: string): string | undefined {
    const left = text.split(" ").flatMap((range) => this.#reference(range, true, NEAR) ?? []);
    return left.length === 0 ? undefined : left.join(" ");
  }

  names(formula: string): boolean {
    return formula.toLowerCase().replaceAll("''", "'").includes(this.#sheet);
  }

  /** `isHere`: it stands in this sheet. Undefined when it cannot be said any more. */
  formula(text: string, isHere: boolean, by: Distance = NEAR): string | undefined {
    if (text.length > FORMULA_MAX_UNITS) return undefined;
    let moved = "";
    let isOurs = isHere;
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      if (token.endsWith("!")) {
        if (token.includes(":")) return undefined; // several sheets
        isOurs = text[index - 1] !== "]" && this.#isNamed(token.slice(0, -1));
        moved += token;
        continue;
      }
      const isName = text[index + token.length] === "(" && !token.includes(":");
      const reference = isName ? token : this.#reference(token, isOurs, by);
      if (reference === undefined) return undefined;
      moved += reference;
      isOurs = isHere;
    }
    return moved;
  }

  #isNamed(name: string): boolean {
    const plain = name.startsWith("'") ? name.slice(1, -1).replaceAll("''", "'") : name;
    return plain.toLowerCase() === this.#sheet;
  }

  #reference(text: string, isOurs: boolean, by: Distance): string | undefined {
    const ends = endsOf(text);
    if (ends === undefined) return undefined;
    const isFar = by[0] !== 0 || by[1] !== 0;
    if (ends.length === 0 || !(isOurs || isFar)) return text;
    const [from, to = from] = ends.map((end) => shifted(end, by));
    if (from === undefined || to === undefined) return undefined;
    if (!isOurs || from[3] === 0) return between(from, to, ends.length);
    const top = this.at(from[3]);
    const bottom = this.at(to[3]) - (this.has(to[3]) ? 1 : 0);
    if (bottom < top) return undefined;
    return between(inRow(from, top), inRow(to, bottom), ends.length);
  }
}

const inRow = ([start, column, dollar]: RangeEnd, row: number): RangeEnd => [
  start,
  column,
  dollar,
  row,
];

const between = (from: RangeEnd, to: RangeEnd, ends: number): string =>
  ends === 1 ? shown(from) : `${shown(from)}:${shown(to)}`;

/** The ends of a reference, none when it is another word; undefined when it holds one that is not understood. */
function endsOf(text: string): readonly RangeEnd[] | undefined {
  const all = text.split(":").map(endOf);
  const ends = all.filter((end) => end !== undefined);
  if (ends.length < all.length || ends.length > 2)
    return all.length > 1 && ends.length > 0 ? undefined : [];
  const [[, column, , row] = ["", "", "", 0]] = ends;
  return ends.length === 1 && (column === "" || row === 0) ? [] : ends;
}

function endOf(text: string): RangeEnd | undefined {
  const [whole = "", start = "", column = "", dollar = "", row = ""] = END.exec(text) ?? [];
  return /\w/.test(whole) ? [start, column, dollar, Number(row)] : undefined;
}

const shown = ([start, column, dollar, row]: RangeEnd): string =>
  start + column + dollar + (row === 0 ? "" : String(row));

function shifted(
  [start, column, dollar, row]: RangeEnd,
  [rows, columns]: Distance,
): RangeEnd | undefined {
  const isRowFixed = dollar !== "" || (column === "" && start !== "");
  const to = row === 0 || isRowFixed ? row : row + rows;
  const isColumnFixed = column === "" || start !== "" || columns === 0;
  const across = isColumnFixed ? 1 : columnOf(column) + 1 + columns;
  if ((row > 0 && to < 1) || to > ROWS_MAX || across < 1 || across > COLUMNS_MAX) return undefined;
  return [start, isColumnFixed ? column : columnName(across - 1), dollar, to];
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
export function columnName(column: number): string {
  let name = "";
  for (let rest = column; rest >= 0; rest = Math.floor(rest / 26) - 1)
    name = String.fromCharCode(65 + (rest % 26)) + name;
  return name;
}
