import { wrongType } from "../../base/refusals.ts";
import { bulkText } from "./bulk-text.ts";
import { itemsName, type RawFields, readForm } from "./form.ts";
import { singleText } from "./single-text.ts";
import { decodePercent } from "./target.ts";

/** The parts of a `multipart/form-data` body. Names are as `fieldName` gives them. */
export interface Parts {
  /** Values in order, as they were sent. */
  readonly texts: RawFields;
  /** Names of the parts that are files; nothing reads what they hold. */
  readonly files: ReadonlySet<string>;
}

/** The body of a request, as far as it was read. */
export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "form"; readonly text: string }
  /** `multipart/form-data`. */
  | { readonly kind: "parts"; readonly parts: Parts }
  /** `value` is the parsed object; its members may have any type and any name. */
  | { readonly kind: "json"; readonly value: object; readonly texts?: Lists }
  /** A large form. */
  | { readonly kind: "fields"; readonly fields: RawFields; readonly texts: Lists };

/** Name -> the text of its list, where a large body was decoded as it was read. */
type Lists = ReadonlyMap<string, string>;

/**
 * Parameters of the body, and of the query for those that the body does not name at all. A value is one of a name
 * that stands there once or several times, or an item of an array: JSON's, or "name[]" of a form.
 */
export interface Params {
  /** The first value; "+" is a plus sign. Absent when the request does not name it; may be "". */
  text(name: string): string | undefined;
  /** The first value as one entry, "+" of encoded forms read by the rule of `singleText`. */
  entry(name: string, kind: EntryKind): string | undefined;
  /** The first value as a sentence: "+" of encoded forms is a blank. */
  words(name: string): string | undefined;
  /** All values joined with line feeds, "+" of encoded forms read by the rule of `bulkText`. */
  bulkText(name: string): string | undefined;
  /** A member of a JSON body as it is, of any type; else what `words` gives. */
  value(name: string): unknown;
  /** Whether the first value is "true" (any case) or "1". */
  flag(name: string): boolean;
  /** The first value, or all items of an array, split at commas and blanks; lower case, no empty pieces. */
  names(name: string): readonly string[];
}

type EntryKind = Parameters<typeof singleText>[1];

/** Longest text that is read as a list of names: all names we know fit in it many times. */
const NAMES_MAX_CHARACTERS = 1_000;

/** `wanted` are the parameters that the route knows; the others are not looked at. */
export function readParams(body: Body, query: string, wanted: ReadonlySet<string>): Params {
  const queryFields = query === "" ? NO_FIELDS : readForm(query, wanted);
  const inBody = bodyReader(body, wanted);
  const valuesOf = (name: string): Values | undefined =>
    inBody(name) ?? valuesIn(queryFields, name, "encoded");
  const text = (name: string): string | undefined => {
    const values = valuesOf(name);
    return values && readTexts(values, values.texts.slice(0, 1))[0];
  };
  const entry = (name: string, kind: EntryKind): string | undefined => {
    const values = valuesOf(name);
    const first = values?.texts[0];
    return first !== undefined && values?.form === "encoded" ? singleText(first, kind) : first;
  };
  return {
    text,
    entry,
    words: (name) => entry(name, "domain"),
    value: (name) => {
      const isMember = body.kind === "json" && Object.hasOwn(body.value, name);
      return isMember ? Reflect.get(body.value, name) : entry(name, "domain");
    },
    bulkText: (name) => {
      const list = "texts" in body ? body.texts?.get(name) : undefined;
      if (list !== undefined) return list;
      const values = valuesOf(name);
      // Joined before they are read: hundreds of thousands of tiny values are one pass then.
      return values?.form === "encoded"
        ? bulkText(values.texts.join("%0A"))
        : values?.texts.join("\n");
    },
    flag: (name) => /^(?:true|1)$/i.test(text(name) ?? ""),
    names: (name) => {
      const values = valuesOf(name);
      return values === undefined ? [] : splitNames(readTexts(values, listed(values)).join(","));
    },
  };
}

/** What stands under one name. */
interface Values {
  /** Those of the name itself, then the items of an array. */
  readonly texts: readonly string[];
  /** How many of them are items. */
  readonly items: number;
  /** Whether they are still percent-encoded. */
  readonly form: "encoded" | "plain";
}

const readTexts = ({ form }: Values, texts: readonly string[]): readonly string[] =>
  form === "encoded" ? texts.map(decodePercent) : texts;

/** The first value of the name itself and all items, as far as a list of names can hold them. */
const listed = ({ texts, items }: Values): readonly string[] =>
  texts.filter((_, at) => at === 0 || at >= texts.length - items).slice(0, NAMES_MAX_CHARACTERS);

type ValueReader = (name: string) => Values | undefined;

function bodyReader(body: Body, wanted: ReadonlySet<string>): ValueReader {
  switch (body.kind) {
    case "none":
      return () => undefined;
    case "form": {
      const fields = readForm(body.text, wanted);
      return (name) => valuesIn(fields, name, "encoded");
    }
    case "fields":
      return (name) => valuesIn(body.fields, name, "encoded");
    case "parts":
      return (name) => partsIn(body.parts, name);
    case "json":
      return (name) =>
        Object.hasOwn(body.value, name)
          ? jsonValues(name, Reflect.get(body.value, name))
          : undefined;
  }
}

function valuesIn(fields: RawFields, name: string, form: Values["form"]): Values | undefined {
  const own = fields.get(name);
  const items = fields.get(itemsName(name));
  if (items === undefined) return own && { texts: own, items: 0, form };
  return { texts: [...(own ?? []), ...items], items: items.length, form };
}

/** A file where text should stand is a mistake worth telling. */
function partsIn({ texts, files }: Parts, name: string): Values | undefined {
  if (files.has(name) || files.has(itemsName(name))) throw wrongType(name);
  return valuesIn(texts, name, "plain");
}

/** JSON takes text, booleans and arrays of text; anything else is a mistake worth telling. */
function jsonValues(name: string, value: unknown): Values {
  if (typeof value === "string") return { texts: [value], items: 0, form: "plain" };
  if (typeof value === "boolean") return { texts: [String(value)], items: 0, form: "plain" };
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw wrongType(name);
  }
  return { texts: value, items: value.length, form: "plain" };
}

const NO_FIELDS: RawFields = new Map();

/** No parameter at all, for requests that carry neither a body nor a query. */
export const NO_PARAMS: Params = {
  text: () => undefined,
  entry: () => undefined,
  words: () => undefined,
  value: () => undefined,
  bulkText: () => undefined,
  flag: () => false,
  names: () => [],
};

function splitNames(text: string): readonly string[] {
  return text
    .slice(0, NAMES_MAX_CHARACTERS)
    .toLowerCase()
    .split(/[\s,+]+/)
    .filter((piece) => piece !== "");
}
