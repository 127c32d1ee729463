import { isOneEdit } from "../core/name/one-edit.ts";
import { badParameter, bulkTooLarge, Refusal, wrongType } from "../base/refusals.ts";
import { decodePercent, hexPair } from "./target.ts";

export type Body =
  | { readonly kind: "none" }
  | {
      readonly kind: "form";
      readonly fields: RawFields;
      readonly lists?: DecodedTexts;
      /** As it was sent, unless it is large. */
      readonly text?: string;
    }
  /** `multipart/form-data`; nothing reads what the parts named in `files` hold. */
  | { readonly kind: "parts"; readonly fields: RawFields; readonly files: ReadonlySet<string> }
  /** `value` is the parsed object; its members may have any type and any name. */
  | { readonly kind: "json"; readonly value: object; readonly lists?: DecodedTexts };

/** Name -> the text of its list, where a large body was decoded as it was read. */
type DecodedTexts = ReadonlyMap<string, string>;

type EntryKind = Parameters<typeof singleText>[1];

/** Longest text that is read as a list of names: all names we know fit in it many times. */
const NAMES_MAX_CHARACTERS = 1_000;

/**
 * Parameters of the body, and of the query for those that the body does not name at all. A value is one of a name
 * that stands there once or several times, or an item of an array: JSON's, or "name[]" of a form.
 */
export class Params {
  readonly #body: Body;
  readonly #query: RawFields;
  readonly #queryText: string;
  readonly #wanted: ReadonlySet<string>;

  /** `wanted` are the parameters that the route knows; the others of the query are not looked at. */
  constructor(body: Body, query: string, wanted: ReadonlySet<string>) {
    this.#body = body;
    this.#query = query === "" ? NO_FIELDS : readForm(query, wanted);
    this.#queryText = query;
    this.#wanted = wanted;
  }

  /** The first value; "+" is a plus sign. Absent when the request does not name it; may be "". */
  text(name: string): string | undefined {
    const values = this.#values(name);
    return values && readTexts(values, values.texts.slice(0, 1))[0];
  }

  texts(name: string): readonly string[] | undefined {
    const values = this.#values(name);
    return values?.form === "encoded"
      ? values.texts.map((text) => singleText(text, "either"))
      : values?.texts;
  }

  /** The first value as one entry, "+" of encoded forms read by the rule of `singleText`. */
  entry(name: string, kind: EntryKind): string | undefined {
    const values = this.#values(name);
    const first = values?.texts[0];
    return first !== undefined && values?.form === "encoded" ? singleText(first, kind) : first;
  }

  /** The only value, read as an entry; "" for none, several, a file, or a value that is no text. Never refuses. */
  loneEntry(name: string, kind: EntryKind): string {
    const body = this.#body;
    const isMember = body.kind === "json" && Object.hasOwn(body.value, name);
    const isFile = body.kind === "parts" && body.files.has(name);
    if (isFile || (isMember && typeof Reflect.get(body.value, name) !== "string")) return "";
    return this.count(name) === 1 ? (this.entry(name, kind) ?? "") : "";
  }

  /** The first value as a sentence: "+" of encoded forms is a blank. */
  words(name: string): string | undefined {
    return this.entry(name, "domain");
  }

  given(name: string): string | undefined {
    return givenText(this.value(name) ?? undefined, name);
  }

  /** A member of a JSON body as it is, of any type; else what `words` gives. */
  value(name: string): unknown {
    const body = this.#body;
    if (body.kind !== "json") return this.words(name);
    if (Object.hasOwn(body.value, name)) return Reflect.get(body.value, name);
    return this.#query.size === 0 ? undefined : this.words(name);
  }

  /** All values joined with line feeds, "+" of encoded forms read by the rule of `bulkText`. */
  bulkText(name: string): string | undefined {
    const list = "lists" in this.#body ? this.#body.lists?.get(name) : undefined;
    if (list !== undefined) return list;
    const values = this.#values(name);
    // Joined before they are read: hundreds of thousands of tiny values are one pass then.
    return values?.form === "encoded"
      ? bulkText(values.texts.join("%0A"))
      : values?.texts.join("\n");
  }

  flag(name: string): boolean {
    return /^(?:true|1)$/i.test(this.text(name) ?? "");
  }

  /** The first value, or all items of an array, split at commas and blanks; lower case, no empty pieces. */
  names(name: string): readonly string[] {
    const values = this.#values(name);
    return values === undefined ? [] : splitNames(readTexts(values, listed(values)).join(","));
  }

  count(name: string): number {
    return this.#values(name)?.texts.length ?? 0;
  }

  hint(): string | undefined {
    const body = this.#body;
    if (body.kind === "json" && this.#queryText === "" && this.#knowsAll(body.value))
      return undefined;
    const { text = "" } = body.kind === "form" ? body : {};
    if (/^\s*\{/.test(text)) return JSON_HINT;
    const members = body.kind === "json" ? Object.keys(body.value).slice(0, LOOKED_AT) : [];
    const names = [...namesIn(this.#queryText), ...namesIn(text), ...members];
    return names.length === 0 ? undefined : unknownHint(names, this.#wanted);
  }

  #knowsAll(members: object): boolean {
    for (const name in members) if (!this.#wanted.has(name)) return false;
    return true;
  }

  #values(name: string): ParamValues | undefined {
    const body = this.#body;
    let own: ParamValues | undefined;
    if (body.kind === "form") own = valuesIn(body.fields, name, "encoded");
    else if (body.kind === "parts") own = partsIn(body, name);
    else if (body.kind === "json" && Object.hasOwn(body.value, name)) {
      own = jsonValues(name, Reflect.get(body.value, name));
    }
    return own ?? valuesIn(this.#query, name, "encoded");
  }
}

/** Text; absent, null and "" are the same, because clients write either. Anything else is refused. */
export function givenText(value: unknown, name: string): string | undefined {
  if (value !== undefined && typeof value !== "string") throw badParameter(name, "text");
  return value === "" ? undefined : value;
}

const LOOKED_AT = 50;

const namesIn = (form: string): readonly string[] =>
  form === ""
    ? []
    : form.split("&", LOOKED_AT).map((pair) => ownName(fieldName(pair.split("=", 1)[0] ?? "")));

interface ParamValues {
  readonly texts: readonly string[];
  readonly items: number;
  readonly form: "encoded" | "plain";
}

const readTexts = ({ form }: ParamValues, texts: readonly string[]): readonly string[] =>
  form === "encoded" ? texts.map(decodePercent) : texts;

/** The first value of the name itself and all items, as far as a list of names can hold them. */
const listed = ({ texts, items }: ParamValues): readonly string[] =>
  texts.filter((_, at) => at === 0 || at >= texts.length - items).slice(0, NAMES_MAX_CHARACTERS);

function valuesIn(
  fields: RawFields,
  name: string,
  form: ParamValues["form"],
): ParamValues | undefined {
  if (fields.size === 0) return undefined;
  const own = fields.get(name);
  const items = fields.get(itemsName(name));
  if (items === undefined) return own && { texts: own, items: 0, form };
  return { texts: [...(own ?? []), ...items], items: items.length, form };
}

/** A file where text should stand is a mistake worth telling. */
function partsIn(
  { fields, files }: Extract<Body, { kind: "parts" }>,
  name: string,
): ParamValues | undefined {
  if (files.has(name) || files.has(itemsName(name))) throw wrongType(name);
  return valuesIn(fields, name, "plain");
}

/** JSON takes text, booleans and arrays of text; anything else is a mistake worth telling. */
function jsonValues(name: string, value: unknown): ParamValues {
  if (typeof value === "string") return { texts: [value], items: 0, form: "plain" };
  if (typeof value === "boolean") return { texts: [String(value)], items: 0, form: "plain" };
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw wrongType(name);
  }
  return { texts: value, items: value.length, form: "plain" };
}

const NO_FIELDS: RawFields = new Map();

export const NO_PARAMS: Params = new Params({ kind: "none" }, "", new Set());

function splitNames(text: string): readonly string[] {
  return text
    .slice(0, NAMES_MAX_CHARACTERS)
    .toLowerCase()
    .split(/[\s,+]+/)
    .filter((piece) => piece !== "");
}

/** Name as `fieldName` gives it -> values as they were sent, still encoded, in order. */
export type RawFields = ReadonlyMap<string, readonly string[]>;

/** "email[]", "email[0]": how PHP, axios and others write the items of an array. All are "email[]" here. */
export const fieldName = (name: string): string =>
  name.endsWith("]") ? name.replace(/\[\d*\]$/, ITEMS) : name;

export const itemsName = (name: string): string => `${name}${ITEMS}`;

const ITEMS = "[]";

/**
 * Reads `application/x-www-form-urlencoded` text (a body or a query), keeping only the parameters in
 * `wanted`: unread names cost no memory. Values stay raw because "+" means different things to single
 * checks and to bulk. A parameter without "=" has the value "". Linear in its input.
 */
export function readForm(text: string, wanted: ReadonlySet<string>): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  let values = 0;
  for (let [start, end] = [0, 0]; start < text.length; start = end + 1) {
    const next = text.indexOf("&", start);
    end = next < 0 ? text.length : next;
    NAME.lastIndex = start;
    const [raw] = NAME.exec(text) ?? [];
    const name = raw === undefined ? "" : fieldName(decodePercent(raw));
    if (raw === undefined || !wanted.has(ownName(name))) continue;
    const valueStart = start + raw.length + 1;
    const value = text.slice(valueStart, Math.max(end, valueStart));
    const known = fields.get(name);
    if (known === undefined) fields.set(name, [value]);
    else known.push(value);
    values += 1;
    if (values > VALUES_MAX) throw tooManyValues();
  }
  return fields;
}

/** Values in one body: more than twice what the largest list may hold. A body with more is refused with 413. */
export const VALUES_MAX = 250_000;

export const TOO_MANY = "The body has more than 250,000 values.";

export function tooManyValues(): Refusal {
  const { code, status, message } = bulkTooLarge();
  return new Refusal(code, status, message, { notice: TOO_MANY });
}

/**
 * Our names are ASCII words of up to 60 characters or escapes. What cannot be one is not decoded: a million failures would
 * take seconds.
 */
const NAME = /(?:[\w[\]]|%[2-7][0-9a-f]){1,60}(?=[=&]|$)/iy;

/** Without the mark of items. */
const ownName = (name: string): string =>
  name.endsWith(ITEMS) ? name.slice(0, -ITEMS.length) : name;

/**
 * The one entry of a raw form value. Form encoders write a blank as "+", and many clients send addresses unencoded:
 * up to the last at sign ("@" or "%40") "+" is a plus sign, after it a blank; in a domain it is always a blank.
 * "%2B" is always a plus sign and "%20" always a blank. A value of `either` kind without an at sign is a domain.
 */
function singleText(raw: string, kind: "address" | "domain" | "either"): string {
  if (!raw.includes("+")) return decodePercent(raw);
  const at = Math.max(raw.lastIndexOf("@"), raw.lastIndexOf("%40"));
  if (at < 0 && kind === "address") return decodePercent(raw);
  const start = kind === "domain" ? 0 : Math.max(at, 0);
  return decodePercent(raw.slice(0, start) + raw.slice(start).replaceAll("+", " "));
}

/**
 * The text of a bulk list out of its raw form value. Clients write "+" for a plus sign and for a blank
 * the same way, so each one is read by its place in its token:
 *
 * - before a raw "@" it is a plus sign: nothing was encoded here;
 * - before a "%40", after the at sign, and in a token without one, it is a blank: an encoder was at work,
 *   or no address can hold it.
 *
 * "%2B" is always a plus sign and "%20" always a blank. A token ends at a comma or white space, raw or
 * encoded, and at a "+" that is a blank. Linear: every octet is looked at twice at most.
 */
export function bulkText(raw: string): string {
  return decodePercent(raw.includes("+") ? blankPluses(Buffer.from(raw, "utf8")) : raw);
}

const PLUS = 43;
const PERCENT = 37;
const AT = 64;
const BLANK = 32;

/** Works in place: all marks are ASCII, which no octet of a longer UTF-8 sequence is. */
function blankPluses(octets: Buffer): string {
  let start = 0;
  while (start < octets.length) {
    const end = endOfLocalPart(octets, start);
    if (octets[end] !== AT) blankRange(octets, start, end);
    start = isAt(octets, end) ? endOfDomain(octets, end + 1) : end + 1;
  }
  return octets.toString("utf8");
}

/** The first at sign or separator, raw or encoded; the length when there is none. */
function endOfLocalPart(octets: Buffer, start: number): number {
  let at = start;
  while (at < octets.length && !isAt(octets, at) && !isSeparator(octets, at)) at += 1;
  return at;
}

function endOfDomain(octets: Buffer, start: number): number {
  let at = start;
  while (at < octets.length && octets[at] !== PLUS && !isSeparator(octets, at)) at += 1;
  if (octets[at] === PLUS) octets[at] = BLANK;
  return at + 1;
}

function blankRange(octets: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at += 1) if (octets[at] === PLUS) octets[at] = BLANK;
}

const isAt = (octets: Buffer, at: number): boolean => meant(octets, at) === AT;

function isSeparator(octets: Buffer, at: number): boolean {
  const octet = meant(octets, at);
  return octet === 44 || octet === BLANK || octet === 9 || octet === 10 || octet === 13;
}

/** The octet itself, or the one that an escape starting here stands for; -1 for a stray "%". */
function meant(octets: Buffer, at: number): number {
  const octet = octets[at] ?? -1;
  return octet === PERCENT ? hexPair(octets[at + 1], octets[at + 2]) : octet;
}

const NAMED = 3;

/** What may stand in a header, and is no secret: keys are longer. */
const SAID_NAME = /^[a-z][a-z0-9_-]{0,31}$/i;

const JSON_HINT = "The body looks like JSON; send it with Content-Type: application/json.";

function unknownHint(names: readonly string[], known: ReadonlySet<string>): string | undefined {
  const unknown = new Set(names.filter((name) => !known.has(name) && SAID_NAME.test(name)));
  if (unknown.size === 0) return undefined;
  return [...unknown]
    .slice(0, NAMED)
    .map((name) => `Unknown parameter ${name}${didYouMean(name, known)}.`)
    .join(" ");
}

function didYouMean(name: string, known: ReadonlySet<string>): string {
  const plain = plainName(name);
  const near = [...known].find((one) => {
    const other = plainName(one);
    const isPart = plain.length > 2 && (other.startsWith(plain) || plain.startsWith(other));
    return isPart || plain === other || isOneEdit(plain, other);
  });
  return near === undefined ? "" : `; did you mean ${near}`;
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

/** Whether a text is two addresses or more, between commas, semicolons or blanks. What quotes anything is one. */
export function isSeveral(text: string): boolean {
  if (text.indexOf("@") === text.lastIndexOf("@") || text.includes('"')) return false;
  const pieces = text.split(/[\s,;]+/).filter((piece) => piece !== "");
  return pieces.length > 1 && pieces.every((piece) => /^[^@<>()]+@[^@<>()]+$/.test(piece));
}
