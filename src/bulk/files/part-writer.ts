import { TableFault } from "../../core/batch/entry-cell.ts";
import type { MovedRows } from "../../core/batch/moved-rows.ts";
import { decoded, type TokenKind } from "./xml-reader.ts";
import { inXml } from "./write-workbook.ts";

const PATTERNS = new Map<string, RegExp>();

function patternOf(name: string): RegExp {
  const known = PATTERNS.get(name);
  if (known !== undefined) return known;
  const pattern = new RegExp(`\\s(?:[\\w-]+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`);
  PATTERNS.set(name, pattern);
  return pattern;
}

export function attributeOf(tag: string, name: string): string | undefined {
  const found = patternOf(name).exec(tag);
  return found === null ? undefined : decoded(found[1] ?? found[2] ?? "");
}

/** Changes an attribute where it stands, or leaves it out. */
export const withAttribute = (tag: string, name: string, value: string | undefined): string =>
  tag.replace(patternOf(name), () => (value === undefined ? "" : ` ${name}="${inXml(value)}"`));

/** What one element holds between its tags. */
const CONTENT_MAX_UNITS = 1_000_000;

export function bounded(text: string): string {
  if (text.length <= CONTENT_MAX_UNITS) return text;
  throw new TableFault("A cell of the workbook holds too much; save it as .csv.");
}

/** A part of a workbook as it comes out, piece by piece. */
export interface Writer {
  token(kind: TokenKind, name: string | undefined, xml: string): void;
  /** What came out since it was asked last. */
  take(): string;
}

/** Attributes that name cells, by their elements. */
const REFERRING: Readonly<Record<string, string>> = {
  autoFilter: "ref",
  comment: "ref",
  conditionalFormatting: "sqref",
  dataValidation: "sqref",
  hyperlink: "ref",
  ignoredError: "sqref",
  mergeCell: "ref",
  protectedRange: "sqref",
  sortCondition: "ref",
  sortState: "ref",
  table: "ref",
  threadedComment: "ref",
};

const FORMULAS = new Set(["definedName", "f", "formula", "formula1", "formula2"]);

/** What may not stand without anything in it. */
const LISTS = new Set([
  "dataValidations",
  "hyperlinks",
  "ignoredErrors",
  "mergeCells",
  "protectedRanges",
]);

/** What nothing needs, and would have to be counted anew. */
const UNNEEDED = new Set(["dimension", "rowBreaks", "selection"]);

/** A tag as it is written, or undefined to leave the element out. */
export type ChangeTag = (name: string, tag: string) => string | undefined;

/** Writes a part with what refers to rows of a sheet moved: of that sheet itself, or of others. */
export class PartWriter implements Writer {
  readonly #moves: MovedRows;
  readonly #isHere: boolean;
  readonly #change: ChangeTag;
  #text = "";
  #left: string | undefined;
  #list: { readonly name: string; readonly tag: string } | undefined;
  #formula: { readonly name: string; text: string } | undefined;
  #above = 0;

  constructor(moves: MovedRows, isHere: boolean, change: ChangeTag = (_, tag) => tag) {
    this.#moves = moves;
    this.#isHere = isHere;
    this.#change = change;
  }

  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  token(kind: TokenKind, name: string | undefined, xml: string): void {
    if (this.#left !== undefined) {
      if (kind === "close" && name === this.#left) this.#left = undefined;
    } else if (this.#formula !== undefined) this.#inFormula(kind, name, xml);
    else if (kind === "open" || kind === "empty") this.#open(kind, name, xml);
    else if (kind === "close" && this.#list !== undefined && name === this.#list.name)
      this.#list = undefined;
    else if (this.#list === undefined) this.#text += xml;
  }

  #open(kind: TokenKind, name: string | undefined, xml: string): void {
    const tag = name === undefined ? xml : this.#changed(name, xml);
    if (tag === undefined) {
      if (kind === "open") this.#left = name;
      return;
    }
    if (name !== undefined && LISTS.has(name)) {
      const uncounted = withAttribute(tag, "count", undefined);
      if (kind === "open") this.#list = { name, tag: this.#moves.isNone ? tag : uncounted };
      return;
    }
    this.#text += (this.#list?.tag ?? "") + tag;
    this.#list = undefined;
    if (kind === "open" && name !== undefined && FORMULAS.has(name))
      this.#formula = { name, text: "" };
  }

  #changed(name: string, xml: string): string | undefined {
    const tag = this.#change(name, xml);
    if (tag === undefined || this.#moves.isNone || !this.#isHere) return tag;
    if (UNNEEDED.has(name)) return undefined;
    const attribute = REFERRING[name];
    if (attribute === undefined) return withTop(tag, this.#moves);
    const ranges = attributeOf(tag, attribute);
    if (ranges === undefined) return tag;
    const first = Number(/\d+/.exec(ranges)?.[0] ?? 0);
    this.#above = this.#moves.before(this.#moves.at(first)) - first;
    const moved = this.#moves.ranges(ranges);
    const isNoMerge = name === "mergeCell" && moved !== undefined && isOneCell(moved);
    if (moved === undefined || isNoMerge) return undefined;
    return withAttribute(tag, attribute, name === "table" ? withBody(moved) : moved);
  }

  #inFormula(kind: TokenKind, name: string | undefined, xml: string): void {
    const formula = this.#formula ?? { name: "", text: "" };
    if (kind !== "close" || name !== formula.name) {
      formula.text = bounded(formula.text + xml);
      return;
    }
    const text = decoded(formula.text);
    const isRelative = name === "formula" || name === "formula1" || name === "formula2";
    const moved =
      this.#moves.isNone || !(this.#isHere || this.#moves.names(text))
        ? text
        : this.#moves.formula(text, this.#isHere, [isRelative ? this.#above : 0, 0]);
    const lost = name === "definedName" ? "#REF!" : text;
    this.#text += (moved === text ? formula.text : inXml(moved ?? lost)) + xml;
    this.#formula = undefined;
  }
}

const isOneCell = (range: string): boolean => {
  const [first, last = first] = range.split(":");
  return first === last;
};

/** A table has a row below its header, which may be blank. */
function withBody(range: string): string {
  const [, start = "", first, end = "", last] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(range) ?? [];
  return first === undefined || first !== last
    ? range
    : `${start}${first}:${end}${String(Number(first) + 1)}`;
}

/** The first cell that a window shows. */
function withTop(tag: string, moves: MovedRows): string {
  const [, column = "", row] = /^([A-Z]+)(\d+)$/.exec(attributeOf(tag, "topLeftCell") ?? "") ?? [];
  if (row === undefined) return tag;
  return withAttribute(tag, "topLeftCell", column + String(moves.at(Number(row))));
}
