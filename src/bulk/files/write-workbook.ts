import { Readable } from "node:stream";
import { ZipFile } from "yazl";
import type { CsvCell } from "../../core/batch/result-cells.ts";

type Rows = readonly (readonly CsvCell[])[];

const SHEET_ROWS_MAX = 1_048_576;
const TEXT_MAX_UNITS = 32_767;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const SCHEMAS = "http://schemas.openxmlformats.org";
const MAIN = `${SCHEMAS}/spreadsheetml/2006/main`;
const LINKS = `${SCHEMAS}/officeDocument/2006/relationships`;
const KINDS = "application/vnd.openxmlformats-officedocument.spreadsheetml";

export const WORKBOOK_TYPE = `${KINDS}.sheet`;

/**
 * Writes an .xlsx workbook (ECMA-376) as fast as it is read, in bounded memory. Texts stay texts: none is a formula or a
 * number. Rows beyond what a sheet holds go to further sheets.
 */
export function workbookOf(pages: AsyncIterable<Rows>, sheetRows = SHEET_ROWS_MAX): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const rows = new RowSource(pages);
  let sheets = 0;
  const addSheet = (): void => {
    sheets += 1;
    const sheet = Readable.from(sheetXml(rows, sheetRows), { objectMode: false });
    sheet.once("error", (error) => output.destroy(error));
    sheet.once("end", () => {
      if (!rows.isDone) return addSheet();
      for (const [path, xml] of partsOf(sheets)) zip.addBuffer(Buffer.from(HEAD + xml), path);
      zip.end();
    });
    output.once("close", () => sheet.destroy());
    zip.addReadStream(sheet, `xl/worksheets/sheet${String(sheets)}.xml`);
  };
  addSheet();
  return output;
}

class RowSource {
  readonly #pages: AsyncIterator<Rows>;
  #page: Rows = [];
  isDone = false;

  constructor(pages: AsyncIterable<Rows>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  async take(most: number): Promise<Rows> {
    while (this.#page.length === 0 && !this.isDone) {
      const { done, value } = await this.#pages.next();
      if (done === true) this.isDone = true;
      else this.#page = value;
    }
    const taken = this.#page.slice(0, most);
    this.#page = this.#page.slice(most);
    return taken;
  }

  async close(): Promise<void> {
    await this.#pages.return?.();
  }
}

async function* sheetXml(rows: RowSource, sheetRows: number): AsyncGenerator<string> {
  let isWhole = false;
  try {
    yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>`;
    let left = sheetRows;
    for (let page = await rows.take(left); page.length > 0; page = await rows.take(left)) {
      left -= page.length;
      yield page.map((row) => `<row>${row.map((cell) => cellXml(cell)).join("")}</row>`).join("");
      if (left === 0) break;
    }
    yield "</sheetData></worksheet>";
    isWhole = true;
  } finally {
    if (!isWhole) await rows.close();
  }
}

/** `attributes` stand behind the name of its tag. */
export function cellXml(cell: CsvCell, attributes = ""): string {
  if (cell === undefined || cell === "") return `<c${attributes}/>`;
  if (typeof cell === "number") return `<c${attributes}><v>${String(cell)}</v></c>`;
  if (typeof cell === "boolean") return `<c${attributes} t="b"><v>${cell ? "1" : "0"}</v></c>`;
  return `<c${attributes} t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`;
}

/** What XML cannot hold is `_x0001_`, and what looks like that is `_x005F_x0001_` (ECMA-376 part 1, section 22.9.2.19). */
const ODD = /[^\t\n -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|_(?=x[0-9a-f]{4}_)/giu;

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const inXml = (text: string): string => text.replace(/[&<>"]/g, (sign) => NAMED[sign] ?? "");

const escaped = (text: string): string =>
  inXml(
    text
      .slice(0, TEXT_MAX_UNITS)
      .replace(ODD, (odd) => `_x${odd.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`),
  );

function partsOf(sheets: number): readonly (readonly [path: string, xml: string])[] {
  const numbers = Array.from({ length: sheets }, (_, at) => String(at + 1));
  const link = (id: string, type: string, target: string): string =>
    `<Relationship Id="r${id}" Type="${LINKS}/${type}" Target="${target}"/>`;
  const links = (each: readonly string[]): string =>
    `<Relationships xmlns="${SCHEMAS}/package/2006/relationships">${each.join("")}</Relationships>`;
  const kind = (path: string, name: string): string =>
    `<Override PartName="/${path}" ContentType="${KINDS}.${name}+xml"/>`;
  const named = numbers.map((id) => `<sheet name="Sheet${id}" sheetId="${id}" r:id="r${id}"/>`);
  const kinds = numbers.map((id) => kind(`xl/worksheets/sheet${id}.xml`, "worksheet"));
  return [
    [
      "[Content_Types].xml",
      `<Types xmlns="${SCHEMAS}/package/2006/content-types">` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        `${kind("xl/workbook.xml", "sheet.main")}${kinds.join("")}</Types>`,
    ],
    ["_rels/.rels", links([link("1", "officeDocument", "xl/workbook.xml")])],
    [
      "xl/workbook.xml",
      `<workbook xmlns="${MAIN}" xmlns:r="${LINKS}"><sheets>${named.join("")}</sheets></workbook>`,
    ],
    [
      "xl/_rels/workbook.xml.rels",
      links(numbers.map((id) => link(id, "worksheet", `worksheets/sheet${id}.xml`))),
    ],
  ];
}
