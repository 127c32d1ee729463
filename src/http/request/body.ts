import type { FastifyRequest } from "fastify";
import {
  bodiesFull,
  bodyCutShort,
  bodyTooLarge,
  invalidJson,
  unsupportedEncoding,
  unsupportedMediaType,
} from "../../service/refusals.ts";
import { isLatin1, utf8Form } from "./latin1.ts";
import type { Body } from "./params.ts";
import { readParts } from "./parts.ts";
import { decodePercent } from "./target.ts";

type Source = FastifyRequest["raw"];

/**
 * Largest body in octets: a bulk list of 2,000,000 octets, every one of them percent-encoded, and the
 * parameter names around it.
 */
export const BODY_MAX_BYTES = 6_100_000;

/** How many octets of bodies all requests under way may hold together. */
const BODIES_MAX_BYTES = 256 * 1_024 * 1_024;

export interface ReadBody {
  readonly body: Body;
  /** Gives the memory back; to be called once the request is answered. */
  readonly release: () => void;
}

export interface BodyReader {
  /**
   * Reads a form, in either encoding, or a JSON object; a request without a body gives `none` whatever type it claims.
   * Refuses with 400, 413, 415 or 503. What is left of a refused body is read and dropped by Node, so that the
   * client can see the answer; the time limit of the request bounds that.
   */
  read(source: Source): Promise<ReadBody>;
}

const NOTHING: ReadBody = { body: { kind: "none" }, release: () => undefined };

/** One reader for a whole server: it watches over the sum of the bodies. */
export function createBodyReader(bodiesMaxBytes: number = BODIES_MAX_BYTES): BodyReader {
  const pool: Pool = { leftBytes: bodiesMaxBytes };
  return {
    async read(source) {
      const { headers } = source;
      const length = headers["content-length"];
      if (headers["transfer-encoding"] === undefined && (length === undefined || length === "0")) {
        return NOTHING;
      }
      const type = headers["content-type"] ?? "";
      const kind = kindOf(type, headers["content-encoding"]);
      if (Number(length ?? 0) > BODY_MAX_BYTES) throw bodyTooLarge();
      const { bytes, release } = await collect(source, pool);
      try {
        return { body: await parse(kind, type, bytes), release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

interface Pool {
  leftBytes: number;
}

type Kind = Exclude<Body["kind"], "none">;

function kindOf(type: string, encoding: string | undefined): Kind {
  if (!/^(?:identity)?$/i.test(encoding ?? "")) throw unsupportedEncoding();
  const mediaType = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const kind = KINDS.get(mediaType);
  if (kind === undefined) throw unsupportedMediaType();
  return kind;
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["application/x-www-form-urlencoded", "form"],
  ["application/json", "json"],
  ["multipart/form-data", "parts"],
]);

interface Collected {
  readonly bytes: Buffer;
  readonly release: () => void;
}

function collect(source: Source, pool: Pool): Promise<Collected> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const release = (): void => {
      pool.leftBytes += sizeBytes;
      sizeBytes = 0;
    };
    const stop = (): void => {
      source.off("data", take).off("end", finish).off("close", fail).off("error", fail);
      source.on("error", () => undefined); // a connection that breaks later is nobody's fault
    };
    const refuse = (why: Error): void => {
      stop();
      release();
      source.resume();
      reject(why);
    };
    const fail = (): void => refuse(bodyCutShort());
    const take = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      pool.leftBytes -= chunk.length;
      if (sizeBytes > BODY_MAX_BYTES) refuse(bodyTooLarge());
      else if (pool.leftBytes < 0) refuse(bodiesFull());
      else chunks.push(chunk);
    };
    const finish = (): void => {
      stop();
      resolve({ bytes: Buffer.concat(chunks), release });
    };
    source.on("data", take).on("end", finish).on("close", fail).on("error", fail);
  });
}

async function parse(kind: Kind, type: string, bytes: Buffer): Promise<Body> {
  if (bytes.length === 0) return { kind: "none" };
  if (kind === "parts") return { kind, parts: await readParts(type, bytes) };
  const text = withoutMark(bytes.toString("utf8"));
  const latin1 = isLatin1(type) ? LATIN1[kind] : undefined;
  // Who declares it and sends UTF-8 all the same is understood, too.
  const read = latin1?.isNoUtf8(text) === true ? latin1.read(bytes) : text;
  return kind === "form" ? { kind, text: read } : { kind, value: parseJson(read) };
}

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

/** Our deepest body is an array of texts in an object. */
const JSON_DEPTH_MAX = 16;

/** Members, arrays and objects; our own bodies have five members, and any number of texts in an array. */
const JSON_PARTS_MAX = 1_000;

/**
 * Whether the text nests deeper or has more parts than any body of ours: megabytes of "[" or of members would keep
 * the parser, and everybody else, busy for half a second. What stands inside texts does not count.
 */
function isOverbuilt(text: string): boolean {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    const change = depthChange(code);
    depth += change;
    if (change > 0 || code === COLON) parts += 1;
    if (depth > JSON_DEPTH_MAX || parts > JSON_PARTS_MAX) return true;
  }
  return false;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [91, 93, 123, 125];

function depthChange(code: number): 1 | 0 | -1 {
  if (code === OPEN_BRACKET || code === OPEN_BRACE) return 1;
  return code === CLOSE_BRACKET || code === CLOSE_BRACE ? -1 : 0;
}

/** Where the JSON text that begins at `start` ends; the end of all when it is not closed. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at;
}

function parseJson(text: string): object {
  const value = isOverbuilt(text) ? undefined : valueOf(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidJson();
  return value;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
