import { Busboy, type BusboyInstance } from "@fastify/busboy";
import type { OwnerKey } from "../../base/owner.ts";
import { turn } from "../../base/slices.ts";
import { UPLOAD_MAX_OCTETS } from "../../bulk/read-upload.ts";
import { badUpload, missingParameter, notMultipart, uploadTooLarge } from "../../base/refusals.ts";
import type { HttpRequest } from "../route.ts";
import { type BodyDeps, received, SlowSenders } from "../body.ts";

export interface Multipart {
  readonly file: UploadedFile;
  readonly fields: ReadonlyMap<string, string>;
  /** Drops what is left of the file and gives its memory back; may be called twice. */
  readonly release: () => void;
}

export interface UploadedFile {
  /** Who reads the file takes them out. */
  readonly chunks: Uint8Array[];
  /** As the client calls it; "" when it does not. */
  readonly name: string;
  readonly mediaType: string;
}

const FRAME_MAX_BYTES = 65_536;
const BODY_MAX_BYTES = UPLOAD_MAX_OCTETS + FRAME_MAX_BYTES;

/** Reads the one file of a body into memory. Refuses with 400, 408 (too slow), 413, 415, 429 or 503. */
export type MultipartReader = (source: HttpRequest, owner: OwnerKey) => Promise<Multipart>;

export function createMultipartReader({ shares, clock }: BodyDeps): MultipartReader {
  const slow = new SlowSenders(clock);
  return async (source, owner) => {
    const { "content-type": type = "", "content-length": length = "0" } = source.headers;
    if (!/^multipart\/form-data *(?:;|$)/i.test(type)) throw notMultipart();
    if (Number(length) > BODY_MAX_BYTES) throw uploadTooLarge(UPLOAD_MAX_OCTETS, Number(length));
    const parser = parserOf(type);
    const { bytes, release } = await received(source, {
      maxBytes: BODY_MAX_BYTES,
      slow,
      resource: "uploads",
      tooLarge: () => tooLarge(source),
      open(_declared, reclaim) {
        const hold = shares.of("uploads").take(owner, 0, { reclaim });
        let covered = 0;
        const cover = (octets: number): void => {
          hold.grow(octets - covered);
          covered = octets;
        };
        return { hold, cover };
      },
    });
    try {
      const { file, fields } = await parse(parser, bytes, () => tooLarge(source));
      const dropped = (): void => {
        file.chunks.length = 0;
        release();
      };
      return { file, fields, release: dropped };
    } catch (refusal) {
      release();
      throw refusal;
    }
  };
}

/** Octets that are parsed before other work has its turn. */
const SLICE_BYTES = 65_536;

async function parse(
  parser: BusboyInstance,
  bytes: Buffer,
  large: () => Error,
): Promise<Omit<Multipart, "release">> {
  const fields = new Map<string, string>();
  const pieces: Buffer[] = [];
  let file: Omit<UploadedFile, "chunks"> | undefined;
  let refusal: Error | undefined;
  const refuse = (text: string) => (): void => void (refusal ??= badUpload(text));
  const tooMany = refuse("Send one file, and column, sheet and json only.");
  const broken = refuse("The multipart body is broken.");
  parser.on("file", (...[, stream, filename, , mediaType]) => {
    file = { name: filename ?? "", mediaType };
    stream.on("data", (piece: Buffer) => void pieces.push(piece)).on("error", broken);
    stream.on("limit", () => void (refusal ??= large()));
  });
  parser.on("field", (name, value) => {
    if (!fields.has(name)) fields.set(name, value);
  });
  parser.on("partsLimit", tooMany).on("filesLimit", tooMany).on("fieldsLimit", tooMany);
  const finished = new Promise((resolve) => parser.on("finish", resolve).on("error", resolve));
  parser.on("error", broken);
  for (let at = 0; at < bytes.length && refusal === undefined; at += SLICE_BYTES) {
    parser.write(bytes.subarray(at, at + SLICE_BYTES));
    await turn();
  }
  if (refusal === undefined) {
    parser.end();
    await finished;
  }
  if (refusal !== undefined) throw refusal;
  if (file === undefined) throw missingParameter("file");
  return { file: { ...file, chunks: [Buffer.concat(pieces)] }, fields };
}

/** The announced length counts the frame too, which is small. */
function tooLarge({ headers }: HttpRequest): Error {
  const length = Number(headers["content-length"]);
  return uploadTooLarge(UPLOAD_MAX_OCTETS, length > UPLOAD_MAX_OCTETS ? length : undefined);
}

const LIMITS = {
  files: 1,
  fileSize: UPLOAD_MAX_OCTETS,
  fields: 4,
  fieldSize: 1_024,
  parts: 6,
  headerPairs: 20,
  headerSize: 8_192,
};

function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { "content-type": contentType }, limits: LIMITS });
  } catch {
    throw badUpload("The multipart body has no boundary.");
  }
}
