import {
  Busboy,
  type BusboyConfig,
  type BusboyFileStream,
  type BusboyInstance,
} from "@fastify/busboy";
import { nextSlice } from "../base/slices.ts";
import { badUpload } from "../base/refusals.ts";

interface MultipartTerms {
  readonly limits: NonNullable<BusboyConfig["limits"]>;
  /** Says which of the limits are passed. */
  readonly tooMany: string;
  readonly isPartAFile?: NonNullable<BusboyConfig["isPartAFile"]>;
  /** A part without a name has "". */
  readonly field: (name: string, value: string) => void;
  /** Reads the stream. */
  readonly file: (
    name: string,
    stream: BusboyFileStream,
    filename: string | undefined,
    mediaType: string,
  ) => void;
}

/** Octets that are parsed before other work has its turn. */
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
