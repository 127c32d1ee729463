import { trimEntry } from "../address/address.ts";

/** A file of entries that cannot be read. The message is one sentence for the sender. */
export class TableFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TableFault";
  }
}

const PLAIN = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/;

/** What people write where there is nothing. */
const NOTHING =
  /^(?:[\w -]+:|n\/?a\.?|n\.a\.?|#n\/a|null|nil|none|undefined|nan|\\n|\(?(?:blank|none|empty)\)?|[-\u2010-\u2015_.?*\u2022#]{1,10})$/i;

const MARK =
  /^(?:\(?\d{1,9}[.)]|[-*+>#\u2022\u00b7\u2023\u25aa\u25cf\u25cb\u25e6\u2010-\u2015\u2713\u2714]|\[[ xX]?\])\s+/;

/** A protocol, or the name of a group; local parts have no colon. */
const LABEL =
  /^(?:(?:mailto|e-?mail|mail)\s*:\s*|[^@<>:"()[\]/]{1,64}:\s*(?=[^\s:/][^:]{0,320}@))/i;

const FOREIGN = /^(?:(?:x500|x400|sip|spo|eum|notes|im):\s*|\/o=)/i;

const PROXY = /\+(?=(?:smtp|x500|x400|sip|spo|eum|notes):)/iy;

/** Commas and semicolons of Chinese, Japanese and Arabic. */
const WIDE_COMMAS = "\u3001\uff0c\uff1b\uff64\u060c\u061b";

const MARKDOWN = /^\[[^\]]*\]\(([^()\s]*)\)$/;

const QUOTES = "\"'`\u00ab\u00bb\u2018-\u201f\u2039\u203a";
const OPENING = new RegExp(`^[${QUOTES}<]`);
const CLOSING = new RegExp(`[${QUOTES}>]$`);

const BRACKETS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const OPEN_OF: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Wraps stand in wraps: `'<mailto:jo@x>`. */
const WRAPS_MAX = 8;

/** The entry inside "mailto:", "Name <...>", brackets, quotes, and what spreadsheets put around a text. Linear. */
function unwrapped(cell: string): string {
  let text = trimEntry(cell);
  for (let count = 0; count < WRAPS_MAX && text !== ""; count += 1) {
    const inside = trimEntry(unwrappedOnce(text));
    if (inside === text) return text;
    text = inside;
  }
  return text;
}

function unwrappedOnce(text: string): string {
  const first = text[0] ?? "";
  const foreign = FOREIGN.exec(text)?.[0];
  if (foreign !== undefined) return afterWord(text, foreign.length);
  if (first === "=" && text[1] !== "?") return formulaText(text);
  const label = LABEL.exec(text)?.[0];
  if (label !== undefined) {
    const query = text.indexOf("?", label.length);
    const end = query < 0 ? text.length : query;
    return text.slice(label.length, end) + afterWord(text, end);
  }
  const mark = MARK.exec(text)?.[0];
  if (mark !== undefined) return text.slice(mark.length);
  if (/[,;|]$/.test(text)) return text.slice(0, -1);
  return bracketed(text) ?? quoted(text, first);
}

/** The text behind the word at this place; "" when no address is in it. */
function afterWord(text: string, at: number): string {
  const rest = /^\S*([^]*)$/.exec(text.slice(at))?.[1] ?? "";
  return rest.includes("@") ? rest : "";
}

function quoted(text: string, first: string): string {
  const isOpened = OPENING.test(first);
  const isClosed = CLOSING.test(text.slice(-1));
  if (isOpened && isClosed && text.length > 1) return text.slice(1, -1);
  const isAddress = text.includes("@");
  if (first === "'" && text.length > 1) return text.slice(1);
  if (isClosed && isAddress) return text.slice(0, -1);
  return isOpened && isAddress && !text.includes(first, 1) ? text.slice(1) : text;
}

/** `="jo@x"` and `=HYPERLINK("mailto:jo@x";"Jo")`. */
function formulaText(text: string): string {
  const link = /^=HYPERLINK\(\s*"([^"]*)"/i.exec(text)?.[1];
  if (link !== undefined && text.endsWith(")")) return link;
  return text.length > 3 && text.startsWith('="') && text.endsWith('"') ? text.slice(2, -1) : text;
}

function bracketed(text: string): string | undefined {
  if (text.endsWith(">")) return inAngles(text);
  const target = text.startsWith("[") ? MARKDOWN.exec(text)?.[1] : undefined;
  if (target !== undefined) return target;
  const [first = ""] = text;
  const close = BRACKETS[first];
  const end = close === undefined || text.lastIndexOf(first) > 0 ? -1 : text.indexOf(close);
  if (end === text.length - 1) return text.slice(1, -1);
  if (end > 0 && text[end + 1] === " " && text.indexOf("@") > end) return text.slice(end + 1);
  return beforeRemark(text) ?? withoutStray(text, first);
}

/** `['jo@x', 'an@x']` is cut into `['jo@x'` and `'an@x']`. */
function withoutStray(text: string, first: string): string | undefined {
  const close = BRACKETS[first];
  const open = OPEN_OF[text.at(-1) ?? ""];
  if (!text.includes("@")) return undefined;
  if (close !== undefined && !text.includes(close)) return text.slice(1);
  return open === undefined || text.includes(open) ? undefined : text.slice(0, -1);
}

/** `jo@x (office)`: what stands before the last remark in brackets. */
function beforeRemark(text: string): string | undefined {
  const open = OPEN_OF[text.at(-1) ?? ""];
  const from = open === undefined ? -1 : text.lastIndexOf(` ${open}`);
  const at = text.lastIndexOf("@");
  return at > 0 && at < from ? text.slice(0, from) : undefined;
}

function inAngles(text: string): string | undefined {
  const open = text.indexOf("<");
  const isOnly =
    open >= 0 && text.lastIndexOf("<") === open && text.indexOf(">", open) === text.length - 1;
  return isOnly && atSigns(text.slice(0, open)) < 2 ? text.slice(open + 1, -1) : undefined;
}

function atSigns(text: string): number {
  const first = text.indexOf("@");
  return first < 0 ? 0 : text.indexOf("@", first + 1) < 0 ? 1 : 2;
}

/** Looks forward for a character, and does not look twice at the same text. */
function finder(text: string, sought: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found < from) {
      const at = text.indexOf(sought, from);
      found = at < 0 ? Infinity : at;
    }
    return found;
  };
}

const NAME_MAX_UNITS = 200;

const CUTS = `|\n\r\t${WIDE_COMMAS}`;
const BLANK_OR_SEPARATED = new RegExp(`^$|[\\s,;|${WIDE_COMMAS}]`);

function widthOfCut(text: string, at: number, isMany: boolean): number {
  const char = text[at] ?? "";
  if (char === "," || char === ";") return 1;
  if (!isMany) return 0;
  if (char === "+") {
    PROXY.lastIndex = at;
    return PROXY.test(text) ? 1 : 0;
  }
  if (CUTS.includes(char)) return 1;
  const isWide =
    (char === ":" && text.startsWith(":::", at)) || (char === " " && text.startsWith(" / ", at));
  return isWide ? 3 : 0;
}

/**
 * Cuts at semicolons, and at commas that are not of "Last, First <a@b>"; a text with several addresses also at bars, tabs,
 * line breaks, `:::` and ` / `.
 */
function partsOf(text: string): readonly string[] {
  const nextQuote = finder(text, '"');
  const nextAt = finder(text, "@");
  const nextOpen = finder(text, "<");
  const nextSemicolon = finder(text, ";");
  const nextClose = finder(text, ")");
  const parts: string[] = [];
  const isMany = atSigns(text) > 1;
  let start = 0;
  let isFresh = true;
  let nameAt = -1; // up to where the part that begins at `start` is a name
  const isOfName = (at: number): boolean => {
    const address = nextAt(at);
    if (nextOpen(at) > address || address > nextSemicolon(at) || at - start > NAME_MAX_UNITS)
      return false;
    const isKnown = nameAt >= start;
    const name = text.slice(isKnown ? nameAt : start, at);
    if (/[@\uff20]/.test(name) || (!isKnown && isDomain(trimEntry(name)))) return false;
    nameAt = at;
    return true;
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === '"' && isFresh) {
      const close = nextQuote(at + 1);
      if (close < Infinity) at = close;
    } else if (char === "(" && nextClose(at) - at < NAME_MAX_UNITS) at = nextClose(at);
    const width = widthOfCut(text, at, isMany);
    isFresh = width > 0 || (isFresh && char === " ");
    if (width === 0 || (char === "," && isOfName(at))) continue;
    parts.push(text.slice(start, at));
    start = at + width;
    at = start - 1;
  }
  parts.push(text.slice(start));
  return parts.map(trimEntry).filter((part) => part !== "");
}

const isNothing = (text: string): boolean =>
  text === "" || (text.length < 40 && NOTHING.test(text));

/** Cells in cells: `"jo@x, 'Elm, An' <an@x>"`. */
const CELLS_IN_CELLS = 3;

/** Pieces as they are written. */
function piecesOf(text: string, isLine: boolean, depth = CELLS_IN_CELLS): readonly string[] {
  return partsOf(text).flatMap((part) => {
    const whole = unwrapped(part);
    const isMany = atSigns(whole) > 1;
    if (isLine ? isOneEntry(part, whole) : !isMany) return [part];
    if (isMany && whole !== part && depth > 0) return piecesOf(whole, isLine, depth - 1);
    const words = whole.split(isLine ? /\s+/ : /[\s/]+/);
    return isMany
      ? words.filter((word) => word.includes("@") || (isLine && isDomain(word)))
      : words;
  });
}

const isOneEntry = (part: string, whole: string): boolean =>
  !/\s/.test(whole) || /^"[^"]*"$/.test(part) || isNothing(whole) || isWrittenOut(whole);

/**
 * The entries of a cell: none of a blank one, several when it holds several addresses. Those of a line are as they are
 * written, to be read as cells, and blanks divide it where it has no at signs, too. Linear.
 */
export function entriesOf(written: string, { isLine = false } = {}): readonly string[] {
  const text = trimEntry(written);
  if (PLAIN.test(text) || (isLine && !BLANK_OR_SEPARATED.test(text))) return [text];
  if (isLine) return piecesOf(written, true);
  if (atSigns(text) > 1) {
    const inside = text.startsWith("=") ? unwrapped(text) : written;
    const pieces = piecesOf(inside, false).map(unwrapped);
    const entries = pieces.filter((piece) => piece.includes("@"));
    if (entries.length > 0 && entries.every((entry) => atSigns(entry) === 1)) return entries;
  }
  const whole = unwrapped(text);
  return isNothing(whole) ? [] : [whole.replace(/[\r\n]+/g, " ")];
}

const isWrittenOut = (text: string): boolean => /[([{<]\s*at\s*[)\]}>]/i.test(text);

function isAddress(text: string): boolean {
  const at = Math.max(text.lastIndexOf("@"), text.lastIndexOf("\uff20"));
  if (at < 1 || atSigns(text) > 1 || /^\s/.test(text)) return isWrittenOut(text);
  const domain = text.slice(at + 1);
  const dot = domain.indexOf(".", 1);
  return dot > 0 && dot < domain.length - 1 && !/\s/.test(domain);
}

/** Letters and digits in at least two labels, the last of letters. */
const DOMAIN = /^(?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]+\.?$/u;

const isDomain = (text: string): boolean => text.length < 260 && DOMAIN.test(text);

const EXAMINED_MAX_UNITS = 1_000;

export type CellKind = "address" | "domain" | "other";

const NEEDED = /[@\uff20.([{<]/;

export function kindOfCell(cell: string): CellKind {
  if (!NEEDED.test(cell)) return "other";
  if (PLAIN.test(cell)) return "address";
  const [first = ""] = entriesOf(cell.slice(0, EXAMINED_MAX_UNITS));
  return isAddress(first) ? "address" : isDomain(first) ? "domain" : "other";
}
