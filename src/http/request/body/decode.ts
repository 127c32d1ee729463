import { readJson } from "./json.ts";
import { isLatin1, utf8Form } from "./latin1.ts";
import { readLists } from "./lists.ts";
import type { Body } from "../params.ts";
import { readParts } from "./parts.ts";
import { isLargeBody } from "./receive.ts";
import { decodePercent } from "../target.ts";

/** A whole body, to be decoded; it can be sent to a thread. */
export interface DecodeOrder {
  readonly kind: "form" | "json" | "parts" | "text";
  /** Content-Type. */
  readonly type: string;
  /** Parameters whose lists are decoded at once when the body is large. */
  readonly wanted: ReadonlySet<string>;
  /** Taken out; of a large body, in memory that can be given to a thread. */
  readonly chunks: Uint8Array[];
}

/** Rejects with a `Refusal`. */
export type Decode = (order: DecodeOrder) => Promise<Body>;

/** In slices, where it is called. */
export const decodeBody: Decode = async ({ kind: told, type, wanted, chunks }) => {
  const bytes = whole(chunks.splice(0));
  if (bytes.length === 0) return { kind: "none" };
  if (told === "parts") return { kind: told, parts: await readParts(type, bytes) };
  const text = withoutMark(bytes.toString("utf8"));
  const kind = told === "text" ? kindOfText(text) : told;
  const latin1 = isLatin1(type) ? LATIN1[kind] : undefined;
  // Who declares it and sends UTF-8 all the same is understood, too.
  const read = latin1?.isNoUtf8(text) === true ? latin1.read(bytes) : text;
  const isLarge = isLargeBody(bytes.length);
  if (kind === "json") return await readJson(read, isLarge ? wanted : NO_NAMES);
  return isLarge ? await readLists(read, wanted) : { kind, text: read };
};

function whole(chunks: readonly Uint8Array[]): Buffer {
  const [first, ...more] = chunks;
  if (first === undefined || more.length > 0) return Buffer.concat(chunks);
  // Threads get a Buffer as the array that it is underneath.
  return Buffer.from(first.buffer, first.byteOffset, first.length);
}

const NO_NAMES: ReadonlySet<string> = new Set();

const kindOfText = (text: string): "json" | "form" => (/^\s*\{/.test(text) ? "json" : "form");

const LOST = "\ufffd";

const LATIN1 = {
  form: { isNoUtf8: (text: string) => decodePercent(text).includes(LOST), read: utf8Form },
  json: {
    isNoUtf8: (text: string) => text.includes(LOST),
    read: (bytes: Buffer) => bytes.toString("latin1"),
  },
};

/** Some writers of UTF-8, .NET's above all, begin with a byte order mark. */
const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);
