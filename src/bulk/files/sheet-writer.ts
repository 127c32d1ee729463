import {
  columnName,
  columnOf,
  type Distance,
  type MovedRows,
} from "../../core/batch/moved-rows.ts";
import type { CsvCell } from "../../core/batch/result-cells.ts";
import { attributeOf, bounded, PartWriter, withAttribute, type Writer } from "./part-writer.ts";
import { lineOf } from "./workbook.ts";
import { cellXml, inXml } from "./write-workbook.ts";
import { decoded, type TokenKind } from "./xml-reader.ts";

/** What a row of the list gets: cells that are another text, and cells of ours. */
export interface RowChange {
  readonly line: number;
  readonly changed: readonly (readonly [column: number, text: string])[];
  readonly added: readonly CsvCell[];
}

export interface SheetTerms {
  readonly moves: MovedRows;
  /** The next row that changes, taken once its line is reached; absent: it is another sheet than that of the list. */
  readonly next?: (line: number) => RowChange | undefined;
  /** Where our columns begin, and whether cells there are ours of an earlier run. */
  readonly start: number;
  readonly isAgain: boolean;
  /** Notes which shared texts are used. */
  readonly used: (text: number) => void;
}

interface SheetCell {
  readonly tag: string;
  readonly at: number;
  content: string;
  value: string;
  formula: { readonly tag: string; text: string; close: string } | undefined;
}

interface Shared {
  readonly text: string;
  readonly line: number;
  readonly at: number;
}

/** Units of formulas that were shared and are written out. */
const WRITTEN_OUT_UNITS = 20_000_000;

/** Writes a sheet's XML with rows taken out, cells changed and columns added; the rest stays as it is. */
export class SheetWriter implements Writer {
  readonly #terms: SheetTerms;
  readonly #isHere: boolean;
  readonly #around: PartWriter;
  readonly #changedCells = new Set<string>();
  readonly #shared = new Map<string, Shared>();
  #writtenOut = 0;
  #text = "";
  #isInData = false;
  #line = 0;
  #isLeft = false;
  #change: RowChange | undefined;
  #prefix = "";
  #at = -1;
  #cell: SheetCell | undefined;
  #inside: "v" | "f" | undefined;

  constructor(terms: SheetTerms) {
    this.#terms = terms;
    this.#isHere = terms.next !== undefined;
    // The link of a cell that is another text now would still go to the old address.
    this.#around = new PartWriter(terms.moves, this.#isHere, (name, tag) =>
      name === "hyperlink" && this.#changedCells.has(attributeOf(tag, "ref") ?? "")
        ? undefined
        : tag,
    );
  }

  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  token(kind: TokenKind, name: string | undefined, xml: string): void {
    if (!this.#isInData) {
      this.#around.token(kind, name, xml);
      this.#text += this.#around.take();
      this.#isInData = kind === "open" && name === "sheetData";
    } else if (this.#cell !== undefined) this.#inCell(this.#cell, kind, name, xml);
    else if (name === "row") this.#row(kind, xml);
    else if (name === "c" && kind !== "close") this.#beginCell(kind, xml);
    else if (name === "sheetData") {
      this.#isInData = false;
      this.#text += xml;
    } else if (!this.#isLeft) this.#text += xml;
  }

  #row(kind: TokenKind, xml: string): void {
    if (kind === "close") {
      if (!this.#isLeft) this.#text += this.#added() + xml;
      return;
    }
    const { moves, next } = this.#terms;
    this.#line = lineOf(attributeOf(xml, "r"), this.#line);
    this.#at = -1;
    this.#prefix = /^<([^\s>]*:)?/.exec(xml)?.[1] ?? "";
    this.#isLeft = this.#isHere && moves.has(this.#line);
    this.#change = this.#isLeft ? undefined : next?.(this.#line);
    if (this.#isLeft) return;
    if (!this.#isHere) this.#text += xml;
    else
      this.#text += withAttribute(
        withAttribute(xml, "r", String(moves.at(this.#line))),
        "spans",
        undefined,
      );
  }

  #added(): string {
    const cells = this.#change?.added ?? [];
    const line = String(this.#terms.moves.at(this.#line));
    return cells
      .map((cell, at) =>
        cell === undefined || cell === ""
          ? ""
          : this.#named(cellXml(cell, ` r="${columnName(this.#terms.start + at)}${line}"`)),
      )
      .join("");
  }

  #named(xml: string): string {
    return this.#prefix === "" ? xml : xml.replace(/<(\/?)/g, `<$1${this.#prefix}`);
  }

  #beginCell(kind: TokenKind, tag: string): void {
    const reference = attributeOf(tag, "r");
    this.#at = reference === undefined ? this.#at + 1 : columnOf(reference);
    const cell: SheetCell = { tag, at: this.#at, content: "", value: "", formula: undefined };
    if (kind === "empty") this.#write(cell, "");
    else this.#cell = cell;
  }

  #inCell(cell: SheetCell, kind: TokenKind, name: string | undefined, xml: string): void {
    if (kind === "close" && name === "c") {
      this.#cell = this.#inside = undefined;
      return this.#write(cell, xml);
    }
    if (name === "f" && kind !== "close") cell.formula = { tag: xml, text: "", close: "" };
    else if (name === "f" && cell.formula !== undefined) cell.formula.close = xml;
    else if (this.#inside === "f" && cell.formula !== undefined)
      cell.formula.text = bounded(cell.formula.text + xml);
    else cell.content = bounded(cell.content + xml);
    if (this.#inside === "v" && kind === "text") cell.value += xml;
    if (name === "v" || name === "f") this.#inside = kind === "open" ? name : undefined;
  }

  #write(cell: SheetCell, close: string): void {
    const { start, isAgain, used } = this.#terms;
    const formula = this.#formula(cell);
    const isOurs = this.#isHere && cell.at >= start && (isAgain || this.#change !== undefined);
    if (this.#isLeft || isOurs) return;
    const changed = this.#change?.changed.find(([column]) => column === cell.at);
    if (changed !== undefined) {
      this.#text += this.#changed(cell, changed[1]);
      return;
    }
    if (attributeOf(cell.tag, "t") === "s") used(Number(cell.value));
    const isValue = cell.formula !== undefined && formula === "";
    const tag = isValue ? withAttribute(cell.tag, "cm", undefined) : cell.tag;
    this.#text += this.#placed(tag) + formula + cell.content + close;
  }

  #placed(tag: string): string {
    const { moves } = this.#terms;
    if (!this.#isHere || moves.isNone) return tag;
    const column = /^[A-Za-z]+/.exec(attributeOf(tag, "r") ?? "")?.[0];
    if (column === undefined) return tag;
    return withAttribute(tag, "r", column + String(moves.at(this.#line)));
  }

  #changed({ tag, at }: SheetCell, text: string): string {
    const style = attributeOf(tag, "s");
    const reference = columnName(at) + String(this.#terms.moves.at(this.#line));
    this.#changedCells.add(columnName(at) + String(this.#line));
    return this.#named(
      cellXml(text, ` r="${reference}"${style === undefined ? "" : ` s="${inXml(style)}"`}`),
    );
  }

  /** Its XML as it is written; "" when the cell keeps its value alone. */
  #formula({ formula, at }: SheetCell): string {
    if (formula === undefined) return "";
    const { moves } = this.#terms;
    const { tag, text, close } = formula;
    const kind = attributeOf(tag, "t");
    const whole = tag + text + close;
    if (moves.isNone) return whole;
    if (kind === "shared") return this.#sharedFormula(tag, text, at, whole);
    const said = decoded(text);
    if (!this.#isHere && !moves.names(said)) return whole;
    const moved = kind === "dataTable" ? undefined : moves.formula(said, this.#isHere);
    if (moved === undefined) return "";
    const range = attributeOf(tag, "ref");
    if (kind !== "array" || !this.#isHere) return tag + inXml(moved) + close;
    const left = range === undefined ? undefined : moves.ranges(range);
    return left === undefined ? "" : withAttribute(tag, "ref", left) + inXml(moved) + close;
  }

  /** Cells that share a formula may be taken out, so each of the others gets its own. */
  #sharedFormula(tag: string, text: string, at: number, whole: string): string {
    const { moves } = this.#terms;
    const id = attributeOf(tag, "si") ?? "";
    const said = decoded(text);
    if (said !== "" && (this.#isHere || moves.names(said)))
      this.#shared.set(id, { text: said, line: this.#line, at });
    const first = this.#shared.get(id);
    if (first === undefined) return whole;
    this.#writtenOut += this.#isLeft ? 0 : first.text.length;
    if (this.#isLeft || this.#writtenOut > WRITTEN_OUT_UNITS) return "";
    const by: Distance = [this.#line - first.line, at - first.at];
    const moved = moves.formula(first.text, this.#isHere, by);
    return moved === undefined ? "" : this.#named(`<f>${inXml(moved)}</f>`);
  }
}
