import { trimEntry } from "../address/address.ts";

/** A file of entries that cannot be read. The message is one sentence for the sender. */
export class TableFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TableFault";
  }
}

const PLAIN = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/;

export const CELL_ENTRIES_MAX = 100;

const READ_MAX_UNITS = 32_768;

const WRAPS: readonly RegExp[] = [
  /^=HYPERLINK\(\s*"([^"]*)".*\)$/is,
  /^="(.*)"$/s,
  /^'(.+)$/s,
  /^mailto:([^?]*)(?:\?.*)?$/is,
  /^[^<>@]*<([^<>]*)>$/s,
  /^"[^"]*"\s*<([^<>]*)>$/s,
  /^\(([^()]*)\)$/s,
  /^\[([^[\]]*)\]$/s,
  /^\{([^{}]*)\}$/s,
  /^["\u201c-\u201f\u00ab\u00bb\u2018-\u201b\u2039\u203a`](.*)["\u201c-\u201f\u00ab\u00bb\u2018-\u201b\u2039\u203a`']$/s,
];

/** Wraps stand in wraps: `'<mailto:jo@x>`. */
const WRAPS_MAX = 6;

/** The entry inside "mailto:", "Name <...>", brackets, quotes, and what spreadsheets put around a text. */
function unwrapped(cell: string): string {
  let text = trimEntry(cell);
  for (let count = 0; count < WRAPS_MAX; count += 1) {
    const inside = WRAPS.map((wrap) => wrap.exec(text)?.[1]).find((found) => found !== undefined);
    if (inside === undefined) return text;
    text = trimEntry(inside);
  }
  return text;
}

const SEPARATORS: readonly RegExp[] = [/[,;|\r\n\t]+|\s\/\s/, /[\s,;|/]+/];

const atSigns = (text: string): number => text.split("@", 3).length - 1;

/** The entries of a cell: none of a blank one, several when each piece of it is an address. */
export function entriesOf(cell: string): readonly string[] {
  if (PLAIN.test(cell)) return [cell];
  const text = unwrapped(cell.length > READ_MAX_UNITS ? cell.slice(0, READ_MAX_UNITS) : cell);
  if (text === "") return [];
  if (atSigns(text) > 1) {
    for (const separator of SEPARATORS) {
      const pieces = text
        .split(separator)
        .map(unwrapped)
        .filter((piece) => piece !== "");
      if (pieces.length > 1 && pieces.every((piece) => atSigns(piece) === 1)) return pieces;
    }
    const bracketed = [...text.matchAll(/<([^<>@\s]+@[^<>@\s]+)>/g)].map(
      ([, inside]) => inside ?? "",
    );
    if (bracketed.length > 1 && bracketed.length === text.split("@").length - 1) return bracketed;
  }
  return [text.replace(/[\r\n]+/g, " ")];
}

const ADDRESS = /^[^@\s][^@]*[@\uff20][^@\s]+\.[^@\s]+$|[([{<]\s*at\s*[)\]}>]/i;
/** Letters and digits in at least two labels, the last of letters. */
const DOMAIN = /^(?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]+\.?$/u;

const EXAMINED_MAX_UNITS = 1_000;

export type CellKind = "address" | "domain" | "other";

export function kindOfCell(cell: string): CellKind {
  if (cell === "" || cell.length > EXAMINED_MAX_UNITS) return "other";
  if (PLAIN.test(cell)) return "address";
  const [first = ""] = entriesOf(cell);
  return ADDRESS.test(first) ? "address" : DOMAIN.test(first) ? "domain" : "other";
}
