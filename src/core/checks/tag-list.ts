/** Texts that DNS dictates (`spf_record`, `dmarc.record`, `rua`) are cut to this many UTF-16 code units. */
export const SHOWN_TEXT_MAX = 4_096;

export function shownText(text: string): string {
  if (text.length <= SHOWN_TEXT_MAX) return text;
  const last = text.charCodeAt(SHOWN_TEXT_MAX - 1);
  const inside = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, inside ? SHOWN_TEXT_MAX - 1 : SHOWN_TEXT_MAX);
}

/** "k=v; k=v" as DKIM key records and DMARC policy records write it (RFC 6376 section 3.2). */
export interface TagList {
  /** By name, as written; of a repeated name the first. Values without the blanks around them. */
  readonly tags: ReadonlyMap<string, string>;
  /** The name that stands first: both record kinds put their version there. */
  readonly first: string | undefined;
  /** False when any part was no tag, a name came twice, or there were more tags than anybody needs. */
  readonly wellFormed: boolean;
}

/** Real records hold about ten tags; what comes after this many is not read. */
export const TAGS_MAX = 100;

const TAG_NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

const FOREIGN = /[^\t\n\r -~]/;

export function parseTagList(text: string): TagList {
  const tags = new Map<string, string>();
  let wellFormed = true;
  let start = 0;
  for (let read = 0; start < text.length; read += 1) {
    if (read === TAGS_MAX) return { tags, first: firstOf(tags), wellFormed: false };
    const semicolon = text.indexOf(";", start);
    const end = semicolon < 0 ? text.length : semicolon;
    wellFormed = take(text.slice(start, end), { tags, last: semicolon < 0 }) && wellFormed;
    start = end + 1;
  }
  return { tags, first: firstOf(tags), wellFormed };
}

interface Taking {
  readonly tags: Map<string, string>;
  /** A ";" may close the list, so only blanks may follow the last one. */
  readonly last: boolean;
}

function take(piece: string, { tags, last }: Taking): boolean {
  const equals = piece.indexOf("=");
  if (equals < 0) return last && trimFolds(piece) === "";
  const name = trimFolds(piece.slice(0, equals));
  const value = trimFolds(piece.slice(equals + 1));
  if (!TAG_NAME.test(name) || FOREIGN.test(value) || tags.has(name)) return false;
  tags.set(name, value);
  return true;
}

/** Without folding white space at its ends: blank, tab, CR and LF, and no other space of Unicode. */
function trimFolds(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isFold(text.charCodeAt(start))) start += 1;
  while (end > start && isFold(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isFold = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;

const firstOf = (tags: ReadonlyMap<string, string>): string | undefined => tags.keys().next().value;
