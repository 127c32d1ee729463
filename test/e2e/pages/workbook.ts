import { strToU8, zipSync } from "fflate";

const cell = (text: string): string => `<c t="inlineStr"><is><t>${text}</t></is></c>`;

/** An Excel workbook of one sheet. `rows` need no escapes. */
export function workbookOf(rows: readonly (readonly string[])[]): Buffer {
  const sheet = rows.map((row) => `<row>${row.map(cell).join("")}</row>`).join("");
  const files = {
    "xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
  };
  const packed = Object.entries(files).map(([name, text]) => [name, strToU8(text)] as const);
  return Buffer.from(zipSync(Object.fromEntries(packed)));
}
