import {
  Busboy,
  type BusboyConfig,
  type BusboyFileStream,
  type BusboyInstance,
} from "@fastify/busboy";
import type { OwnerKey } from "../base/owner.ts";
import { badUpload, invalidJson, Refusal } from "../base/refusals.ts";
import { SMALL_BODY_OCTETS } from "../base/resources.ts";
import { nextSlice } from "../base/slices.ts";
import { jsonIn } from "../core/json.ts";
import { BULK_MAX_OCTETS } from "../core/name/domain.ts";
import {
  type Body,
  bulkText,
  fieldName,
  itemsName,
  readForm,
  TOO_MANY,
  tooManyValues,
  VALUES_MAX,
} from "./params.ts";
import { decodePercent } from "./target.ts";

/** A whole body, to be decoded; it can be sent to a thread. */
export interface DecodeOrder {
  readonly kind: "form" | "json" | "parts" | "text";
  readonly type: string;
  /** Parameters whose lists are decoded at once when the body is large. */
  readonly wanted: ReadonlySet<string>;
  /** Taken out; of a large body, in memory that can be given to a thread. */
  readonly chunks: Uint8Array[];
}

export type Decode = (order: DecodeOrder, owner: OwnerKey, left?: AbortSignal) => Promise<Body>;

export const decodeBody = async ({ kind, type, wanted, chunks }: DecodeOrder): Promise<Body> => {
  const bytes = whole(chunks.splice(0));
  if (bytes.length === 0) return { kind: "none" };
  if (kind === "parts") return await readParts(type, bytes);
  return decodeText(bytes, { kind, type, wanted });
};

export const isLargeBody = (octets: number): boolean => octets > SMALL_BODY_OCTETS;

export function decodeText(
  bytes: Buffer,
  { kind: told, type, wanted }: Omit<DecodeOrder, "kind" | "chunks"> & TextKind,
): Body {
  if (bytes.length === 0) return { kind: "none" };
  const text = withoutMark(bytes.toString("utf8"));
  const kind = told === "text" ? (/^\s*\{/.test(text) ? "json" : "form") : told;
  const latin1 = isLatin1(type) ? LATIN1[kind] : undefined;
  // Who declares it and sends UTF-8 all the same is understood, too.
  const read = latin1?.isNoUtf8(text) === true ? latin1.read(bytes) : text;
  const isLarge = isLargeBody(bytes.length);
  if (kind === "json") return readJson(read, isLarge ? wanted : NO_NAMES);
  return readFields(read, wanted, isLarge);
}

interface TextKind {
  readonly kind: Exclude<DecodeOrder["kind"], "parts">;
}

/** Threads get a Buffer as the array that it is underneath. */
function whole(chunks: readonly Uint8Array[]): Buffer {
  const [first, ...more] = chunks;
  if (first === undefined || more.length > 0) return Buffer.concat(chunks);
  return Buffer.from(first.buffer, first.byteOffset, first.length);
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Some writers of UTF-8, .NET's above all, begin with a byte order mark. */
const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

/** Whether a Content-Type declares ISO-8859-1, as Apache's HttpClient 4 does for every form unless told otherwise. */
export const isLatin1 = (contentType: string): boolean =>
  /;\s*charset\s*=\s*"?(?:iso-8859-1|latin1)"?\s*(?:;|$)/i.test(contentType);

const LOST = "\ufffd";

/** A form in ISO-8859-1 as one in UTF-8: octets above 127, raw or escaped, become their characters, raw. */
export const utf8Form = (octets: Buffer): string =>
  octets
    .toString("latin1")
    .replace(/%[89a-f][\da-f]/gi, (escaped) => String.fromCharCode(parseInt(escaped.slice(1), 16)));

const LATIN1 = {
  form: { isNoUtf8: (text: string) => decodePercent(text).includes(LOST), read: utf8Form },
  json: {
    isNoUtf8: (text: string) => text.includes(LOST),
    read: (bytes: Buffer) => bytes.toString("latin1"),
  },
};

/** Our deepest body is an array of texts in an object. */
const DEPTH_MAX = 16;

/** Members, arrays and objects: a policy of 50 rules has about 1,000. Texts in an array do not count. */
const JSON_PARTS_MAX = 4_000;

/** Items beyond which an array is kept as the text of a list: each item of its own costs 40 octets of memory. */
const ITEMS_KEPT = 1_000;

const COMMA = 44;
const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [91, 93, 123, 125];

/**
 * Reads a JSON object. Arrays of `lists` are joined to the text of a list, and members of other names are dropped; with
 * no `lists` everything is kept. Refuses with 400 what is not an object, and with 413 more than `VALUES_MAX` values, both
 * unparsed: megabytes of brackets or items keep the parser busy for half a second.
 */
function readJson(text: string, lists: ReadonlySet<string>): Body {
  const fault = faultIn(text);
  if (fault === "values") throw tooManyValues();
  if (fault === "shape" && jsonIn(text) !== undefined)
    throw new Refusal("invalid_json", 400, invalidJson().message, { notice: TOO_COMPLEX });
  const value = fault === undefined ? jsonIn(text) : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidJson();
  if (lists.size === 0) return { kind: "json", value };
  const kept = Object.fromEntries(Object.entries(value).filter(([name]) => lists.has(name)));
  return { kind: "json", value: kept, lists: joined(kept, lists) };
}

const TOO_COMPLEX = "The JSON has more than 4,000 members or 16 levels.";

/** Read it was not: it has too many values, members or levels. */
export const isTooComplex = ({ notice }: Refusal): boolean =>
  notice === TOO_COMPLEX || notice === TOO_MANY;

function faultIn(text: string): "values" | "shape" | undefined {
  let [depth, parts, values] = [0, 0, 1];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at);
      continue;
    }
    if (code === COMMA) values += 1;
    else if (code === COLON) parts += 1;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth += 1;
      parts += 1;
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth -= 1;
    if (depth > DEPTH_MAX || parts > JSON_PARTS_MAX) return "shape";
    if (values > VALUES_MAX) return "values";
  }
  return undefined;
}

/** Where the JSON text that begins at `start` ends; the end of all when it is not closed. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) return end;
  }
  return text.length;
}

function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

function joined(
  value: Record<string, unknown>,
  lists: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const name of lists) {
    const items: unknown = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!Array.isArray(items) || items.length <= ITEMS_KEPT) continue;
    if (items.every((item) => typeof item === "string")) {
      texts.set(name, refusable(items.join("\n")));
      items.length = ITEMS_KEPT;
    } else {
      value[name] = [null]; // refused when it is read
    }
  }
  return texts;
}

const LIST_CHARACTERS = 65_536;

/** Reads a form; of a large one the text of each long list too, which then stands for all its values but the first. */
function readFields(text: string, wanted: ReadonlySet<string>, isLarge: boolean): Body {
  const kind = "form";
  const fields = readForm(text, wanted);
  if (!isLarge) return { kind, fields, text };
  const lists = new Map<string, string>();
  for (const name of wanted) {
    const values = [...(fields.get(name) ?? []), ...(fields.get(itemsName(name)) ?? [])];
    const raw = values.join("%0A");
    if (raw.length <= LIST_CHARACTERS) continue;
    lists.set(name, refusable(bulkText(raw)));
    fields.set(name, values.slice(0, 1));
    fields.delete(itemsName(name));
  }
  return { kind, fields, lists };
}

export const ENTRY_CHARACTER = /[^ ,\t\r\n]/;

/**
 * Of a list that is longer than any may be, as much as is refused in the same words: what is left goes to the main
 * thread, which stands still while it takes megabytes over.
 */
function refusable(list: string): string {
  if (list.length <= BULK_MAX_OCTETS) return list;
  const entry = ENTRY_CHARACTER.exec(list)?.[0] ?? ",";
  return entry + list.slice(0, BULK_MAX_OCTETS);
}

/** Parts in one body, as many as a JSON body may have: each costs a hundred times what its octets do. */
const PARTS_MAX = 1_000;

type FormParts = Extract<Body, { kind: "parts" }>;

/** What PHP's curl makes of an array and most clients of their FormData. Refuses with 400. */
export async function readParts(contentType: string, bytes: Buffer): Promise<FormParts> {
  const fields = new Map<string, string[]>();
  const files = new Set<string>();
  await readMultipart(contentType, bytes, {
    limits: { fieldSize: bytes.length, parts: PARTS_MAX },
    tooMany: `A multipart body has at most ${String(PARTS_MAX)} parts.`,
    // A type alone makes no file: some clients call every part an octet stream (RFC 7578 section 4.2).
    isPartAFile: (_name, _type, filename) => filename !== undefined,
    field(name, value) {
      const key = fieldName(name);
      const values = fields.get(key);
      if (values === undefined) fields.set(key, [value]);
      else values.push(value);
    },
    file(name, stream) {
      files.add(fieldName(name));
      stream.resume();
    },
  });
  return { kind: "parts", fields, files };
}

interface MultipartTerms {
  readonly limits: NonNullable<BusboyConfig["limits"]>;
  readonly tooMany: string;
  readonly isPartAFile?: NonNullable<BusboyConfig["isPartAFile"]>;
  /** A part without a name has "". */
  readonly field: (name: string, value: string) => void;
  readonly file: (
    name: string,
    stream: BusboyFileStream,
    filename: string | undefined,
    mediaType: string,
  ) => void;
}

const SLICE_BYTES = 65_536;

/** Parses a whole body of `multipart/form-data` (RFC 7578). Refuses with 400. */
export async function readMultipart(
  contentType: string,
  bytes: Buffer,
  { tooMany, field, file, ...terms }: MultipartTerms,
): Promise<void> {
  const parser = parserOf(contentType, terms);
  let refusal: Error | undefined;
  const refuse = (text: string) => (): void => void (refusal ??= badUpload(text));
  const [limited, broken] = [refuse(tooMany), refuse("The multipart body is broken.")];
  // A part may have no name, although the parser's types say otherwise.
  const nameOf = (name: string | undefined): string => name ?? "";
  parser.on("field", (name, value) => field(nameOf(name), value));
  parser.on("file", (...[name, stream, filename, , mediaType]) => {
    file(nameOf(name), stream.on("error", broken), filename, mediaType);
  });
  parser.on("partsLimit", limited).on("filesLimit", limited).on("fieldsLimit", limited);
  const finished = new Promise((resolve) => parser.on("finish", resolve).on("error", resolve));
  parser.on("error", broken);
  for (let at = 0; at < bytes.length && refusal === undefined; at += SLICE_BYTES) {
    parser.write(bytes.subarray(at, at + SLICE_BYTES));
    await nextSlice();
  }
  if (refusal === undefined) {
    parser.end();
    await finished;
  }
  if (refusal !== undefined) throw refusal;
}

function parserOf(
  contentType: string,
  { limits, ...terms }: Partial<BusboyConfig>,
): BusboyInstance {
  const heads = { headerPairs: 20, headerSize: 8_192 };
  try {
    const headers = { "content-type": contentType };
    return new Busboy({ ...terms, headers, limits: { ...limits, ...heads } });
  } catch {
    throw badUpload("The multipart body has no boundary.");
  }
}
