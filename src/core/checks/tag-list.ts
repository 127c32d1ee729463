import type { Lookup } from "../mail/lookup.ts";

/** Texts that DNS dictates (`spf_record`, `dmarc.record`, `rua`) are cut to this many UTF-16 code units. */
export const SHOWN_TEXT_MAX = 4_096;

export function shownText(text: string): string {
  if (text.length <= SHOWN_TEXT_MAX) return text;
  const last = text.charCodeAt(SHOWN_TEXT_MAX - 1);
  const inside = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, inside ? SHOWN_TEXT_MAX - 1 : SHOWN_TEXT_MAX);
}

/** The TXT records at a name that are of the kind sought; `unknown` when DNS did not answer. */
export async function textsAt(
  name: string,
  lookup: Pick<Lookup, "txt">,
  isSought: (text: string) => boolean,
): Promise<readonly string[] | "unknown"> {
  const answer = await lookup.txt(name);
  if (answer.kind === "unknown") return "unknown";
  return answer.kind === "found" ? answer.records.filter(isSought) : [];
}

/** "k=v; k=v" as DKIM key records and DMARC policy records write it (RFC 6376 section 3.2). */
export interface TagList {
  /** Names are as written, the first of a repeated one counts, and values lose the blanks around them. */
  readonly tags: ReadonlyMap<string, string>;
  /** The name that stands first: both record kinds put their version there. */
  readonly first: string | undefined;
  /** False when any part was no tag, a name came twice, or there were more tags than anybody needs. */
  readonly wellFormed: boolean;
}

/** Real records hold about ten tags; what comes after this many is not read. */
export const TAGS_MAX = 100;

const TAG_NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** What neither a value nor the folding white space around it holds. */
const FOREIGN = /[^\t\n\r -~]/;
const BLANK = /^[\t\n\r ]*$/;

export function parseTagList(text: string): TagList {
  const tags = new Map<string, string>();
  const pieces = text.split(";", TAGS_MAX + 2);
  if (BLANK.test(pieces.at(-1) ?? "")) pieces.pop(); // a ";" may close the list
  let wellFormed = pieces.length <= TAGS_MAX;
  for (const piece of pieces.slice(0, TAGS_MAX)) wellFormed = take(piece, tags) && wellFormed;
  return { tags, first: tags.keys().next().value, wellFormed };
}

function take(piece: string, tags: Map<string, string>): boolean {
  const equals = piece.indexOf("=");
  if (equals < 0 || FOREIGN.test(piece)) return false;
  const name = piece.slice(0, equals).trim();
  if (!TAG_NAME.test(name) || tags.has(name)) return false;
  tags.set(name, piece.slice(equals + 1).trim());
  return true;
}
