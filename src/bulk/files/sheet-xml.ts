import { columnOf } from "../../core/batch/moved-rows.ts";

/** Names have no prefix. */
export type Attributes = Readonly<Record<string, string>>;

const ROWS_MAX = 1_048_576;

const ATTRIBUTE = /\s*([\w:.-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;

/** Reads the attributes of the tag whose name ends at `from`. */
export function attributesOf(xml: string, from: number): Attributes {
  const all: Record<string, string> = {};
  ATTRIBUTE.lastIndex = from;
  for (let found = ATTRIBUTE.exec(xml); found !== null; found = ATTRIBUTE.exec(xml)) {
    const [, name = "", value = found[3] ?? ""] = found;
    all[name.slice(name.indexOf(":") + 1)] = decoded(value);
  }
  return all;
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

export const encoded = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

export function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/** Without comments, and with the text of CDATA as other text is written. */
export function plainXml(xml: string): string {
  if (!xml.includes("<!")) return xml;
  const [start = "", ...others] = xml.split("<!--");
  const rest = others.map((part) => part.split("-->").slice(1).join("-->"));
  const [before = "", ...texts] = [start, ...rest].join("").split("<![CDATA[");
  const escaped = texts.map((text) => {
    const [inside = "", ...behind] = text.split("]]>");
    return encoded(inside) + behind.join("]]>");
  });
  return before + escaped.join("");
}

const VALUE = /<(?:\w+:)?v(?:\s[^<>]*)?>([^<]*)/;
const TEXTS = /<(?:\w+:)?t(?:\s[^<>]*[^<>/]|\s*)>([^<]*)/g;
/** What a cell holds. */
export function cellValue(cell: string): string {
  const value = VALUE.exec(cell)?.[1] ?? "";
  return value === "" ? textOf(cell) : decoded(value);
}

const PHONETIC = /<(?:\w+:)?rPh\b/;
const PHONETIC_END = /<\/(?:\w+:)?rPh\s*>/;

const withoutPhonetic = (xml: string): string =>
  xml
    .split(PHONETIC)
    .map((part, at) => (at === 0 ? part : part.split(PHONETIC_END).slice(1).join("")))
    .join("");

/** Of a text in several formats, without how it is pronounced. */
export function textOf(xml: string): string {
  const spoken = xml.includes("rPh") ? withoutPhonetic(xml) : xml;
  let text = "";
  TEXTS.lastIndex = 0;
  for (let found = TEXTS.exec(spoken); found !== null; found = TEXTS.exec(spoken))
    text += found[1] ?? "";
  return decoded(text);
}

const ROW = /<(?:\w+:)?row\b/;
const END_OF_ROWS = /<\/(?:\w+:)?sheetData\b/;
const LINE = /\sr\s*=\s*["'](\d+)/;
const COLUMN = /\sr\s*=\s*["']([A-Z]+)/i;

const STYLE = /\ss\s*=\s*["'](\d+)/;

const CELL = /<(?:\w+:)?c(?=[\s/>])/g;

/** What stands before the cells of a row, and each of them with what is behind it. */
export function cellsIn(row: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { index } of row.matchAll(CELL)) {
    parts.push(row.slice(from, index));
    from = index;
  }
  parts.push(row.slice(from));
  return parts;
}

/** Where the row of a piece begins; below 0: it has none, or that of a drawing. */
export function startOfRow(piece: string): number {
  const start = piece.search(ROW);
  return start > 0 && END_OF_ROWS.test(piece.slice(0, start)) ? -1 : start;
}

export const tagOf = (element: string): string => element.slice(0, element.indexOf(">"));

/** The number of a row, which is behind the one before. */
export function lineOf(row: string, before: number): number {
  const line = Number(LINE.exec(tagOf(row))?.[1]);
  return line > before && line <= ROWS_MAX ? line : before + 1;
}

/** The column of a cell, which may say none and is behind the one before then. */
export function columnIn(tag: string, before: number): number {
  const name = COLUMN.exec(tag)?.[1];
  return name === undefined ? before + 1 : columnOf(name);
}

/** Number of its format; -1: none. */
export const styleOf = (tag: string): number => Number(STYLE.exec(tag)?.[1] ?? -1);
