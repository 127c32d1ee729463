import { trimEntry } from "../address/address.ts";
import type { RawRow } from "./csv-reader.ts";
import { TableFault, entriesOf, kindOfCell } from "./entry-cell.ts";
import { NOT_READ, RESULT_COLUMNS, unguarded } from "./result-cells.ts";

export interface ListRow {
  readonly cells: readonly string[];
  /** Where it begins in the file, from 1. */
  readonly line: number;
  /** None when its cells are blank, several when they hold several. */
  readonly entries: readonly string[];
  /** How many entries each column holds, where further columns are read, too. */
  readonly spread?: readonly number[] | undefined;
  readonly readAs?: string | undefined;
  readonly reason?: string | undefined;
  readonly object?: string | undefined;
}

export interface ListShape {
  readonly header: readonly string[];
  /** Name of the column with the entries, or "column 2". */
  readonly column: string;
  readonly at: number;
  readonly others: readonly string[];
  /** Columns that are read with it, as "E-mail 2 Address" is with "E-mail Address". */
  readonly further?: readonly number[];
  readonly delimiter: string;
  readonly above?: number;
  /** Where the header stands; absent: there is none. */
  readonly headLine?: number;
  /** Columns of ours follow, from an earlier run. */
  readonly isAgain?: boolean;
}

/** `list`: one column of entries, whose name may stand above it. `objects`: the first row names the columns. */
export type ListForm = "table" | "list" | "objects";

export const SAMPLE_ROWS = 200;

/** Cells of a wide table that are looked at to find its column. */
export const SAMPLE_CELLS = 100_000;

const PREAMBLE_MAX_ROWS = 20;

/** Columns that cells beside the table add; each is written for every row. */
const WIDER_MAX = 100;

const ADDRESS_NAMES = new Set(
  (
    "email emails mail mails emailaddress emailaddresses mailaddress emailid address entry emailadresse emailadressen mailadresse " +
    "adresseemail adressemail adresseelectronique courriel mel correo correoelectronico direcciondecorreo email1 " +
    "indirizzoemail indirizzomail postaelettronica enderecodeemail correioeletronico correioeletronico emailadres mailadres " +
    "adresemail adrese mailadres pocztaelektroniczna epost epostadress epostadresse eposta почта электроннаяпочта элпочта адресэлпочты " +
    "邮箱 电子邮件 电子邮箱 邮件地址 メール メールアドレス 이메일"
  ).split(" "),
);
const ADDRESS_WORD = /mail|courriel|correo|correio|e-?post|почта|邮箱|邮件|メール|이메일/i;
const DOMAIN_NAMES = new Set(
  "domain domains domainname domaine dominio dominios domein domena doman домен 域名 ドメイン website host".split(
    " ",
  ),
);

const plain = (name: string): string =>
  trimEntry(name)
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

const isAddressWord = (name: string): boolean => ADDRESS_WORD.test(name);

/** "2" and "column 2" are numbers first, then names. */
function numberOf(wanted: string): number | undefined {
  const digits = /^(?:column[ _])?([1-9]\d{0,4})$/.exec(wanted)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const isEntryName = (name: string): boolean =>
  ADDRESS_NAMES.has(plain(name)) || DOMAIN_NAMES.has(plain(name));

const isEntryRow = (cells: readonly string[]): boolean =>
  cells.some(
    (cell) =>
      /[@\uff20]/.test(cell) ||
      (kindOfCell(cell) !== "other" && !isEntryName(cell) && !ADDRESS_WORD.test(cell)),
  );

/** A line above a table that holds an address among other words. */
function isTitle(cells: readonly string[]): boolean {
  const [title = ""] = cells;
  const [entry = "", ...others] = entriesOf(title);
  return filledOf(cells) === 1 && others.length === 0 && /\s/.test(entry);
}

/** Only digits and what stands between those of telephone numbers, below a title or not. */
function areNumbers([first, ...others]: readonly (readonly string[])[]): boolean {
  const cells = (others.length === 0 ? [first] : others).map((row) => row?.[0] ?? "");
  return (
    cells.some((cell) => /\d/.test(cell)) && cells.every((cell) => /^[+\d\s().,/-]*$/.test(cell))
  );
}

const NO_COLUMN = "No column holds addresses or domains; name it with column.";
const NO_VALUES =
  "The sheet has formulas without stored values; open the workbook in a spreadsheet program, save it and send it again.";

export class ListTable {
  readonly #wanted: string;
  readonly #form: ListForm;
  readonly #delimiter: string;
  #sample: RawRow[] = [];
  #sampleCells = 0;
  #shape: ListShape | undefined;
  #index = 0;
  #further: readonly number[] = [];
  #width = 0;
  /** Where our own columns of an earlier run begin, and where their status and message stand. */
  #ownAt = Infinity;
  #statusAt = -1;
  #messageAt = -1;

  /** `wanted`: name or number of the column; absent: found by its name, else by what it holds. */
  constructor(form: ListForm, delimiter: string, wanted: string | undefined) {
    this.#form = form;
    this.#delimiter = delimiter;
    this.#wanted = wanted === undefined ? "" : trimEntry(wanted);
  }

  get shape(): ListShape | undefined {
    return this.#shape;
  }

  /** The rows that are known to be some now. Throws a `TableFault` when no column holds entries. */
  add(rows: readonly RawRow[]): readonly ListRow[] {
    if (this.#shape !== undefined) return this.#read(this.#shape, rows);
    for (const row of rows) {
      this.#sample.push(row);
      this.#sampleCells += row.cells.length;
    }
    const isEnough = this.#sample.length >= SAMPLE_ROWS || this.#sampleCells >= SAMPLE_CELLS;
    return isEnough ? this.#begin() : [];
  }

  end(): readonly ListRow[] {
    return this.#shape === undefined && this.#sample.length > 0 ? this.#begin() : [];
  }

  #begin(): readonly ListRow[] {
    const rows = this.#sample;
    this.#sample = [];
    const at = this.#headerAt(rows);
    const body = at < 0 ? rows : rows.slice(at + 1);
    const names = withRowNames(rows[at]?.cells ?? [], body);
    const widest = body.reduce((most, { cells }) => Math.max(most, filledOf(cells)), 0);
    const width = at < 0 ? widthOf(rows) : names.length;
    this.#findOwn(names);
    const header = Array.from(
      { length: Math.min(Math.max(width, Math.min(widest, width + WIDER_MAX)), this.#ownAt) },
      (_, index) =>
        at < 0 && this.#form === "list" ? "entry" : (names[index] ?? `column_${String(index + 1)}`),
    );
    this.#width = Math.min(width, this.#ownAt);
    const most = Math.min(SAMPLE_ROWS, Math.max(2, SAMPLE_CELLS / header.length));
    const sample = body.slice(0, most).map(({ cells }) => cells);
    const isUnvalued = body.some(({ unvalued }) => unvalued !== undefined);
    const { index, others } = this.#findColumn(
      at < 0 ? [] : header,
      header.length,
      sample,
      isUnvalued,
    );
    const nameOf = (column: number): string => {
      const name = at < 0 && this.#form !== "list" ? "" : trimEntry(header[column] ?? "");
      return name === "" ? `column ${String(column + 1)}` : name;
    };
    this.#index = index;
    this.#further = at < 0 ? [] : furtherOf(header, index);
    const headLine = rows[at]?.line ?? 0;
    const shape = {
      header,
      column: nameOf(index),
      at: index,
      others: others.filter((column) => !this.#further.includes(column)).map(nameOf),
      delimiter: this.#delimiter,
      ...(this.#further.length > 0 && { further: this.#further }),
      ...(at > 0 && { above: at }),
      ...(headLine > 0 && { headLine }),
      ...(this.#ownAt < Infinity && { isAgain: true }),
    };
    this.#shape = shape;
    return this.#read(shape, body);
  }

  #headerAt(rows: readonly RawRow[]): number {
    if (this.#form === "objects") return 0;
    const wanted = this.#wanted.toLowerCase();
    const top = rows.slice(0, PREAMBLE_MAX_ROWS).map(({ cells }) => cells);
    const named = top.findIndex((cells) =>
      cells.some((cell) => wanted !== "" && trimEntry(cell).toLowerCase() === wanted),
    );
    if (named >= 0 && numberOf(wanted) === undefined) return named;
    const width = widthOf(rows);
    const data = top.findIndex((cells) => isEntryRow(cells) && !(width > 1 && isTitle(cells)));
    const above = data < 0 ? top : top.slice(0, data);
    const titled = above.findIndex((cells) => cells.some(isEntryName));
    if (titled >= 0 || this.#form === "list") return titled;
    const isFull = (cells: readonly string[]): boolean => cells.length >= width;
    const worded = above.findIndex((cells) => isFull(cells) && cells.some(isAddressWord));
    return rows.length > 1 ? (worded >= 0 ? worded : above.findIndex(isFull)) : -1;
  }

  #findOwn(names: readonly string[]): void {
    const at = ["original", "verdict", "status"]
      .map((name) => names.indexOf(name))
      .find((index) => index > 0 && isOwn(names.slice(index)));
    if (at === undefined) return;
    this.#ownAt = at;
    this.#statusAt = names.indexOf("status");
    this.#messageAt = names.indexOf("message");
  }

  #findColumn(
    names: readonly string[],
    width: number,
    rows: readonly (readonly string[])[],
    isUnvalued: boolean,
  ): { readonly index: number; readonly others: readonly number[] } {
    const columns = Array.from({ length: width }, (_, index) => {
      const cells = rows.map((row) => row[index] ?? "");
      const kinds = cells.map(kindOfCell);
      return {
        index,
        name: plain(names[index] ?? ""),
        isFilled: cells.some((cell) => cell !== ""),
        addresses: kinds.filter((kind) => kind === "address").length,
        domains: kinds.filter((kind) => kind === "domain").length,
      };
    });
    type Column = (typeof columns)[number];
    const best = (
      is: (column: Column) => boolean,
      count: "addresses" | "domains",
    ): number | undefined =>
      columns.filter(is).sort((a, b) => b[count] - a[count] || a.index - b.index)[0]?.index;
    const isNamed = ({ name, isFilled }: Column): boolean => ADDRESS_NAMES.has(name) && isFilled;
    const holds = ({ addresses }: Column): boolean => addresses > 0;
    const found =
      this.#named(names, width) ??
      best(isNamed, "addresses") ??
      best((column) => holds(column) && ADDRESS_WORD.test(column.name), "addresses") ??
      best(holds, "addresses") ??
      best(({ name, domains }) => domains > 0 && DOMAIN_NAMES.has(name), "domains") ??
      best(({ domains }) => domains > 0, "domains") ??
      (rows.length === 0 || (width === 1 && !isUnvalued && !areNumbers(rows)) ? 0 : undefined);
    if (found === undefined) throw new TableFault(isUnvalued ? NO_VALUES : NO_COLUMN);
    const others = columns.filter((column) => isNamed(column) || holds(column));
    return { index: found, others: others.flatMap(({ index }) => (index === found ? [] : index)) };
  }

  #named(names: readonly string[], width: number): number | undefined {
    if (this.#wanted === "") return undefined;
    const wanted = this.#wanted.toLowerCase();
    const number = numberOf(wanted);
    if (number !== undefined && number <= width) return number - 1;
    const index = names.findIndex((name) => trimEntry(name).toLowerCase() === wanted);
    if (index >= 0) return index;
    throw new TableFault("There is no column of that name.");
  }

  #read({ header }: ListShape, rows: readonly RawRow[]): readonly ListRow[] {
    return rows.map((row) => this.#readRow(row, header.length));
  }

  /** One shape for every row: objects that are spread take five times as long. */
  #readRow(row: RawRow, width: number): ListRow {
    const { line, fault, object, text } = row;
    const raw = text === undefined ? row.cells : padded([], this.#index).concat(text);
    const isOwn = this.#ownAt < Infinity;
    const cells = isOwn
      ? raw.slice(0, width).map(unguarded)
      : withinWidth(raw, width, this.#delimiter);
    const cell = raw[this.#index] ?? "";
    const first = entriesOf(cell);
    const each = this.#further.map((column) => entriesOf(raw[column] ?? ""));
    const isOne = each.length === 0;
    const entries = isOne ? first : [first, ...each].flat();
    const spread = isOne ? undefined : [first, ...each].map(({ length }) => length);
    const isUnread = raw[this.#statusAt] === NOT_READ;
    const hasMore = !isOwn && filledOf(raw) > this.#width;
    const reason =
      fault ??
      (isUnread ? (raw[this.#messageAt] ?? "") : undefined) ??
      (hasMore && kindOfCell(cell) === "other"
        ? `Line ${String(line)} has ${String(filledOf(raw))} cells, but there are ${String(this.#width)} columns.`
        : undefined) ??
      faultOf(entries, row, this.#width, this.#index);
    if (reason !== undefined)
      return { cells, line, entries: [], spread, readAs: undefined, reason, object };
    const shown = isOne ? (cells[this.#index] ?? "") : this.#textOf(cells);
    const readAs = unwrapping(entries, shown);
    return { cells, line, entries, spread, readAs, reason, object };
  }

  #textOf(cells: readonly string[]): string {
    const read = [this.#index, ...this.#further].map((column) => cells[column] ?? "");
    return read.filter((text) => text !== "").join(", ");
  }
}

/** Names of columns that a cleaned file, or one of the command, ends with. */
function isOwn(names: readonly string[]): boolean {
  const rest = names[0] === "original" ? names.slice(1) : names;
  const isJudged = rest[0] === "verdict" && rest[1] === "reason";
  const found = isJudged ? rest.slice(2) : rest;
  const isFound = found.length > 2 && found[0] === "status";
  return (
    (isFound || (isJudged && found.length === 0)) &&
    found.every((name) => RESULT_COLUMNS.includes(name))
  );
}

/** Columns of second and further addresses: named like the one that is read but for their number. */
function furtherOf(header: readonly string[], index: number): readonly number[] {
  const [name, ...names] = [header[index] ?? "", ...header].map(plain);
  const bare = name?.replace(/\d/g, "");
  if (name === undefined || !/^\D+1?\D*$/.test(name)) return [];
  return names.flatMap((other, at) =>
    /^\D+[2-9]\D*$/.test(other) && other.replace(/\d/g, "") === bare ? at : [],
  );
}

/** What the entries were read as, unless the cell says it. */
function unwrapping(entries: readonly string[], shown: string): string | undefined {
  if (entries.length === 1 && entries[0] === shown) return undefined;
  const readAs = entries.join(", ");
  const isSaid = readAs === "" || readAs === trimEntry(shown) || shown === `'${readAs}`;
  return isSaid ? undefined : readAs;
}

/** R writes no name above the column with the names of its rows. */
function withRowNames(names: readonly string[], body: readonly RawRow[]): readonly string[] {
  const at = names.findIndex(isEntryName);
  const isShifted = ({ cells }: RawRow): boolean =>
    filledOf(cells) === names.length + 1 &&
    kindOfCell(cells[at] ?? "") === "other" &&
    kindOfCell(cells[at + 1] ?? "") !== "other";
  return at >= 0 && body.length > 0 && body.every(isShifted) ? ["", ...names] : names;
}

function faultOf(
  entries: readonly string[],
  { cells, line, unvalued }: RawRow,
  width: number,
  index: number,
): string | undefined {
  if (entries.some((entry) => entry.includes("\ufffd")))
    return `Line ${String(line)} has octets that are no text in its encoding.`;
  if (entries.length > 0) return undefined;
  const hasBreak = cells.length < width && cells.some((cell) => /[\r\n]/.test(cell));
  return hasBreak
    ? `The quote opened on line ${String(line)} is not closed where it should be.`
    : unvalued?.includes(index) === true
      ? `Row ${String(line)} has a formula without a stored value.`
      : undefined;
}

function filledOf(cells: readonly string[]): number {
  let count = cells.length;
  while (count > 0 && cells[count - 1] === "") count -= 1;
  return count;
}

function widthOf(rows: readonly RawRow[]): number {
  const counts = new Map<number, number>();
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  let best = 0;
  for (const [width, count] of counts) if (count > (counts.get(best) ?? 0)) best = width;
  return best;
}

/** What a row has beyond its columns goes into the last one. */
function withinWidth(cells: readonly string[], width: number, joint: string): readonly string[] {
  if (cells.length <= width) return cells;
  if (width === 0 || filledOf(cells) <= width) return cells.slice(0, width);
  return [...cells.slice(0, width - 1), cells.slice(width - 1, filledOf(cells)).join(joint)];
}

export const padded = (cells: readonly string[], width: number): readonly string[] =>
  cells.length >= width ? cells : [...cells, ...Array<string>(width - cells.length).fill("")];
