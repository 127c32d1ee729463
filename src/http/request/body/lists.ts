import { BULK_MAX_OCTETS } from "../../../core/name/domain.ts";
import { bulkText } from "../bulk-text.ts";
import { formFields, itemsName, type RawFields } from "../form.ts";
import type { Body } from "../params.ts";
import { inSlices } from "./slices.ts";

/** Characters of a list that are decoded between two turns of other requests: about 3 ms. */
const SLICE_CHARACTERS = 65_536;

/** Reads a large form: its parameters in slices, and the text of each long list among them. */
export async function readLists(text: string, wanted: ReadonlySet<string>): Promise<Body> {
  const fields = await inSlices(formFields(text, wanted));
  const texts = new Map<string, string>();
  for (const name of wanted) {
    const raw = [...(fields.get(name) ?? []), ...(fields.get(itemsName(name)) ?? [])].join("%0A");
    if (raw.length > SLICE_CHARACTERS) {
      texts.set(name, refusable(await inSlices(decodedList(raw))));
    }
  }
  return { kind: "fields", fields: shortened(fields, texts), texts };
}

/** Neither a comma nor white space; a list without one has no entry. */
export const ENTRY_CHARACTER = /[^ ,\t\r\n]/;

/**
 * Of a list that is longer than any may be, as much as is refused in the same words: what is left goes to the main
 * thread, which stands still while it takes megabytes over.
 */
export function refusable(list: string): string {
  if (list.length <= BULK_MAX_OCTETS) return list;
  const entry = ENTRY_CHARACTER.exec(list)?.[0] ?? ",";
  return entry + list.slice(0, BULK_MAX_OCTETS);
}

/** What `bulkText` makes of `raw`, a piece at a time. */
export function* decodedList(raw: string): Generator<undefined, string> {
  const pieces: string[] = [];
  for (let start = 0; start < raw.length;) {
    const end = safeCut(raw, start + SLICE_CHARACTERS);
    pieces.push(bulkText(raw.slice(start, end)));
    start = end;
    yield;
  }
  return pieces.join("");
}

/**
 * Places where a list can be cut so that its pieces decode to the same text: before a separator, or, in an entry of more
 * than a slice, which is malformed by its length anyway, where no character is cut: before the escape of an ASCII
 * character or of the first octet of a longer one, before a character that is no part of an escape, or before any
 * escape.
 */
const CUTS = [
  /[ ,\t\r\n]|%(?:0[9ad]|2[0c])/gi,
  /%[0-7c-f]/gi,
  /(?<!%|%.)[^%\udc00-\udfff]/g,
  /%/g,
] as const;

/** What an escape that ends before a place can reach back. */
const ESCAPE_CHARACTERS = 3;

/** The first good place to cut at `from` or up to a slice later; `from` when there is none. */
function safeCut(raw: string, from: number): number {
  if (from >= raw.length) return raw.length;
  const start = from - ESCAPE_CHARACTERS;
  const window = raw.slice(start, from + SLICE_CHARACTERS);
  for (const pattern of CUTS) {
    pattern.lastIndex = ESCAPE_CHARACTERS;
    const found = pattern.exec(window);
    if (found !== null) return start + found.index;
  }
  return from; // halves of characters alone
}

/** Of a parameter whose list was decoded, the first value is enough. */
function shortened(fields: RawFields, texts: ReadonlyMap<string, string>): RawFields {
  const kept = new Map(fields);
  for (const name of texts.keys()) {
    const own = fields.get(name);
    if (own !== undefined) kept.set(name, own.slice(0, 1));
    else kept.set(itemsName(name), (fields.get(itemsName(name)) ?? []).slice(0, 1));
    if (own !== undefined) kept.delete(itemsName(name));
  }
  return kept;
}
