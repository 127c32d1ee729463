import { trimEntry } from "../../core/address/address.ts";
import { Blanks, CELL_MAX_UNITS, COLUMNS_MAX, type RawRow } from "../../core/batch/csv-reader.ts";
import { TableFault, kindOfCell } from "../../core/batch/entry-cell.ts";
import { jsonIn } from "../../core/json.ts";
import { SAMPLE_ROWS } from "../../core/batch/list-table.ts";

const LINE_MAX_UNITS = 2_000_000;

const tooLong = (what: string): TableFault =>
  new TableFault(`${what} is longer than ${String(LINE_MAX_UNITS)} characters.`);

/** Lines of text; of a line that is too long, parts that end with a separator. */
export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let tail = "";
  let isAfterCr = false;
  for await (const text of texts) {
    if (text === "") continue;
    const lines = (isAfterCr && text.startsWith("\n") ? text.slice(1) : text).split(/\r\n|\r|\n/);
    isAfterCr = text.endsWith("\r");
    lines[0] = tail + (lines[0] ?? "");
    tail = lines.pop() ?? "";
    if (tail.length > LINE_MAX_UNITS) {
      const end = [";", ",", " "].map((sign) => tail.lastIndexOf(sign) + 1).find((at) => at > 0);
      if (end === undefined) throw tooLong("A line");
      lines.push(tail.slice(0, end));
      tail = tail.slice(end);
    }
    if (lines.length > 0) yield lines;
  }
  if (tail !== "") yield [tail];
}

/** `lines`: a value on each line; `values`: in an array, or of many lines each; `rows`: arrays in an array. */
export type JsonForm = "lines" | "values" | "rows";

export function jsonForm(head: string): JsonForm | undefined {
  const text = trimEntry(head);
  if (/^\[\s*\[/.test(text)) return "rows";
  if (/^\[\s*(?:[{"\]]|null|true|false)/.test(text)) return "values";
  if (!/^[{"]/.test(text)) return undefined;
  const start = trimEntry(/^[^\r\n]*/.exec(text)?.[0] ?? "");
  const value = jsonIn(start);
  if (value !== undefined)
    return typeof value === "object" || start.includes("@") ? "lines" : undefined;
  if (!/^\{\s*["}]/.test(text)) return undefined;
  return /[{[,]$/.test(start) ? "values" : "lines";
}

/** A JSON text has no members: it is its entry. */
interface ParsedObject extends Omit<RawRow, "cells"> {
  readonly members: NamedValues;
  readonly units: number;
}

type NamedValues = readonly (readonly [name: string, value: string])[];

const SLICE_CELLS = 200_000;

export async function* objectRows(
  texts: AsyncIterable<string>,
  form: JsonForm,
): AsyncGenerator<readonly RawRow[]> {
  const sample: ParsedObject[] = [];
  let table: ObjectTable | undefined;
  for await (const values of form === "lines" ? jsonLines(texts) : jsonValues(texts)) {
    if (form === "rows") {
      yield values.map(({ members, ...row }) => ({
        ...row,
        cells: members.map(([, cell]) => cell),
      }));
      continue;
    }
    for (const parsed of values) {
      if (table !== undefined) {
        if (table.add(parsed)) yield table.take();
      } else if (sample.push(parsed) === SAMPLE_ROWS) table = ObjectTable.of(sample);
    }
    if (table !== undefined) yield table.take();
  }
  const [only] = sample;
  if (table !== undefined || only === undefined) return;
  if (sample.length === 1 && hidesList(only)) throw new TableFault(ONE_OBJECT);
  yield ObjectTable.of(sample).take();
}

const ONE_OBJECT =
  "The file is one JSON object with a list inside; send the list alone, for example: jq '.contacts' FILE > list.json.";

function hidesList({ members }: ParsedObject): boolean {
  const isInside = (name: string, member: string): boolean =>
    name.includes(".") || /^[[{]/.test(member);
  const own = members.some(
    ([name, text]) => !isInside(name, text) && kindOfCell(text) === "address",
  );
  return !own && members.some(([name, text]) => isInside(name, text) && text.includes("@"));
}

/** Objects as rows, which are no wider than their last member; a slice of them is taken before it has many cells. */
class ObjectTable {
  readonly #places: ReadonlyMap<string, number>;
  readonly #blanks = new Blanks();
  #rows: RawRow[] = [];
  #cells = 0;

  private constructor(names: readonly string[]) {
    this.#places = new Map(names.map((name, at) => [name, at]));
    this.#rows.push({ cells: names, line: 0 });
  }

  static of(sample: readonly ParsedObject[]): ObjectTable {
    const names = new Set(sample.flatMap(({ members }) => members.map(([name]) => name)));
    const table = new ObjectTable(names.size === 0 ? ["entry"] : [...names].slice(0, COLUMNS_MAX));
    for (const each of sample) table.add(each);
    return table;
  }

  add({ members, units, line, fault, object, text }: ParsedObject): boolean {
    const cells: string[] = [];
    const more: string[] = [];
    let isLong = false;
    let filled = 0;
    for (const [name, member] of members) {
      const at = this.#places.get(name);
      if (at === undefined) more.push(name);
      else if (member !== "") {
        while (cells.length < at) cells.push("");
        cells[at] = member;
        filled += 1;
        isLong ||= member.length > CELL_MAX_UNITS;
      }
    }
    this.#blanks.count(cells.length - filled, units);
    const why = fault ?? faultOf(line, isLong, more);
    this.#rows.push({ cells, line, fault: why, object, text });
    this.#cells += cells.length;
    return this.#cells > SLICE_CELLS;
  }

  take(): readonly RawRow[] {
    const rows = this.#rows;
    [this.#rows, this.#cells] = [[], 0];
    return rows;
  }
}

function faultOf(line: number, isLong: boolean, more: readonly string[]): string | undefined {
  if (isLong)
    return `Line ${String(line)} has a member of more than ${String(CELL_MAX_UNITS)} characters.`;
  if (more.length === 0) return undefined;
  return `Line ${String(line)} has members that the first ${String(SAMPLE_ROWS)} lines do not have: ${more.slice(0, 5).join(", ")}.`;
}

async function* jsonLines(texts: AsyncIterable<string>): AsyncGenerator<readonly ParsedObject[]> {
  let number = 0;
  for await (const lines of linesOf(texts)) {
    yield lines.flatMap((line) => {
      number += 1;
      const text = trimEntry(line);
      return text === "" ? [] : [parsedValue(text, number)];
    });
  }
}

/** The values of arrays, or values one after the other, each of which may have many lines. */
async function* jsonValues(texts: AsyncIterable<string>): AsyncGenerator<readonly ParsedObject[]> {
  const cutter = new ValueCutter();
  for await (const text of texts) yield cutter.push(text);
  yield cutter.end();
}

/** Finds where values begin and end; `JSON.parse` reads them. */
class ValueCutter {
  #kept = "";
  #depth = 0;
  #isInArray = false;
  #line = 1;
  #startLine = 0;
  #isInText = false;
  #isEscaped = false;
  #isBroken = false;
  #isLineStart = false;
  #values: ParsedObject[] = [];

  push(text: string): readonly ParsedObject[] {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const char = text[at] ?? "";
      if (char === "\n") this.#line += 1;
      if (this.#isBroken && this.#beginsAgain(char)) {
        this.#take(text.slice(from, at));
        from = at;
      }
      if (this.#startLine === 0 && char > " ") this.#startLine = this.#line;
      const part = this.#isInText ? this.#passText(char) : this.#partOf(char);
      if (part === "inside") continue;
      this.#take(text.slice(from, part === "last" ? at + 1 : at));
      from = at + 1;
    }
    this.#kept += text.slice(from);
    if (this.#kept.length > LINE_MAX_UNITS) throw tooLong("A value of the JSON");
    return this.#values.splice(0);
  }

  end(): readonly ParsedObject[] {
    this.#take("");
    return this.#values;
  }

  /** No text of JSON goes on on the next line: such a value ends where a line begins with another. */
  #beginsAgain(char: string): boolean {
    if (char > " ") {
      this.#isBroken = !this.#isLineStart || (char !== "{" && char !== "[");
      this.#isLineStart = false;
    } else this.#isLineStart ||= char === "\n" || char === "\r";
    return !this.#isBroken;
  }

  #passText(char: string): "inside" | "between" {
    if (char === "\n" || char === "\r") {
      this.#isBroken = this.#isLineStart = this.#depth > 0;
      this.#isInText = this.#isEscaped = false;
      this.#depth = 0;
      return this.#isBroken ? "inside" : "between";
    }
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === "\\") this.#isEscaped = true;
    else if (char === '"') this.#isInText = false;
    return "inside";
  }

  #partOf(char: string): "inside" | "last" | "between" {
    if (this.#isBroken) return "inside";
    if (char === '"') this.#isInText = true;
    if (char === "," && this.#depth === 0) return "between";
    if (char === "[" && this.#depth === 0 && !this.#isInArray) {
      this.#isInArray = true;
      return "between";
    }
    if (char === "{" || char === "[") this.#depth += 1;
    if (char !== "}" && char !== "]") return "inside";
    if (this.#depth === 0) {
      this.#isInArray = false;
      return "between";
    }
    this.#depth -= 1;
    return this.#depth === 0 ? "last" : "inside";
  }

  #take(last: string): void {
    const text = trimEntry(this.#kept + last);
    if (text !== "") this.#values.push(parsedValue(text, this.#startLine));
    this.#kept = "";
    this.#startLine = 0;
  }
}

function parsedValue(text: string, line: number): ParsedObject {
  const units = text.length;
  const value = jsonIn(text);
  if (typeof value === "string") return { line, units, members: [], text: value };
  if (typeof value !== "object" || value === null) {
    const fault = `Line ${String(line)} is not a JSON object or text.`;
    return { line, units, members: [], text, fault };
  }
  try {
    return { line, units, members: membersOf(value, "", MEMBERS_IN_MEMBERS), object: text };
  } catch {
    const fault = `Line ${String(line)} is nested too deep.`; // JSON.stringify has no more stack
    return { line, units, members: [], text: "", fault };
  }
}

const MEMBERS_IN_MEMBERS = 3;

/** Members of members are named "user.email". */
const membersOf = (value: object, path: string, depth: number): NamedValues =>
  Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member === "string") return [[path + name, member] as const];
    if (member === null) return [[path + name, ""] as const];
    const isOpen = typeof member === "object" && !Array.isArray(member) && depth > 0;
    return isOpen && Object.keys(member).length > 0
      ? membersOf(member, `${path}${name}.`, depth - 1)
      : [[path + name, JSON.stringify(member)] as const];
  });

export const isVcard = (head: string): boolean => /^\s*BEGIN:VCARD\s/i.test(head.slice(0, 1_000));

export async function* vcardRows(texts: AsyncIterable<string>): AsyncGenerator<readonly RawRow[]> {
  yield [{ cells: ["name", "email"], line: 0 }];
  const cards = new CardReader();
  for await (const lines of linesOf(texts)) yield cards.push(lines);
  yield cards.end();
}

/** Up to the colon, unless that stands in quotes that nothing closes. */
const PARAMETERS = /^(?:[^":]|"[^"]*"){0,1000}(?=:)/;

class CardReader {
  #line = 0;
  #startLine = 0;
  #text = "";
  #isQuoted = false;
  #name = "";
  #addresses = "";
  #rows: RawRow[] = [];

  push(lines: readonly string[]): readonly RawRow[] {
    for (const line of lines) {
      this.#line += 1;
      const isFolded = line.startsWith(" ") || line.startsWith("\t") || this.#isSoft();
      if (!isFolded) {
        this.#read(this.#text);
        this.#text = line;
        this.#isQuoted = /^[^:]{0,1000}QUOTED-PRINTABLE[^:]{0,1000}:/i.test(line);
      } else if (this.#text.length < CELL_MAX_UNITS) {
        this.#text = this.#isSoft()
          ? this.#text.slice(0, -1) + line.trimStart()
          : this.#text + line.slice(1);
      }
    }
    return this.#rows.splice(0);
  }

  #isSoft(): boolean {
    return this.#isQuoted && this.#text.endsWith("=");
  }

  end(): readonly RawRow[] {
    this.#read(this.#text);
    this.#endCard();
    return this.#rows;
  }

  #read(line: string): void {
    const colon = line.indexOf(":", PARAMETERS.exec(line)?.[0].length);
    const [group = "", ...parameters] = line.slice(0, Math.max(colon, 0)).split(";");
    const property = group.slice(group.lastIndexOf(".") + 1).toUpperCase();
    const value = (): string => valueOf(line.slice(colon + 1), parameters.join(";"));
    if (property === "BEGIN") {
      this.#endCard();
      this.#startLine = this.#line - 1;
    } else if (property === "END") this.#endCard();
    else if (property === "FN") this.#name = value();
    else if (property === "EMAIL")
      this.#addresses += `${this.#addresses === "" ? "" : "; "}${value()}`;
  }

  #endCard(): void {
    if (this.#startLine === 0) return;
    const line = this.#startLine;
    const isLong = this.#addresses.length > CELL_MAX_UNITS;
    const fault = `The card on line ${String(line)} has more than ${String(CELL_MAX_UNITS)} characters of addresses.`;
    const cells = [this.#name, this.#addresses.slice(0, CELL_MAX_UNITS)];
    this.#rows.push({ cells, line, ...(isLong && { fault }) });
    [this.#startLine, this.#name, this.#addresses] = [0, "", ""];
  }
}

function valueOf(value: string, parameters: string): string {
  const text = /QUOTED-PRINTABLE/i.test(parameters)
    ? Buffer.from(
        value.replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
          String.fromCharCode(parseInt(hex, 16)),
        ),
        "latin1",
      ).toString()
    : value;
  return text
    .replace(/\\([,;\\])/g, "$1")
    .replace(/\\n/gi, " ")
    .trim();
}
