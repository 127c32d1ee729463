import { Busboy, type BusboyInstance } from "@fastify/busboy";
import type { FastifyRequest } from "fastify";
import { UPLOAD_MAX_OCTETS } from "../../service/bulk/read-upload.ts";
import {
  badUpload,
  bodiesFull,
  bodyCutShort,
  bulkTooLarge,
  missingParameter,
  notMultipart,
} from "../../service/refusals.ts";

type Source = FastifyRequest["raw"];

/** What a `multipart/form-data` body holds: one file, and fields. */
export interface Multipart {
  readonly file: UploadedFile;
  /** First value each. */
  readonly fields: ReadonlyMap<string, string>;
  /** Drops the file and gives its memory back; may be called twice. */
  readonly release: () => void;
}

export interface UploadedFile {
  readonly chunks: readonly Uint8Array[];
  /** As the client calls it; "" when it does not. */
  readonly name: string;
  readonly mediaType: string;
}

/** Octets of fields, headers and boundaries around the file. */
const FRAME_MAX_BYTES = 65_536;
const BODY_MAX_BYTES = UPLOAD_MAX_OCTETS + FRAME_MAX_BYTES;

/** How many octets of files all uploads under way may hold together. */
const UPLOADS_MAX_BYTES = 64 * 1_024 * 1_024;

/** Reads the one file of a body into memory. Refuses with 400, 413, 415 or 503. */
export type MultipartReader = (source: Source) => Promise<Multipart>;

/** One reader for a whole server: it watches over the sum of the files. */
export function createMultipartReader(
  uploadsMaxBytes: number = UPLOADS_MAX_BYTES,
): MultipartReader {
  const pool = { leftBytes: uploadsMaxBytes };
  return (source) => {
    const { "content-type": type = "", "content-length": length = "0" } = source.headers;
    if (!/^multipart\/form-data *(?:;|$)/i.test(type)) throw notMultipart();
    if (Number(length) > BODY_MAX_BYTES) throw bulkTooLarge();
    return new Reading(source, type, pool).result;
  };
}

interface Pool {
  leftBytes: number;
}

interface Settle {
  readonly resolve: (value: Multipart) => void;
  readonly reject: (why: Error) => void;
}

class Reading {
  readonly result: Promise<Multipart>;
  readonly #source: Source;
  readonly #pool: Pool;
  readonly #fields = new Map<string, string>();
  readonly #chunks: Uint8Array[] = [];
  #file: Omit<UploadedFile, "chunks"> | undefined;
  #bodyBytes = 0;
  #heldBytes = 0;
  #settle: Settle | undefined;
  #parser: BusboyInstance | undefined;

  constructor(source: Source, contentType: string, pool: Pool) {
    this.#source = source;
    this.#pool = pool;
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    try {
      this.#parser = parserOf(contentType);
    } catch {
      this.#refuse(badUpload("The multipart body has no boundary."));
      return;
    }
    this.#listen(this.#parser);
    source.on("data", this.#count).on("close", this.#cut).on("error", this.#cut);
    source.pipe(this.#parser);
  }

  #listen(parser: BusboyInstance): void {
    const tooMany = (): void => this.#refuse(badUpload("Send one file, and column and json only."));
    parser.on("file", (...[, stream, filename, , mediaType]) => {
      this.#file = { name: filename ?? "", mediaType };
      stream.on("data", (chunk: Buffer) => this.#take(chunk));
      stream.on("limit", () => this.#refuse(bulkTooLarge()));
      stream.on("error", () => this.#refuse(BROKEN()));
    });
    parser.on("field", (name, value) => {
      if (!this.#fields.has(name)) this.#fields.set(name, value);
    });
    parser.on("partsLimit", tooMany).on("filesLimit", tooMany).on("fieldsLimit", tooMany);
    parser.on("error", () => this.#refuse(BROKEN()));
    parser.on("finish", () => this.#finish());
  }

  readonly #count = (chunk: Buffer): void => {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > BODY_MAX_BYTES) this.#refuse(bulkTooLarge());
  };

  readonly #cut = (): void => {
    if (!this.#source.readableEnded) this.#refuse(bodyCutShort());
  };

  #take(chunk: Buffer): void {
    if (this.#settle === undefined) return;
    this.#heldBytes += chunk.length;
    this.#pool.leftBytes -= chunk.length;
    if (this.#pool.leftBytes < 0) this.#refuse(bodiesFull());
    else this.#chunks.push(chunk);
  }

  #finish(): void {
    const file = this.#file;
    if (file === undefined) {
      this.#refuse(missingParameter("file"));
      return;
    }
    const settle = this.#end();
    settle?.resolve({
      file: { ...file, chunks: this.#chunks },
      fields: this.#fields,
      release: () => this.#release(),
    });
  }

  /** What is left of the body is read and dropped, so that the client can see the answer. */
  #refuse(why: Error): void {
    const settle = this.#end();
    if (settle === undefined) return;
    this.#release();
    if (this.#parser !== undefined) this.#source.unpipe(this.#parser);
    this.#source.resume();
    settle.reject(why);
  }

  #end(): Settle | undefined {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#source.off("data", this.#count).off("close", this.#cut).off("error", this.#cut);
    this.#source.on("error", () => undefined); // a connection that breaks later is nobody's fault
    return settle;
  }

  #release(): void {
    this.#chunks.length = 0;
    this.#pool.leftBytes += this.#heldBytes;
    this.#heldBytes = 0;
  }
}

const BROKEN = (): Error => badUpload("The multipart body is broken.");

/** Throws for a content type without a boundary. */
function parserOf(contentType: string): BusboyInstance {
  return new Busboy({
    headers: { "content-type": contentType },
    limits: {
      files: 1,
      fileSize: UPLOAD_MAX_OCTETS,
      fields: 4,
      fieldSize: 1_024,
      parts: 6,
      headerPairs: 20,
      headerSize: 8_192,
    },
  });
}
