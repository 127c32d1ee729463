import type { OwnerKey } from "../../../base/owner.ts";
import { bodyTooLarge, unsupportedEncoding, unsupportedMediaType } from "../../../base/refusals.ts";
import { type Decode, decodeBody, type DecodeOrder } from "./decode.ts";
import type { Body } from "../params.ts";
import { isLargeBody, Receiver, type ReceiverDeps, type Source } from "./receive.ts";

/**
 * Largest body in octets: a bulk list of 2,000,000 octets, every one of them percent-encoded, and the
 * parameter names around it.
 */
export const BODY_MAX_BYTES = 6_100_000;

export interface ReadBody {
  readonly body: Body;
  /** Gives the memory back; to be called once the request is answered. */
  readonly release: () => void;
}

/** Whose body it is, and what is read of it. */
export interface ReadTerms {
  readonly owner: OwnerKey;
  /** Parameters whose lists are decoded at once when the body is large; absent: none. */
  readonly wanted?: ReadonlySet<string>;
  /** The largest body in octets; absent: `BODY_MAX_BYTES`. */
  readonly maxBytes?: number;
  /** A body of any type but multipart is read as JSON where it begins with "{", else as a form. */
  readonly takesText?: boolean;
  /** Called with the size of a whole body, before it is decoded. */
  readonly received?: (octets: number) => void;
}

export interface BodyReader {
  /**
   * Reads a form, in either encoding, or a JSON object; a request without a body gives `none`, with any declared type.
   * Refuses with 400, 408, 413, 415, 429 or 503. Large bodies are decoded one at a time for each owner.
   */
  read(source: Source, terms: ReadTerms): Promise<ReadBody>;
}

const NOTHING: ReadBody = { body: { kind: "none" }, release: () => undefined };

export interface BodyReaderDeps extends ReceiverDeps {
  /** Of large bodies, in a thread; absent: here. */
  readonly decodeLarge?: Decode;
}

/** Reads the bodies of a whole server, within its shares. */
export function createBodyReader(deps: BodyReaderDeps): BodyReader {
  const receiver = new Receiver(deps);
  const { decodeLarge = decodeBody } = deps;
  const decoding = deps.shares.of("decoding");
  const decode = async (order: DecodeOrder, owner: OwnerKey, octets: number): Promise<Body> => {
    if (isLargeBody(octets)) return await decoding.run(owner, () => decodeLarge(order), octets);
    return await decodeBody(order);
  };
  return {
    async read(source, terms) {
      const { owner, wanted = NO_NAMES, maxBytes = BODY_MAX_BYTES } = terms;
      const { headers } = source;
      if (!hasBody(source)) return NOTHING;
      const type = headers["content-type"] ?? "";
      const kind = kindOf(type, headers["content-encoding"], terms.takesText === true);
      if (Number(headers["content-length"] ?? 0) > maxBytes) throw bodyTooLarge();
      const { chunks, octets, release } = await receiver.receive(source, owner, maxBytes);
      terms.received?.(octets);
      const order: DecodeOrder = { kind, type, wanted, chunks };
      try {
        return { body: await decode(order, owner, octets), release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function hasBody({ headers }: Source): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

const NO_NAMES: ReadonlySet<string> = new Set();

type Kind = DecodeOrder["kind"];

function kindOf(type: string, encoding: string | undefined, takesText: boolean): Kind {
  if (!/^(?:identity)?$/i.test(encoding ?? "")) throw unsupportedEncoding();
  const mediaType = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isText = takesText && mediaType !== "multipart/form-data";
  const kind = isText ? "text" : KINDS.get(mediaType);
  if (kind === undefined) throw unsupportedMediaType();
  return kind;
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["application/x-www-form-urlencoded", "form"],
  ["application/json", "json"],
  ["multipart/form-data", "parts"],
]);
