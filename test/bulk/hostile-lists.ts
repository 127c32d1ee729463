import { zip } from "./zip.ts";

/** Kinds of files that somebody may send to keep the reader busy, as large as asked for. */
export type Hostile = readonly [kind: string, make: (size: number) => string | Uint8Array];

const csv = (kind: string, make: (size: number) => string): Hostile => [
  kind,
  (size) => `email,note\njo@good.test,x\n${make(size)}\n`,
];

const cell = (kind: string, unit: string, before = "", after = ""): Hostile => {
  const one = (size: number): string =>
    before + unit.repeat(Math.min(size, 30_000) / unit.length) + after;
  return csv(kind, (size) => `"${one(size).replaceAll('"', '""')}",x\n`.repeat(size / 30_000));
};

const line = (kind: string, unit: string, before = "", after = ""): Hostile => [
  kind,
  (size) => before + unit.repeat(size / unit.length) + after,
];

const RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

interface Parts {
  readonly sheet?: string;
  readonly styles?: string;
  readonly texts?: string;
  readonly links?: string;
}

const SHEET = '<row><c t="inlineStr"><is><t>jo@good.test</t></is></c></row>';

function workbook({ sheet = SHEET, styles, texts, links }: Parts): Uint8Array {
  const link = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`;
  const files: Record<string, string | undefined> = {
    "_rels/.rels": `<Relationships>${link("a", "officeDocument", "xl/workbook.xml")}</Relationships>`,
    "xl/workbook.xml":
      '<workbook xmlns:r="r"><sheets><sheet name="A" r:id="s"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": `<Relationships>${link("s", "worksheet", "sheet.xml")}${link("t", "sharedStrings", "texts.xml")}${link("f", "styles", "styles.xml")}</Relationships>`,
    "xl/sheet.xml": `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    "xl/styles.xml": styles,
    "xl/texts.xml": texts,
    "xl/_rels/sheet.xml.rels": links,
  };
  return zip(files);
}

const book = (kind: string, make: (size: number) => Parts): Hostile => [
  `a workbook with ${kind}`,
  (size) => workbook(make(size)),
];

const times = (unit: string, size: number): string => unit.repeat(size / unit.length);

/** One address in each row. */
export const plainWorkbook = (size: number): Uint8Array => workbook({ sheet: times(SHEET, size) });

const wideObject = (entry: string): string =>
  `{"email":"${entry}",${Array.from({ length: 15_999 }, (_, at) => `"a${String(at + 1)}":1`).join()}}`;

export const HOSTILE_LISTS: readonly Hostile[] = [
  line("blanks in a line", " ", "a", "b"),
  line("a line of at signs", "@"),
  line("a line of full-width at signs", "\uff20"),
  line("a line of addresses", "jo@good.test "),
  line("a line of brackets", "<"),
  line("a line of names", "Ash, Jo <jo@good.test>; "),
  line("commas before an address", "a,", "", " <jo@good.test>"),
  line("half written at signs", "(at "),
  line("line breaks of old computers", "\r"),
  line("blanks before quotes", ' "', " ".repeat(60_000)),
  line("quotes behind blanks that close with text", ', "a "b', "email,note\n"),
  line("pairs of quotes behind blanks", ', """', "email,note\n"),
  line("quotes that close with text", ',"\na'),
  line("rows that close the quote of the row before", '","\na'),
  line("quotes that nothing closes", '"a\n', "email,note\n"),
  line("quotes that close too late", 'a,"b\nc"d\n', "email,note\n"),
  line("a row of quotes over many lines", '"a\n",', "email,note\njo@good.test,x\n"),
  line("pairs of quotes", '""', "email,note\n"),
  line("columns", ",", "email", "\njo@good.test\n"),
  line("lines of one comma", ",\n", "email,note\njo@good.test,x\n"),
  line("apostrophes", "'", "email,note\n"),
  cell("full-width at signs in cells of 1,000", "\uff20a.b\uff20".repeat(166) + '",x\n"'),
  cell("blanks in cells", " ", "a", "b"),
  cell("quotes in cells", '"'),
  cell("brackets in cells", "("),
  cell("closed brackets in cells", ")", "a@b (", " c"),
  cell("brackets that nothing closes in cells", "[", "a@b"),
  cell("labels in cells", "mailto:"),
  cell("links in cells", "=HYPERLINK("),
  cell("marks in cells", "1. "),
  cell("slashes in cells", "a@b / "),
  cell("commas before names in cells", "a,", "a@b;", " <jo@good.test>"),
  cell("dots in cells", "."),
  cell("labels of a domain in cells", "a."),
  cell("full-width dots in cells", "\uff0e", "jo@"),
  line("open arrays", "["),
  line("open objects", '{"a":'),
  line("an array of arrays", "[],", "["),
  line("an array of objects", '{"email":"jo@good.test"},', "[", "{}]"),
  line("texts of JSON that nothing closes", '{"email":"jo@good.test\n', "[\n", "]"),
  line("escapes in a text of JSON", "\\", '["'),
  [
    "members of an object",
    (size) =>
      `{${Array.from({ length: size / 14 }, (_, at) => `"m${String(at)}":"a"`).join()},"email":"jo@good.test"}\n`,
  ],
  [
    "objects without the members of the first",
    (size) => `${wideObject("")}\n${times("{}\n", size)}`,
  ],
  [
    "objects with the last member of the first",
    (size) => `${wideObject("jo@good.test")}\n${times('{"a15999":1}\n', size)}`,
  ],
  [
    "texts beside an object of many members",
    (size) => `${wideObject("jo@good.test")}\n${times('"jo@good.test"\n', size)}`,
  ],
  line("objects in objects", '{"a":', '{"email":"jo@good.test"}\n', "1\n"),
  line("rows of 16,000 blank columns", `jo@good.test${",".repeat(15_999)}\n`, "email\n"),
  line("folded lines of a card", "\n a", "BEGIN:VCARD\nEMAIL:jo@good.test", "\nEND:VCARD\n"),
  line(
    "soft line breaks of a card",
    "=\n",
    "BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:a",
    "\nEND:VCARD\n",
  ),
  line("addresses of a card", "EMAIL:a@b\n", "BEGIN:VCARD\n", "END:VCARD\n"),
  line("remarks before LDIF", "# # #\n"),
  line("tags", "<a><b "),
  ["Windows-1252 in lines", (size) => Buffer.from(times("\xfcber@good.test\n", size), "latin1")],
  ["Windows-1252 in one line", (size) => Buffer.from(times("\xfc", size), "latin1")],
  ["half of Shift_JIS", (size) => Buffer.from(times("\x83a ", size), "latin1")],
  ["UTF-16", (size) => Buffer.from(times("jo@good.test\n", size), "utf16le")],
  book("brackets in a format", (size) => ({
    styles:
      `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="${times("[", Math.min(size, 60_000))}"/></numFmts></styleSheet>`.repeat(
        size / 60_000,
      ),
  })),
  book("quotes in a format", (size) => ({
    styles: `<s>${`<numFmt numFmtId="200" formatCode='${times('"\\', Math.min(size, 60_000))}'/>`.repeat(size / 60_000)}</s>`,
  })),
  book("an open comment", (size) => ({ sheet: `<!--${times("- >", 2 * size)}` })),
  book("an open text", (size) => ({ sheet: `<row><c><v><![CDATA[${times("]]", 2 * size)}` })),
  book("an open instruction", (size) => ({ sheet: `<?${times("? ", 2 * size)}` })),
  book("comments", (size) => ({ sheet: times("<!-- -->", size) })),
  book("deep elements", (size) => ({ sheet: times("<a>", size) })),
  book("namespaces in namespaces", (size) => ({ sheet: times('<a xmlns:b="c">', size) })),
  book("namespaces", (size) => ({ sheet: times('<a xmlns:b="c"/>', size) })),
  book("long attributes", (size) => ({
    sheet: `<row a="${times("b", 60_000)}" ${times("c", 5_000)}/>`.repeat(size / 60_000),
  })),
  book("attributes without a value", (size) => ({
    sheet: `<row ${times("a ", 60_000)}/>`.repeat(size / 60_000),
  })),
  book("one text of many pieces", (size) => ({
    sheet: `<row><c><v>${times("a&amp;", size)}</v></c></row>`,
  })),
  book("half references", (size) => ({ sheet: `<row><c><v>${times("&", size)}</v></c></row>` })),
  book("shared texts", (size) => ({ texts: `<sst>${times("<si><t>a</t></si>", size)}</sst>` })),
  book("rows", (size) => ({ sheet: times("<row><c><v>1</v></c></row>", size) })),
  book("cells far to the right", (size) => ({
    sheet: SHEET + times('<row r="1"><c r="WQJ1"><v>1</v></c></row>', size / 10),
  })),
  book("rows of 16,000 cells", (size) => ({
    sheet: SHEET + times(`<row>${"<c><v>1</v></c>".repeat(16_000)}</row>`, size),
  })),
  book("links", (size) => ({
    links: `<Relationships>${times('<Relationship Id="a" Target="mailto:a@b"/>', size)}</Relationships>`,
  })),
];
