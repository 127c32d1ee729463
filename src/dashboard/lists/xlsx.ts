import { strFromU8, unzipSync } from "fflate";

/** Of one part of the file, unpacked: a small file may claim to be endless. */
const PART_MAX_BYTES = 150_000_000;
const ROWS_MAX = 1_048_576;

/** The cells of the first sheet as text; undefined for what is no workbook. */
export function readXlsx(bytes: Uint8Array): string[][] | undefined {
  const wanted =
    /^xl\/(?:workbook\.xml|_rels\/workbook\.xml\.rels|sharedStrings\.xml|worksheets\/[^/]+\.xml)$/;
  try {
    const files = unzipSync(bytes, {
      filter: ({ name, originalSize }) => wanted.test(name) && originalSize <= PART_MAX_BYTES,
    });
    const xml = (name: string): Document | undefined => {
      const file = files[name];
      return file === undefined
        ? undefined
        : new DOMParser().parseFromString(strFromU8(file), "application/xml");
    };
    const sheet = xml(firstSheet(xml));
    return sheet === undefined
      ? undefined
      : rowsOf(sheet, sharedTexts(xml("xl/sharedStrings.xml")));
  } catch {
    return undefined;
  }
}

const all = (from: Document | Element, name: string): readonly Element[] => [
  ...from.getElementsByTagNameNS("*", name),
];

/** Where the workbook says that its first sheet is. */
function firstSheet(xml: (name: string) => Document | undefined): string {
  const workbook = xml("xl/workbook.xml");
  const relations = xml("xl/_rels/workbook.xml.rels");
  const [sheet] = workbook === undefined ? [] : all(workbook, "sheet");
  const id = [...(sheet?.attributes ?? [])].find(
    ({ localName, prefix }) => localName === "id" && prefix !== null,
  );
  const relation = (relations === undefined ? [] : all(relations, "Relationship")).find(
    (one) => one.getAttribute("Id") === id?.value,
  );
  const target = relation?.getAttribute("Target") ?? "worksheets/sheet1.xml";
  return target.startsWith("/") ? target.slice(1) : `xl/${target}`;
}

/** Text of an element without phonetic hints. */
const textIn = (element: Element): string =>
  all(element, "t")
    .filter(({ parentElement }) => parentElement?.localName !== "rPh")
    .map(({ textContent }) => textContent)
    .join("");

const sharedTexts = (document: Document | undefined): readonly string[] =>
  document === undefined ? [] : all(document, "si").map(textIn);

function cellText(cell: Element, shared: readonly string[]): string {
  const type = cell.getAttribute("t");
  if (type === "inlineStr") return textIn(cell);
  const [value] = all(cell, "v");
  const text = value?.textContent ?? "";
  return (type === "s" ? shared[Number(text)] : text) ?? "";
}

/** 1 for "B2". */
function columnOf(place: string | null): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(place ?? "")?.[0];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** Each row at its own place: blank rows between are kept, so that row numbers are the sheet's. */
function rowsOf(sheet: Document, shared: readonly string[]): string[][] {
  const rows: string[][] = [];
  for (const row of all(sheet, "row")) {
    const place = Number(row.getAttribute("r") ?? rows.length + 1);
    if (!(place <= ROWS_MAX)) break;
    while (rows.length < place - 1) rows.push([""]);
    const cells: string[] = [];
    for (const cell of all(row, "c")) {
      const column = columnOf(cell.getAttribute("r")) ?? cells.length;
      while (cells.length < column) cells.push("");
      cells[column] = cellText(cell, shared).trim();
    }
    rows.push(cells.length === 0 ? [""] : cells);
  }
  return rows;
}
