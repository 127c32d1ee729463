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
export const readParams = (body: Body, query: string, wanted: ReadonlySet<string>): Params =>
  new RequestParams(body, query, wanted);

class RequestParams implements Params {
  readonly #body: Body;
  /** Of a form's body. */
  readonly #fields: RawFields;
  readonly #query: RawFields;

  constructor(body: Body, query: string, wanted: ReadonlySet<string>) {
    this.#body = body;
    this.#fields = body.kind === "form" ? readForm(body.text, wanted) : NO_FIELDS;
    this.#query = query === "" ? NO_FIELDS : readForm(query, wanted);
  }

  text(name: string): string | undefined {
    const values = this.#values(name);
    return values && readTexts(values, values.texts.slice(0, 1))[0];
  }

  entry(name: string, kind: EntryKind): string | undefined {
    const values = this.#values(name);
    const first = values?.texts[0];
    return first !== undefined && values?.form === "encoded" ? singleText(first, kind) : first;
  }

  words(name: string): string | undefined {
    return this.entry(name, "domain");
  }

  value(name: string): unknown {
    const body = this.#body;
    const isMember = body.kind === "json" && Object.hasOwn(body.value, name);
    return isMember ? Reflect.get(body.value, name) : this.words(name);
  }

  bulkText(name: string): string | undefined {
    const list = "texts" in this.#body ? this.#body.texts?.get(name) : undefined;
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

  names(name: string): readonly string[] {
    const values = this.#values(name);
    return values === undefined ? [] : splitNames(readTexts(values, listed(values)).join(","));
  }

  #values(name: string): Values | undefined {
    return this.#inBody(name) ?? valuesIn(this.#query, name, "encoded");
  }

  #inBody(name: string): Values | undefined {
    const body = this.#body;
    switch (body.kind) {
      case "none":
        return undefined;
      case "form":
        return valuesIn(this.#fields, name, "encoded");
      case "fields":
        return valuesIn(body.fields, name, "encoded");
      case "parts":
        return partsIn(body.parts, name);
      case "json":
        return Object.hasOwn(body.value, name)
          ? jsonValues(name, Reflect.get(body.value, name))
          : undefined;
    }
  }
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

function valuesIn(fields: RawFields, name: string, form: Values["form"]): Values | undefined {
  if (fields.size === 0) return undefined;
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
export const NO_PARAMS: Params = new RequestParams({ kind: "none" }, "", new Set());

function splitNames(text: string): readonly string[] {
  return text
    .slice(0, NAMES_MAX_CHARACTERS)
    .toLowerCase()
    .split(/[\s,+]+/)
    .filter((piece) => piece !== "");
}
