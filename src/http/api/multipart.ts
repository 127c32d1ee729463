import { Busboy, type BusboyInstance } from "@fastify/busboy";
import type { OwnerKey } from "../../base/owner.ts";
import { type Hold, NoRoom } from "../../base/shares.ts";
import { UPLOAD_MAX_OCTETS } from "../../bulk/read-upload.ts";
import {
  badUpload,
  bodyCutShort,
  missingParameter,
  notMultipart,
  requestTimedOut,
  uploadTooLarge,
} from "../../base/refusals.ts";
import type { HttpRequest } from "../route.ts";
import { type BodyDeps, isCrumbled, SlowSenders } from "../body.ts";

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
    const reading = new Reading(source, (reclaim) =>
      shares.of("uploads").take(owner, 0, { reclaim }),
    );
    reading.begin(type, slow);
    return await reading.result;
  };
}

interface Settle {
  readonly resolve: (value: Multipart) => void;
  readonly reject: (why: unknown) => void;
}

class Reading {
  readonly result: Promise<Multipart>;
  readonly #source: HttpRequest;
  readonly #hold: Hold;
  readonly #fields = new Map<string, string>();
  #pieces: Buffer[] = [];
  #file: Omit<UploadedFile, "chunks"> | undefined;
  #bodyBytes = 0;
  #chunks = 0;
  #settle: Settle | undefined;
  #parser: BusboyInstance | undefined;
  #stopWatching: () => void = () => undefined;

  /** `take` may throw `NoRoom`: then it has started nothing. */
  constructor(source: HttpRequest, take: (reclaim: () => void) => Hold) {
    this.#source = source;
    this.#hold = take(() => this.#refuse(new NoRoom("uploads", "owner")));
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  begin(contentType: string, slow: SlowSenders): void {
    const source = this.#source;
    try {
      this.#parser = parserOf(contentType);
    } catch {
      this.#refuse(badUpload("The multipart body has no boundary."));
      return;
    }
    this.#listen(this.#parser);
    source.on("data", this.#parse).on("end", this.#whole);
    source.on("close", this.#cut).on("error", this.#cut);
    const sending = slow.watch(
      () => this.#bodyBytes,
      () => this.#refuse(requestTimedOut()),
    );
    this.#stopWatching = () => slow.forget(sending);
  }

  #listen(parser: BusboyInstance): void {
    const tooMany = (): void =>
      this.#refuse(badUpload("Send one file, and column, sheet and json only."));
    parser.on("file", (...[, stream, filename, , mediaType]) => {
      this.#file = { name: filename ?? "", mediaType };
      stream.on("data", (chunk: Buffer) => this.#take(chunk));
      stream.on("limit", () => this.#refuse(tooLarge(this.#source)));
      stream.on("error", () => this.#refuse(BROKEN()));
    });
    parser.on("field", (name, value) => {
      if (!this.#fields.has(name)) this.#fields.set(name, value);
    });
    parser.on("partsLimit", tooMany).on("filesLimit", tooMany).on("fieldsLimit", tooMany);
    parser.on("error", () => this.#refuse(BROKEN()));
    parser.on("finish", () => this.#finish());
  }

  readonly #parse = (chunk: Buffer): void => {
    this.#bodyBytes += chunk.length;
    this.#chunks += 1;
    if (this.#bodyBytes > BODY_MAX_BYTES || isCrumbled(this.#chunks, this.#bodyBytes)) {
      this.#refuse(tooLarge(this.#source));
      return;
    }
    this.#parser?.write(chunk);
  };

  readonly #whole = (): void => void this.#parser?.end();

  readonly #cut = (): void => {
    if (!this.#source.readableEnded) this.#refuse(bodyCutShort());
  };

  #take(chunk: Buffer): void {
    if (this.#settle === undefined) return;
    try {
      this.#hold.grow(chunk.length);
      this.#pieces.push(chunk);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #finish(): void {
    const file = this.#file;
    if (file === undefined) {
      this.#refuse(missingParameter("file"));
      return;
    }
    const settle = this.#end();
    const chunks: Uint8Array[] = [Buffer.concat(this.#pieces)];
    this.#pieces = [];
    this.#hold.keep(); // its memory stays in use until the file is read
    settle?.resolve({
      file: { ...file, chunks },
      fields: this.#fields,
      release: () => {
        chunks.length = 0;
        this.#release();
      },
    });
  }

  /** What is left of the body is read and dropped, so that the client can see the answer. */
  #refuse(why: unknown): void {
    const settle = this.#end();
    if (settle === undefined) return;
    this.#release();
    this.#source.resume();
    settle.reject(why);
  }

  #end(): Settle | undefined {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#stopWatching();
    this.#source.off("data", this.#parse).off("end", this.#whole);
    this.#source.off("close", this.#cut).off("error", this.#cut);
    this.#source.on("error", () => undefined); // a connection that breaks later is not a fault
    return settle;
  }

  #release(): void {
    this.#pieces = [];
    this.#hold.release();
  }
}

/** The announced length counts the frame too, which is small. */
function tooLarge({ headers }: HttpRequest): Error {
  const length = Number(headers["content-length"]);
  return uploadTooLarge(UPLOAD_MAX_OCTETS, length > UPLOAD_MAX_OCTETS ? length : undefined);
}

const BROKEN = (): Error => badUpload("The multipart body is broken.");

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
