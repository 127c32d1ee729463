import { wrongType } from "../service/refusals.ts";
import { bulkText } from "./bulk-text.ts";
import { type RawFields, readForm } from "./form.ts";
import { decodePercent } from "./target.ts";

/** The body of a request, as far as it was read. */
export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "form"; readonly text: string }
  /** `value` is the parsed object; its members may have any type and any name. */
  | { readonly kind: "json"; readonly value: object };

/** Parameters of the body, and of the query for those that the body does not name at all. */
export interface Params {
  /** The first value; "+" is a plus sign. Absent when nobody named it; may be "". */
  text(name: string): string | undefined;
  /** All values joined with line feeds, "+" read by the rule of `bulkText`; JSON text is taken as it is. */
  bulkText(name: string): string | undefined;
  /** Whether the first value is "true" (any case) or "1". */
  flag(name: string): boolean;
  /** The first value, or all of a JSON array, split at commas and blanks; lower case, no empty pieces. */
  names(name: string): readonly string[];
}

/** Longest text that is read as a list of names: all names we know fit in it many times. */
const NAMES_MAX_CHARACTERS = 1_000;

/** `wanted` are the parameters that the route knows; the others are not looked at. */
export function readParams(body: Body, query: string, wanted: ReadonlySet<string>): Params {
  const queryFields = query === "" ? NO_FIELDS : readForm(query, wanted);
  const bodyFields = body.kind === "form" ? readForm(body.text, wanted) : NO_FIELDS;
  const json = body.kind === "json" ? body.value : undefined;
  const jsonValues = (name: string): readonly string[] | undefined =>
    json !== undefined && Object.hasOwn(json, name)
      ? textsOf(name, Reflect.get(json, name))
      : undefined;
  const rawValues = (name: string): readonly string[] | undefined =>
    bodyFields.get(name) ?? queryFields.get(name);
  const text = (name: string): string | undefined => {
    const values = jsonValues(name);
    if (values !== undefined) return values[0];
    const raw = rawValues(name)?.[0];
    return raw === undefined ? undefined : decodePercent(raw);
  };
  return {
    text,
    bulkText: (name) => {
      const raw = rawValues(name);
      // Joined before they are read: hundreds of thousands of tiny values are one pass then.
      return jsonValues(name)?.join("\n") ?? (raw && bulkText(raw.join("%0A")));
    },
    flag: (name) => /^(?:true|1)$/i.test(text(name) ?? ""),
    names: (name) => splitNames(jsonValues(name)?.join(",") ?? text(name) ?? ""),
  };
}

const NO_FIELDS: RawFields = new Map();

/** No parameter at all, for requests that carry neither a body nor a query. */
export const NO_PARAMS: Params = {
  text: () => undefined,
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

/** JSON takes text, booleans and arrays of text; anything else is a mistake worth telling. */
function textsOf(name: string, value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "boolean") return [String(value)];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw wrongType(name);
}
