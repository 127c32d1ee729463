import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { badUpload } from "../../../base/refusals.ts";
import { fieldName } from "../form.ts";
import { turn } from "./slices.ts";

/** The parts of a `multipart/form-data` body. Names are as `fieldName` gives them. */
export interface Parts {
  /** Values in order, as they were sent. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** Names of the parts that are files; nothing reads what they hold. */
  readonly files: ReadonlySet<string>;
}

/** Parts in one body, as many as a JSON body may have: each costs a hundred times what its octets do. */
const PARTS_MAX = 1_000;

/** Other clients have a turn between slices: some bodies take the parser half a second. */
const SLICE_BYTES = 65_536;

/**
 * Reads a form that was sent as `multipart/form-data` (RFC 7578): what PHP's curl makes of an array and most clients
 * of their FormData. Refuses with 400. `bytes` are the whole body, whose size bounds that of every value.
 */
export async function readParts(contentType: string, bytes: Buffer): Promise<Parts> {
  const parser = parserOf(contentType, bytes.length);
  const texts = new Map<string, string[]>();
  const files = new Set<string>();
  let failure: Error | undefined;
  const finished = new Promise<void>((resolve) => {
    const fail = (reason: string): void => {
      failure ??= badUpload(reason);
      resolve();
    };
    parser
      .on("field", (name, value) => addTo(texts, nameOf(name), value))
      .on("file", (name, stream) => {
        files.add(nameOf(name));
        stream.on("error", () => fail(BROKEN)).resume();
      })
      .on("partsLimit", () => fail(`A multipart body has at most ${String(PARTS_MAX)} parts.`))
      .on("error", () => fail(BROKEN))
      .on("finish", resolve);
  });
  for (let at = 0; at < bytes.length && failure === undefined; at += SLICE_BYTES) {
    parser.write(bytes.subarray(at, at + SLICE_BYTES));
    await turn();
  }
  parser.end();
  await finished;
  if (failure !== undefined) throw failure;
  return { texts, files };
}

/** A part may have no name, although the parser's types say otherwise. */
const nameOf = (name: string | undefined): string => fieldName(name ?? "");

function addTo(texts: Map<string, string[]>, name: string, value: string): void {
  const values = texts.get(name);
  if (values === undefined) texts.set(name, [value]);
  else values.push(value);
}

const BROKEN = "The multipart body is broken.";

function parserOf(contentType: string, fieldSize: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { fieldSize, parts: PARTS_MAX, headerPairs: 20, headerSize: 8_192 },
      // A type alone makes no file: some clients call every part an octet stream (RFC 7578 section 4.2).
      isPartAFile: (_name, _type, filename) => filename !== undefined,
    });
  } catch {
    throw badUpload("The multipart body has no boundary.");
  }
}
