import { TableFault, kindOfCell } from "../core/batch/entry-cell.ts";

const OTHER = "save it as .csv or .xlsx and send that";
const UTF_32 = "The file is UTF-32; convert it first: iconv -f UTF-32 -t UTF-8 FILE > list.csv.";

/** First octets in hex of files that are no text, and what to do. */
const SIGNATURES: readonly (readonly [hex: string, what: string])[] = [
  ["504b0304", "zip"],
  ["504b0506", "zip"],
  ["1f8b", "The file is compressed with gzip; unpack it first: zcat FILE > list.csv."],
  ["425a68", "The file is compressed with bzip2; unpack it first: bzcat FILE > list.csv."],
  ["fd377a585a00", "The file is compressed with xz; unpack it first: xzcat FILE > list.csv."],
  ["28b52ffd", "The file is compressed with zstd; unpack it first: zstdcat FILE > list.csv."],
  ["377abcaf271c", "The file is a 7z archive; unpack it first."],
  ["52617221", "The file is a rar archive; unpack it first."],
  ["d0cf11e0a1b11ae1", "compound"],
  ["25504446", `The file is a PDF; ${OTHER}.`],
  ["89504e47", "The file is an image (PNG), not a list."],
  ["ffd8ff", "The file is an image (JPEG), not a list."],
  ["47494638", "The file is an image (GIF), not a list."],
  ["53514c69746520666f726d6174", `The file is a SQLite database; ${OTHER}.`],
  ["50415231", `The file is a Parquet file; ${OTHER}.`],
  ["fffe0000", UTF_32],
  ["0000feff", UTF_32],
];

export type FileKind = "zip" | "compound" | "text";

export function kindOfFile(head: Uint8Array): FileKind {
  const hex = Buffer.from(head.subarray(0, 16)).toString("hex");
  const known = SIGNATURES.find(([start]) => hex.startsWith(start))?.[1];
  if (known === "zip" || known === "compound") return known;
  const isWide = /^(?:[0-9a-f]{2}000000){2}|^(?:000000[0-9a-f]{2}){2}/.test(hex);
  if (known !== undefined || isWide) throw new TableFault(known ?? UTF_32);
  return "text";
}

/** Names in the directory of a compound file (MS-CFB), and what it is then. */
const COMPOUNDS: readonly (readonly [name: string, what: string])[] = [
  ["EncryptedPackage", "The workbook is protected by a password; save it without one."],
  ["WordDocument", `The file is an old Word file; ${OTHER}.`],
  ["__substg1.0_", `The file is a message of Outlook; ${OTHER}.`],
];

export async function compoundFault(slices: AsyncIterable<Uint8Array>): Promise<TableFault> {
  let tail = Buffer.alloc(0);
  for await (const slice of slices) {
    const octets = Buffer.concat([tail, slice]);
    for (const [name, what] of COMPOUNDS)
      if (octets.includes(Buffer.from(name, "utf16le"))) return new TableFault(what);
    tail = octets.subarray(-64);
  }
  return new TableFault(`The file is an old Excel file (.xls); ${OTHER}.`);
}

const HTML =
  "The file is a web page (HTML), whatever its name; open it in a spreadsheet program, then";
const XML = "The file is XML";
const MAIL = "The file is a mail message, not a list; copy its addresses into a text file.";

/** Beginnings of texts that are no lists, and what to do. */
const FORMS: readonly (readonly [start: RegExp, what: string])[] = [
  [/^<(?:!doctype html|html|head|body|table|meta|script|style|div|!--)\b/i, `${HTML} ${OTHER}.`],
  [/^(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype html|html)\b/i, `${HTML} ${OTHER}.`],
  [
    /^<\?xml[^>]{0,200}>\s*(?:<\?mso-application|<(?:ss:)?workbook\b)/i,
    `The file is an XML spreadsheet (SpreadsheetML); ${OTHER}.`,
  ],
  [/^<\?xml[^>]{0,200}>\s*<office:/i, `The file is a flat OpenDocument spreadsheet; ${OTHER}.`],
  [/^<(?:\?xml|!doctype|[a-z][\w.-]*(?:\s[^<>@]{0,1000})?\/?>)/i, `${XML}; ${OTHER}.`],
  [/^(?:#.{0,200}[\r\n]+|version:\s*1[\r\n]+)*dn::?\s/i, `The file is LDIF; ${OTHER}.`],
  [/^ID;P/, `The file is SYLK (.slk); ${OTHER}.`],
  [/^TABLE\r?\n0,1\r?\n/, `The file is DIF; ${OTHER}.`],
  [/^\{\\rtf/, `The file is a text document (RTF); ${OTHER}.`],
  [/^BEGIN:VCALENDAR/i, "The file is a calendar (iCalendar), not a list."],
  [/^socialcalc:version/, `The file is a SocialCalc sheet; ${OTHER}.`],
  [/^%!PS/, `The file is PostScript; ${OTHER}.`],
  [
    /^(?:--.*\r?\n|\/\*[^*]*\*\/;?|\s)*(?:(?:CREATE|DROP|LOCK) (?:DATABASE|SCHEMA|TABLES?)|INSERT INTO|REPLACE INTO|(?:BEGIN|START) TRANSACTION;|COPY \S+ \(|PRAGMA \w+ ?=|SET [\w.@]+ ?=|\\restrict )/i,
    "The file is a SQL dump; export the table as .csv and send that.",
  ],
  [
    /^(?:(?:%YAML.*\r?\n)?---[ \t]*\r?\n[ \t]*(?:- +)?[\w-]+:|(?:[\w-]+:[ \t]*\r?\n)?[ \t]*- +[\w-]+:[ \t].*\r?\n[ \t]+[\w-]+:[ \t])/,
    `The file is YAML; ${OTHER}.`,
  ],
  [/^From \S+ .{0,200}\r?\n[\w-]+:/, MAIL],
  [
    /^(?:Return-Path|Received|Delivered-To|MIME-Version|DKIM-Signature|X-[\w-]+|Message-ID|ARC-[\w-]+|Authentication-Results|Date|From|To|Subject|Content-Type):.{0,2000}\r?\n(?:[ \t].{0,2000}\r?\n){0,50}[A-Za-z][\w-]{1,60}:/,
    MAIL,
  ],
];

export function faultOfForm(head: string): TableFault | undefined {
  const start = head.slice(0, 65_536).trimStart().slice(0, 4_096);
  const what =
    FORMS.find(([form]) => form.test(start))?.[1] ?? (isAligned(head) ? ALIGNED : undefined);
  return what === undefined ? undefined : new TableFault(what);
}

const ALIGNED = `The file is a table whose columns are made of blanks; ${OTHER}.`;

/** Names above a row with an address and something else, two blanks between them. */
function isAligned(head: string): boolean {
  const lines = head.slice(0, 4_096).split(/\r?\n/, 20);
  const [names = "", row = ""] = lines.filter((line) => line.trim() !== "");
  if (/[,;|\t<]/.test(names + row)) return false;
  const [above, cells] = [names, row].map((line) => line.trimEnd().split(/ {2,}/));
  const kinds = (cells ?? []).map(kindOfCell);
  const isNamed = (above ?? []).length > 1 && above?.every((cell) => kindOfCell(cell) === "other");
  return (
    isNamed === true && kinds.includes("address") && kinds.length > 1 && kinds.includes("other")
  );
}
