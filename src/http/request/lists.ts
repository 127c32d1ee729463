import { bulkText } from "./bulk-text.ts";
import { formFields, itemsName, type RawFields } from "./form.ts";
import type { Body } from "./params.ts";
import { inSlices } from "./slices.ts";

/** Characters of a list that are decoded between two turns of other requests: about 3 ms. */
const SLICE_CHARACTERS = 65_536;

/** Reads a large form: its parameters in slices, and the text of each long list among them. */
export async function readLists(text: string, wanted: ReadonlySet<string>): Promise<Body> {
  const fields = await inSlices(formFields(text, wanted));
  const texts = new Map<string, string>();
  for (const name of wanted) {
    const raw = [...(fields.get(name) ?? []), ...(fields.get(itemsName(name)) ?? [])].join("%0A");
    if (raw.length > SLICE_CHARACTERS) texts.set(name, await inSlices(decodedList(raw)));
  }
  return { kind: "fields", fields: shortened(fields, texts), texts };
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

const SEPARATOR = /[ ,\t\r\n]|%(?:0[9ad]|2[0c])/gi;

/** The first escape of an ASCII character, or of the first octet of a longer one. */
const WHOLE_ESCAPE = /%[0-7c-f]/gi;

/**
 * Where a list can be cut at `from` or later so that its pieces decode to the same text: before a separator, or, in
 * an entry of more than a slice, which is malformed by its length anyway, where no character is cut.
 */
function safeCut(raw: string, from: number): number {
  if (from >= raw.length) return raw.length;
  const separator = indexOf(SEPARATOR, raw, from);
  if (separator >= 0 && separator - from <= SLICE_CHARACTERS) return separator;
  const escape = indexOf(WHOLE_ESCAPE, raw, from);
  if (escape >= 0 && escape - from <= SLICE_CHARACTERS) return escape;
  return separator < 0 && escape < 0
    ? raw.length
    : Math.min(...[separator, escape].filter((at) => at >= 0));
}

function indexOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
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
