import { TableFault } from "../core/batch/entry-cell.ts";

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
        if (kept[0] === 0xef && kept[1] === 0xbb && kept[2] === 0xbf) kept = kept.subarray(3);
      }
      const { text, rest } = read(kept);
      if (text !== "") yield text;
      kept = rest;
    }
    read ??= this.#readerFor(kept);
    const { text, rest } = read(kept);
    yield text + (rest.length > 0 ? this.#narrow(rest) : "");
  }

  #readerFor(head: Uint8Array): (octets: Buffer) => ReadText {
    const wanted = this.#wanted;
    const wide = wanted === undefined ? wideEncoding(head) : undefined;
    if (wide !== undefined) this.#encoding = wide;
    const decoder = wide === undefined ? wanted : new TextDecoder(wide, { fatal: true });
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
    try {
      const text = utf8.decode(octets);
      this.#hasWide ||= text.length < octets.length;
      return text;
    } catch {
      if (isLikeShiftJis(octets)) throw new TableFault(SHIFT_JIS);
      const lines = octets.toString("latin1").split(/(?<=[\r\n])/);
      const text = lines.map((line) => this.#line(line)).join("");
      this.#encoding = this.#hasWide ? "utf-8, windows-1252" : "windows-1252";
      return text;
    }
  }

  /** `line` has a character for each octet. */
  #line(line: string): string {
    if (!/[\x80-\xff]/.test(line)) return line;
    try {
      const text = utf8.decode(Buffer.from(line, "latin1"));
      this.#hasWide = true;
      return text;
    } catch {
      if (MEANINGLESS.test(line.replaceAll(END_OF_TEXT, ""))) throw new TableFault(NO_TEXT);
      return fromWindows1252(line);
    }
  }
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

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The characters of octets 0x80 to 0x9f; those without one there stay what they are. */
const WINDOWS_1252 =
  "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f" +
  "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

const fromWindows1252 = (latin1: string): string =>
  latin1.replace(/[\x80-\x9f]/g, (octet) => WINDOWS_1252[octet.charCodeAt(0) - 0x80] ?? octet);

/**
 * Controls, octets without a meaning in Windows-1252, and more than one of the two that are rare there and lead in every
 * second letter of Shift_JIS.
 */
const MEANINGLESS = /[^\t-\r -\x80\x82-\x8c\x8e\x91-\x9c\x9e-\xff]|[\x82\x83].*[\x82\x83]/s;

/** Excel and old editors end a text with Ctrl-Z. */
const END_OF_TEXT = "\u001a";

/** First octets of two-octet characters that are punctuation, not letters, in Windows-1252. */
const isPunctuation = (octet: number): boolean =>
  octet > 0x80 && octet < 0xa0 && ![0x8a, 0x8c, 0x8e, 0x9a, 0x9c, 0x9e, 0x9f].includes(octet);

const isPair = (lead: number, trail: number): boolean =>
  lead !== 0xa0 && lead < 0xfd && trail > 0x3f && trail < 0xfd && trail !== 0x7f && trail !== 0x80;

/** Whether octets are Shift_JIS throughout, with characters side by side that begin with punctuation of Windows-1252. */
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
