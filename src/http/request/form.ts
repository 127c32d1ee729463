import { bulkTooLarge } from "../../base/refusals.ts";
import { decodePercent } from "./target.ts";

/** Name as `fieldName` gives it -> values as they were sent, still encoded, in order. */
export type RawFields = ReadonlyMap<string, readonly string[]>;

/** "email[]", "email[0]": how PHP, axios and others write the items of an array. All are "email[]" here. */
export const fieldName = (name: string): string =>
  name.endsWith("]") ? name.replace(/\[\d*\]$/, ITEMS) : name;

/** The items of an array that a form holds under this name. */
export const itemsName = (name: string): string => `${name}${ITEMS}`;

const ITEMS = "[]";

/**
 * Reads `application/x-www-form-urlencoded` text (a body or a query), keeping only the parameters in
 * `wanted`: unread names cost no memory. Values stay raw because "+" means different things to single
 * checks and to bulk. A parameter without "=" has the value "". Linear in its input.
 */
export function readForm(text: string, wanted: ReadonlySet<string>): RawFields {
  const fields = new Map<string, string[]>();
  let start = 0;
  let values = 0;
  while (start < text.length) {
    const next = text.indexOf("&", start);
    const end = next < 0 ? text.length : next;
    if (end > start && addPair(text, { start, end }, { wanted, fields })) values += 1;
    if (values > VALUES_MAX) throw bulkTooLarge();
    start = end + 1;
  }
  return fields;
}

/** Values in one body: more than twice what the largest list may hold. A body with more is refused with 413. */
export const VALUES_MAX = 250_000;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Sink {
  readonly wanted: ReadonlySet<string>;
  readonly fields: Map<string, string[]>;
}

/** No name we know is longer than this when every character of it is percent-encoded. */
const NAME_MAX_CHARACTERS = 60;

/** False for a pair that is not wanted. */
function addPair(text: string, { start, end }: Span, { wanted, fields }: Sink): boolean {
  const nameEnd = endOfName(text, start, Math.min(end, start + NAME_MAX_CHARACTERS));
  if (nameEnd !== end && text.charCodeAt(nameEnd) !== EQUALS) return false;
  const name = nameOf(text.slice(start, nameEnd));
  if (name === undefined || !isWanted(name, wanted)) return false;
  const value = text.slice(nameEnd + 1, Math.max(end, nameEnd + 1));
  const values = fields.get(name);
  if (values === undefined) fields.set(name, [value]);
  else values.push(value);
  return true;
}

const EQUALS = 61;

/** Our names are ASCII words. What cannot be one is not decoded: a million failures would take seconds. */
const NAME = /^(?:[\w[\]]|%[2-7][0-9a-f])+$/i;

const nameOf = (raw: string): string | undefined =>
  NAME.test(raw) ? fieldName(decodePercent(raw)) : undefined;

const isWanted = (name: string, wanted: ReadonlySet<string>): boolean =>
  wanted.has(name.endsWith(ITEMS) ? name.slice(0, -ITEMS.length) : name);

function endOfName(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text.charCodeAt(at) !== EQUALS) at += 1;
  return at;
}
