import { zip } from "../bulk/zip.ts";

/** Bodies that cost a server the most for their size. Each is made once. */

export interface SentBody {
  readonly path: string;
  readonly type: string;
  readonly octets: Buffer;
}

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";
const BOUNDARY = "neighbours";
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** The largest body of a request, and the largest uploaded file. */
const BODY_OCTETS = 6_000_000;
const FILE_OCTETS = 20_000_000;

const filled = (piece: string, octets = BODY_OCTETS): string =>
  piece.repeat(Math.floor(octets / Buffer.byteLength(piece)));

const body = (type: string, text: string): SentBody => ({
  path: "/api/email?bulk=1",
  type,
  octets: Buffer.from(text),
});

const part = (name: string, value: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

const multipart = (parts: string): SentBody => body(MULTIPART, `${parts}--${BOUNDARY}--\r\n`);

const upload = (name: string, content: string | Uint8Array): SentBody => ({
  path: "/api/bulk/upload",
  type: MULTIPART,
  octets: Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n` +
        `content-type: application/octet-stream\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]),
});

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

const related = (to: Readonly<Record<string, string>>): string => {
  const each = Object.entries(to).map(
    ([type, target], at) =>
      `<Relationship Id="rId${String(at + 1)}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each.join("")}</Relationships>`;
};

/** 0.5 MB that unpack to 75 MB of texts, of which five are entries. */
function sharedStrings(): Uint8Array {
  const text = (at: number): string => `<si><t>u${String(at)}@b.co ${"a".repeat(560)}</t></si>`;
  const rows = lines(
    5,
    (at) => `<row><c t="s"><v>${String(at)}</v></c><c t="str"><v>u${String(at)}@b.co</v></c></row>`,
  );
  const parts = {
    "_rels/.rels": related({ officeDocument: "xl/workbook.xml" }),
    "xl/_rels/workbook.xml.rels": related({
      worksheet: "worksheets/sheet1.xml",
      sharedStrings: "sharedStrings.xml",
    }),
    "xl/workbook.xml": `<workbook ${MAIN} xmlns:r="${OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/worksheets/sheet1.xml": `<worksheet ${MAIN}><sheetData>${rows}</sheetData></worksheet>`,
    "xl/sharedStrings.xml": `<sst ${MAIN}>${lines(130_000, text)}</sst>`,
  };
  return zip(parts, 9);
}

/** Nine labels of one letter, which UTS-46 has to read. */
const wideName = (at: number): string => {
  const labels = Array.from({ length: 9 }, (_, label) =>
    String.fromCodePoint(0x4e00 + ((at * 9 + label * 31) % 20_000)),
  );
  return labels.join(".");
};

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");

const items = (item: string, count: number): string => `[${filled(`${item},`, count)}${item}]`;

const MAKERS = {
  "wide names": () => body(FORM, `email=${lines(50_000, wideName)}`),
  "short tokens": () => body(FORM, `email=${lines(399_000, (at) => (at + 50_000).toString(36))}`),
  "equal pairs": () => body(FORM, filled("email=a&")),
  "unknown pairs": () => body(FORM, filled("x&")),
  "encoded names": () => body(FORM, filled("%65mail=&")),
  "encoded list": () => body(FORM, `email=${filled("%61%2C")}`),
  "one encoded value": () => body(FORM, `email=${filled("%61")}`),
  "plus signs": () => body(FORM, `email=${filled("+")}`),
  "one raw value": () => body(FORM, `email=${filled("a")}`),
  "at signs": () => body(FORM, `email=${filled("@")}`),
  "broken escapes": () => body(FORM, `email=${filled("%f0%9")}`),
  "JSON items": () => body(JSON_TYPE, `{"email":${items('"a"', BODY_OCTETS - 20)}}`),
  "JSON 249,000 items": () => body(JSON_TYPE, `{"email":${items('"a@b.co"', 249_000 * 9)}}`),
  "JSON long items": () =>
    body(JSON_TYPE, `{"email":${items('"abcdefgh@example.com"', 5_500_000)}}`),
  "JSON numbers": () => body(JSON_TYPE, `{"email":"a","x":${items("1e1", 249_000 * 4)}}`),
  "JSON one value": () => body(JSON_TYPE, `{"email":"${filled("a")}"}`),
  "JSON escapes": () => body(JSON_TYPE, `{"email":"${filled("\\u00e4")}"}`),
  "JSON depth": () => body(JSON_TYPE, `{"email":${filled("[")}`),
  "JSON wide value": () => body(JSON_TYPE, `{"email":"${filled("ä,")}"}`),
  "JSON members": () =>
    body(
      JSON_TYPE,
      `{${lines(3_900, (at) => `"k${String(at)}${"k".repeat(1_500)}":1,`)}"email":"a"}`,
    ),
  "parts, many": () => multipart(filled(part("email", "a"))),
  "parts, 1,000": () => multipart(part("email", filled("a\n", 5_800)).repeat(999)),
  "parts, one": () => multipart(part("email", filled("a\n"))),
  "parts, dashes": () => multipart(part("email", filled("\r\n--neighbour"))),
  "parts, long head": () => multipart(filled(`--${BOUNDARY}\r\n${"a: b\r\n".repeat(15)}\r\n\r\n`)),
  "file: letters": () => upload("a.txt", filled("a\n", FILE_OCTETS)),
  "file: wide letters": () => upload("a.txt", filled("ä\n", FILE_OCTETS)),
  "file: names": () =>
    upload(
      "a.txt",
      lines(900_000, (at) => `u@n${String(at)}.example`),
    ),
  "file: rows": () => upload("a.csv", `email,b\n${filled("a@b.co,1\n", FILE_OCTETS - 20)}`),
  "file: columns": () => upload("a.csv", `email\n${filled("a,", FILE_OCTETS - 20)}`),
  "file: quotes": () => upload("a.csv", `email\n"${filled('""', FILE_OCTETS - 20)}"`),
  "file: one cell": () => upload("a.csv", filled("a", FILE_OCTETS)),
  "file: JSON lines": () => upload("a.jsonl", filled('{"email":"ada@example.com"}\n', FILE_OCTETS)),
  "file: JSON wide, then empty": () =>
    upload(
      "a.jsonl",
      `{${lines(16_000, (at) => `"a${String(at)}":1,`).replaceAll("\n", "")}"email":"a"}\n${"{}\n".repeat(80_000)}`,
    ),
  "file: JSON depth": () => upload("a.json", filled("[", FILE_OCTETS)),
  "file: blanks": () => upload("a.txt", `a${" ".repeat(60_000)}b\n`.repeat(30)),
  "file: shared strings": () => upload("a.xlsx", sharedStrings()),
  "file: workbook": () => upload("a.xlsx", `PK\u0003\u0004${filled("\u0000\u0001", FILE_OCTETS)}`),
} satisfies Readonly<Record<string, () => SentBody>>;

export type BodyName = keyof typeof MAKERS;

export const BODY_NAMES = Object.keys(MAKERS) as readonly BodyName[];

export const makeBody = (name: BodyName): SentBody => MAKERS[name]();
