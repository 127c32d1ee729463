import { strict as assert } from "node:assert";
import { test } from "node:test";
import { cleaned, readRows } from "../../../test/bulk/cleaned-workbook.ts";
import { zip } from "../../../test/bulk/zip.ts";
import type { CleanedOrder } from "../lists/cleaned-rows.ts";
import { Zip } from "./zip.ts";

const LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const related = (...links: readonly (readonly [id: string, type: string, target: string])[]) =>
  `<Relationships>${links.map(([id, type, target]) => `<Relationship Id="${id}" Type="${LINKS}/${type}" Target="${target}"/>`).join("")}</Relationships>`;

const row = (line: number, user: string, more = ""): string =>
  `<row r="${String(line)}" spans="1:3"><c r="A${String(line)}" s="1" t="inlineStr"><is><t>${user}@good.test</t></is></c>${more}</row>`;

const shared = (line: number): string =>
  `<c r="B${String(line)}"><f t="shared" si="0"/><v>${String(line)}</v></c>`;

/** Rows 4 and 5 repeat row 3. */
const SHEET = `<?xml version="1.0"?><worksheet><dimension ref="A1:C7"/><sheetViews><sheetView topLeftCell="A6"><pane ySplit="1" topLeftCell="A4"/></sheetView></sheetViews><cols><col min="1" max="1" width="40"/></cols><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>${
  row(2, "jo", '<c r="B2"><f t="shared" ref="B2:B7" si="0">ROW(A2)*$D$6</f><v>2</v></c>') +
  row(3, "an", shared(3)) +
  row(4, "an", `${shared(4)}<c r="C4" t="s"><v>2</v></c>`) +
  row(5, "an", shared(5)) +
  row(6, "el", `${shared(6)}<c r="C6"><f>A5&amp;A7</f><v>9</v></c>`) +
  row(
    7,
    "us",
    `<c r="B7"><f>SUM(B2:B6)</f><v>7</v></c><c r="C7" t="s"><v>3</v></c><c r="D7" cm="1"><f t="array" ref="D7">A7</f><v></v></c>`,
  )
}</sheetData><autoFilter ref="A1:B7"/><mergeCells count="2"><mergeCell ref="D4:D5"/><mergeCell ref="E6:E7"/></mergeCells><conditionalFormatting sqref="A2:A7"><cfRule><formula>A2="x"</formula></cfRule></conditionalFormatting><hyperlinks><hyperlink ref="A4" r:id="h"/></hyperlinks></worksheet>`;

const PARTS: Readonly<Record<string, string>> = {
  "[Content_Types].xml":
    '<Types><Override PartName="/xl/calcChain.xml" ContentType="x.calcChain+xml"/><Override PartName="/xl/s1.xml" ContentType="y"/></Types>',
  "_rels/.rels": related(["a", "officeDocument", "xl/workbook.xml"]),
  "xl/workbook.xml":
    '<workbook xmlns:r="r"><sheets><sheet name="My list" r:id="s1"/><sheet name="Other" r:id="s2"/></sheets><definedNames><definedName name="All">\'My list\'!$A$1:$B$7</definedName><definedName name="Gone">\'My list\'!$A$4</definedName></definedNames><calcPr calcId="1"/></workbook>',
  "xl/_rels/workbook.xml.rels": related(
    ["s1", "worksheet", "s1.xml"],
    ["s2", "worksheet", "s2.xml"],
    ["t", "sharedStrings", "texts.xml"],
    ["c", "calcChain", "calcChain.xml"],
  ),
  "xl/s1.xml": SHEET,
  "xl/s2.xml": `<worksheet><sheetData><row r="9"><c r="A9"><f>'My list'!B7+A9&amp;"&lt;"</f><v>1</v></c><c r="B9" t="s"><v>4</v></c><c r="C9"><f t="shared" ref="C9:C10" si="0">'My list'!A7</f><v>u</v></c><c r="D9"><f t="shared" ref="D9:D10" si="1">A9</f><v>1</v></c></row><row r="10"><c r="A10" cm="1"><f t="array" ref="A10">'My list'!A4</f><v>n</v></c><c r="C10"><f t="shared" si="0"/><v>w</v></c><c r="D10"><f t="shared" si="1"/><v>n</v></c></row></sheetData></worksheet>`,
  "xl/_rels/s1.xml.rels": related(
    ["n", "comments", "notes.xml"],
    ["v", "vmlDrawing", "notes.vml"],
    ["t", "table", "table.xml"],
  ),
  "xl/notes.xml":
    '<comments><commentList><comment ref="A4"><text/></comment><comment ref="A6"><text/></comment></commentList></comments>',
  "xl/notes.vml":
    "<xml><v:shape id=1><br><x:Row>3</x:Row></v:shape><v:shape id=2><x:Row>5</x:Row></v:shape></xml>",
  "xl/table.xml": '<table ref="A1:B7"><autoFilter ref="A1:B7"/></table>',
  "xl/texts.xml":
    "<sst><si><t>email</t></si><si><t>times</t></si><si><r><t>se</t></r><t>cret</t></si><si><t>last</t></si><si><t>far</t></si></sst>",
  "xl/calcChain.xml": "<calcChain/>",
  "xl/media/x.bin": "\u0001\u0002",
};

async function partsOf(
  wanted: Pick<CleanedOrder, "classes" | "columns">,
  parts = PARTS,
): Promise<Readonly<Record<string, string>>> {
  const made = await Zip.open(Buffer.from(await cleaned("a.xlsx", zip(parts), wanted)));
  const found: Record<string, string> = {};
  for (const { fileName } of made.parts) {
    const octets: Uint8Array[] = [];
    for await (const piece of made.octets(fileName)) octets.push(piece);
    found[fileName] = Buffer.concat(octets).toString();
  }
  return found;
}

test("a workbook with all its rows and no column of ours is what came", async () => {
  const all = await partsOf({ classes: ["unchecked", "duplicate"], columns: "mine" });
  const { "xl/s1.xml": sheet = "", ...others } = all;
  const { "xl/s1.xml": before = "", ...were } = PARTS;
  assert.deepEqual(others, were);
  const same = before.replace('<dimension ref="A1:C7"/>', "").replaceAll(' spans="1:3"', "");
  assert.equal(sheet, same);
});

/** Parts with what must be in them, and what must not, once rows 4 and 5 are taken out. */
const moved: readonly (readonly [part: string, has: string, hasNot?: string])[] = [
  ["xl/s1.xml", '<row r="4"><c r="A4" s="1" t="inlineStr"><is><t>el@good.test'],
  ["xl/s1.xml", '<c r="B4"><v>6</v></c>', "<f>"],
  ["xl/s1.xml", '<c r="C4"><v>9</v></c>', "dimension"],
  ["xl/s1.xml", '<c r="D5"></c>', ' cm="1"'],
  ["xl/s1.xml", '<mergeCells><mergeCell ref="E4:E5"/></mergeCells>', "hyperlink"],
  ["xl/s1.xml", '<c r="F1" t="inlineStr"><is><t xml:space="preserve">verdict</t>'],
  ["xl/s1.xml", '<c r="F5" t="inlineStr"><is><t xml:space="preserve">Not checked</t>'],
  ["xl/s1.xml", '<cols><col min="1" max="1" width="40"/></cols>'],
  ["xl/s2.xml", "<f>'My list'!B5+A9&amp;\"&lt;\"</f><v>1</v>"],
  ["xl/s2.xml", '<c r="C9"><v>u</v></c><c r="D9"><f t="shared" ref="D9:D10" si="1">A9</f>'],
  ["xl/s2.xml", '<c r="A10"><v>n</v></c><c r="C10"><v>w</v></c><c r="D10"><f t="shared" si="1"/>'],
  ["xl/workbook.xml", '<calcPr fullCalcOnLoad="1" calcId="1"/>'],
  ["xl/_rels/workbook.xml.rels", "sharedStrings", "calcChain"],
  ["[Content_Types].xml", "/xl/s1.xml", "calcChain"],
  ["xl/notes.xml", '<comment ref="A4"><text/></comment></commentList>', "A6"],
  ["xl/notes.vml", "<xml><v:shape id=2><x:Row>3</x:Row></v:shape></xml>", "id=1"],
  ["xl/table.xml", '<table ref="A1:B5"><autoFilter ref="A1:B5"/>'],
  ["xl/texts.xml", "<si><t>last</t></si><si><t>far</t></si>", "cret"],
  ["xl/media/x.bin", "\u0001\u0002"],
];

test("what refers to rows moves with them", async () => {
  const parts = await partsOf({ classes: ["unchecked"], columns: "verdict" });
  for (const [part, has, hasNot] of moved) {
    const xml = parts[part] ?? "";
    assert.ok(xml.includes(has), `${part} lacks ${has}: ${xml}`);
    if (hasNot !== undefined) assert.ok(!xml.includes(hasNot), `${part} has ${hasNot}: ${xml}`);
  }
  assert.ok(!("xl/calcChain.xml" in parts));
});

test("our columns of an earlier run are written anew, not beside the old ones", async () => {
  const wanted = { classes: ["unchecked"], columns: "all" } as const;
  const once = await partsOf(wanted);
  const twice = await partsOf(wanted, once);
  assert.deepEqual(Object.keys(twice).sort(), Object.keys(once).sort());
  assert.equal(twice["xl/s1.xml"], once["xl/s1.xml"]);
});

test("prefixes of names, rows without numbers, and a remark at the end stay", async () => {
  const sheet =
    '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>jo@good.test</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet >\n<!-- end -->\n';
  const parts = await partsOf(
    { classes: ["unchecked"], columns: "verdict" },
    { ...PARTS, "xl/s1.xml": sheet },
  );
  const added =
    '<x:c r="B1" t="inlineStr"><x:is><x:t xml:space="preserve">Not checked</x:t></x:is></x:c></x:row>';
  assert.equal(parts["xl/s1.xml"], sheet.replace("</x:row>", added));
});

test("a blank address beside a formula without a stored value is empty, such a formula as address is not read", async () => {
  const sheet = `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row>${row(2, "jo")}<row r="3"><c r="A3" s="1"/><c r="B3"><f>1+1</f></c></row><row r="4"><c r="A4"><f>B4</f></c></row></sheetData></worksheet>`;
  const { rows } = await readRows("a.xlsx", zip({ ...PARTS, "xl/s1.xml": sheet }));
  assert.deepEqual(
    rows.map(({ line, class: name }) => [line, name]),
    [
      [2, "unchecked"],
      [3, "blank"],
      [4, "unread"],
    ],
  );
});
