import { zip } from "../../bulk/zip.ts";

const cell = (text: string): string => `<c t="inlineStr"><is><t>${text}</t></is></c>`;

type Rows = readonly (readonly string[])[];

const sheetOf = (rows: Rows): string =>
  `<worksheet><sheetData>${rows.map((row) => `<row>${row.map(cell).join("")}</row>`).join("")}</sheetData></worksheet>`;

/** An Excel workbook of these sheets, whose texts need no escapes. */
export function workbookOf(sheets: Readonly<Record<string, Rows>>): Buffer<ArrayBuffer> {
  const named = Object.entries(sheets).map(([name, rows], at) => ({
    name,
    rows,
    id: String(at + 1),
  }));
  const listed = named.map(
    ({ name, id }) => `<sheet name="${name}" sheetId="${id}" r:id="rId${id}"/>`,
  );
  const related = named.map(
    ({ id }) => `<Relationship Id="rId${id}" Target="worksheets/sheet${id}.xml"/>`,
  );
  return zip({
    "xl/workbook.xml": `<workbook xmlns:r="r"><sheets>${listed.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${related.join("")}</Relationships>`,
    ...Object.fromEntries(
      named.map(({ id, rows }) => [`xl/worksheets/sheet${id}.xml`, sheetOf(rows)]),
    ),
  });
}
