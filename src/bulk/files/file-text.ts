import { END_OF_TEXT } from "../../core/batch/csv-reader.ts";
import { isUtf8 } from "node:buffer";
import { TableFault, kindOfCell } from "../../core/batch/entry-cell.ts";

/** By the byte order mark; without one UTF-16 shows by the NUL of its first ASCII character. */
function wideEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? "utf-16be" : "utf-16le";
}

interface ReadText {
  readonly text: string;
  readonly rest: Buffer;
}

const MARK_OCTETS = 3;

const STRETCH_MAX_OCTETS = 1_000_000;

const ASK =
  "name its encoding (encoding=shift_jis), or convert it first: iconv -f SHIFT_JIS -t UTF-8 FILE > list.csv.";
const NO_TEXT = `The file is not text in UTF-8, UTF-16 or Windows-1252; ${ASK}`;
const SHIFT_JIS = `The file looks like text in Shift_JIS; ${ASK}`;
const NUL = "The file has a NUL octet, which no text has. Save it as text in UTF-8.";

/** Decodes the text of a file. Without a `wanted` encoding what is not UTF-8 or UTF-16 is Windows-1252, line by line. */
export class FileText {
  readonly #wanted: InstanceType<typeof TextDecoder> | undefined;
  #encoding = "utf-8";
  #hasWide = false;
  #hasMark = false;

  constructor(wanted: string | undefined) {
    try {
      // Node's decoder of Windows-1252 is Latin-1 in many versions.
      this.#wanted = wanted === undefined ? undefined : new TextDecoder(wanted.trim());
    } catch {
      throw new TableFault(
        `encoding: "${wanted?.slice(0, 40) ?? ""}" is not known; give a name such as utf-8, windows-1252, windows-1250, shift_jis or gb18030.`,
      );
    }
  }

  /** What the text was in, as far as it is read; "utf-8, windows-1252" when some lines were in each. */
  get encoding(): string {
    return this.#wanted?.encoding ?? this.#encoding;
  }

  get hasMark(): boolean {
    return this.#hasMark;
  }

  async *read(slices: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    let kept: Buffer = Buffer.alloc(0);
    let read: ((octets: Buffer) => ReadText) | undefined;
    for await (const slice of slices) {
      if (slice.length === 0) continue;
      kept =
        kept.length === 0
          ? Buffer.from(slice.buffer, slice.byteOffset, slice.length)
          : Buffer.concat([kept, slice]);
      if (read === undefined && kept.length < MARK_OCTETS) continue;
      if (read === undefined) {
        read = this.#readerFor(kept);
        const hex = kept.subarray(0, 3).toString("hex");
        this.#hasMark = /^(?:efbbbf|fffe|feff)/.test(hex);
        if (hex === "efbbbf") kept = kept.subarray(3);
      }
      const { text, rest } = read(kept);
      yield* inPieces(text);
      kept = rest;
    }
    read ??= this.#readerFor(kept);
    const { text, rest } = read(kept);
    yield* inPieces(text + (rest.length > 0 ? this.#narrow(rest) : ""));
  }

  #readerFor(head: Uint8Array): (octets: Buffer) => ReadText {
    const wanted = this.#wanted;
    const wide = wanted === undefined ? wideEncoding(head) : undefined;
    if (wide !== undefined) this.#encoding = wide;
    const isGuess = head.subarray(0, 2).includes(0);
    const decoder = wide === undefined ? wanted : new TextDecoder(wide, { fatal: isGuess });
    const isNarrow = decoder === undefined || decoder.encoding === "windows-1252";
    if (isNarrow) return (octets) => this.#whole(octets);
    return (octets) => ({ text: decoded(decoder, octets), rest: Buffer.alloc(0) });
  }

  /** The text up to the last octet of ASCII, behind which UTF-8 is whole. */
  #whole(octets: Buffer): ReadText {
    let end = octets.length;
    while (end > 0 && (octets[end - 1] ?? 0) >= 0x80) end -= 1;
    if (end === 0 && octets.length > STRETCH_MAX_OCTETS) throw new TableFault(NO_TEXT);
    const text = end === 0 ? "" : this.#narrow(octets.subarray(0, end));
    return { text, rest: Buffer.from(octets.subarray(end)) };
  }

  #narrow(octets: Buffer): string {
    if (octets.includes(0)) throw new TableFault(NUL);
    if (this.#wanted !== undefined) return fromWindows1252(octets.toString("latin1"));
    if (isUtf8(octets)) {
      const text = octets.toString();
      this.#hasWide ||= text.length < octets.length;
      return text;
    }
    if (isLikeShiftJis(octets)) throw new TableFault(SHIFT_JIS);
    const latin1 = octets.toString("latin1");
    const lines = UTF8_LETTER.test(latin1) ? latin1.split(/(?<=[\r\n])/) : [latin1];
    const text = lines.map((line) => this.#line(line)).join("");
    this.#encoding = this.#hasWide ? "utf-8, windows-1252" : "windows-1252";
    return text;
  }

  #line(line: string): string {
    if (!/[\x80-\xff]/.test(line)) return line;
    const octets = Buffer.from(line, "latin1");
    if (isUtf8(octets)) {
      this.#hasWide = true;
      return octets.toString();
    }
    if (MEANINGLESS.test(line.replaceAll(END_OF_TEXT, ""))) throw new TableFault(NO_TEXT);
    return fromWindows1252(line);
  }
}

const UTF8_LETTER = /[\xc2-\xf4][\x80-\xbf]/;

/** The rows of a small piece are freed soon, which halves the work of the garbage collector. */
const PIECE_UNITS = 8_192;

function* inPieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += PIECE_UNITS) yield text.slice(at, at + PIECE_UNITS);
}

/** No octets end the text. */
function decoded(decoder: InstanceType<typeof TextDecoder>, octets: Uint8Array): string {
  let text: string;
  try {
    text = decoder.decode(octets, { stream: octets.length > 0 });
  } catch {
    throw new TableFault(NO_TEXT);
  }
  if (text.includes("\0")) throw new TableFault(NUL);
  return text;
}

/** The characters of octets 0x80 to 0x9f; those without one there stay what they are. */
const WINDOWS_1252 =
  "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f" +
  "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

const fromWindows1252 = (latin1: string): string =>
  latin1.replace(/[\x80-\x9f]/g, (octet) => WINDOWS_1252[octet.charCodeAt(0) - 0x80] ?? octet);

/** What Windows-1252 has no octet for becomes "?". */
export const toWindows1252 = (text: string): Buffer =>
  Buffer.from(
    text.replace(/[^\0-\x7f\xa0-\xff]/gu, (char) => {
      const at = WINDOWS_1252.indexOf(char);
      return at < 0 ? "?" : String.fromCharCode(0x80 + at);
    }),
    "latin1",
  );

/**
 * Controls, octets without a meaning in Windows-1252, and more than one of the two that are rare there and lead in every
 * second letter of Shift_JIS.
 */
const MEANINGLESS = /[^\t-\r -\x80\x82-\x8c\x8e\x91-\x9c\x9e-\xff]|[\x82\x83].*[\x82\x83]/;

/** First octets of two-octet characters that are punctuation, not letters, in Windows-1252. */
const isPunctuation = (octet: number): boolean =>
  octet > 0x80 && octet < 0xa0 && ![0x8a, 0x8c, 0x8e, 0x9a, 0x9c, 0x9e, 0x9f].includes(octet);

const isPair = (lead: number, trail: number): boolean =>
  lead !== 0xa0 && lead < 0xfd && trail > 0x3f && trail < 0xfd && trail !== 0x7f && trail !== 0x80;

function isLikeShiftJis(octets: Buffer): boolean {
  let led = 0;
  let run = 0;
  let inRun = 0;
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at] ?? 0;
    if (octet < 0x80 || (octet > 0xa0 && octet < 0xe0)) {
      if (run > 1) led += inRun;
      run = inRun = 0;
    } else {
      if (octet === 0x80 || !isPair(octet, octets[at + 1] ?? 0)) return false;
      run += 1;
      if (isPunctuation(octet)) inRun += 1;
      at += 1;
    }
  }
  return led + (run > 1 ? inRun : 0) > 1;
}

const OTHER = "save it as .csv or .xlsx and send that";
const NO_LIST = `The file is not a list that can be read here; ${OTHER}.`;
const UTF_32 = "The file is UTF-32; convert it first: iconv -f UTF-32 -t UTF-8 FILE > list.csv.";
const PACKED = "The file is compressed; unpack it first, as with zcat FILE > list.csv.";
const MAIL = "The file is a mail message, not a list; copy its addresses into a text file.";
export const OTHER_SHEET = `The file is a spreadsheet of another kind; ${OTHER}.`;

/** Compressed files and archives, then pictures, documents and databases. */
const SIGNATURES: readonly (readonly [start: RegExp, what: string])[] = [
  [/^504b(?:0304|0506)/, "zip"],
  [/^d0cf11e0a1b11ae1/, "compound"],
  [/^(?:1f8b|425a68|fd377a585a00|28b52ffd|377abcaf271c|52617221)/, PACKED],
  [/^(?:25504446|89504e47|ffd8ff|47494638|53514c69746520666f726d6174|50415231)/, NO_LIST],
  [/^(?:fffe0000|0000feff|(?:..000000){2}|(?:000000..){2})/, UTF_32],
];

export type FileKind = "zip" | "compound" | "text";

export function kindOfFile(head: Uint8Array): FileKind {
  const hex = Buffer.from(head.subarray(0, 16)).toString("hex");
  const known = SIGNATURES.find(([start]) => start.test(hex))?.[1] ?? "text";
  if (known === "zip" || known === "compound" || known === "text") return known;
  throw new TableFault(known);
}

/** Names in the directory of a compound file (MS-CFB), and what it is then. */
const COMPOUNDS: readonly (readonly [name: string, what: string])[] = [
  ["EncryptedPackage", "The workbook is protected by a password; save it without one."],
  ["WordDocument", NO_LIST],
  ["__substg1.0_", MAIL],
];

export async function compoundFault(slices: AsyncIterable<Uint8Array>): Promise<TableFault> {
  let tail = Buffer.alloc(0);
  for await (const slice of slices) {
    const octets = Buffer.concat([tail, slice]);
    for (const [name, what] of COMPOUNDS)
      if (octets.includes(Buffer.from(name, "utf16le"))) return new TableFault(what);
    tail = octets.subarray(-64);
  }
  return new TableFault(OTHER_SHEET);
}

const HTML = `The file is a web page (HTML), whatever its name; open it in a spreadsheet program, then ${OTHER}.`;

const FORMS: readonly (readonly [start: RegExp, what: string])[] = [
  [/^(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype html|html)\b/i, HTML],
  [/^<(?:head|body|table|meta|script|style|div|!--)\b/i, HTML],
  [/^<\?xml[^>]{0,200}>\s*<(?:\?mso-application|(?:ss:)?workbook\b|office:)/i, OTHER_SHEET],
  [/^(?:ID;P|TABLE\r?\n0,1\r?\n|socialcalc:version)/, OTHER_SHEET],
  [/^<(?:\?xml|!doctype|[a-z][\w.-]*(?:\s[^<>@]{0,1000})?\/?>)/i, NO_LIST],
  [/^(?:\{\\rtf|BEGIN:VCALENDAR|%!PS)/i, NO_LIST],
  [/^(?:#.{0,200}[\r\n]+|version:\s*1[\r\n]+)*dn::?\s/i, NO_LIST],
  [
    /^(?:--.*\r?\n|\/\*[^*]*\*\/;?|\s)*(?:(?:CREATE|DROP|LOCK) (?:DATABASE|SCHEMA|TABLES?)|INSERT INTO|REPLACE INTO|(?:BEGIN|START) TRANSACTION;|COPY \S+ \(|PRAGMA \w+ ?=|SET [\w.@]+ ?=|\\restrict )/i,
    NO_LIST,
  ],
  [
    /^(?:(?:%YAML.*\r?\n)?---[ \t]*\r?\n[ \t]*(?:- +)?[\w-]+:|(?:[\w-]+:[ \t]*\r?\n)?[ \t]*- +[\w-]+:[ \t].*\r?\n[ \t]+[\w-]+:[ \t])/,
    NO_LIST,
  ],
  [
    /^(?:From \S+ .{0,200}\r?\n|(?:Return-Path|Received|Delivered-To|MIME-Version|DKIM-Signature|X-[\w-]+|Message-ID|ARC-[\w-]+|Authentication-Results|Date|From|To|Subject|Content-Type):.{0,2000}\r?\n(?:[ \t].{0,2000}\r?\n){0,50})[A-Za-z][\w-]{1,60}:/,
    MAIL,
  ],
];

export function faultOfForm(head: string): TableFault | undefined {
  const start = head.slice(0, 65_536).trimStart().slice(0, 4_096);
  const what =
    FORMS.find(([form]) => form.test(start))?.[1] ?? (isAligned(head) ? NO_LIST : undefined);
  return what === undefined ? undefined : new TableFault(what);
}

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
