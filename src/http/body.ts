import type { Clock } from "../base/clock.ts";
import type { OwnerKey } from "../base/owner.ts";
import {
  bodyCutShort,
  bodyTooLarge,
  requestTimedOut,
  unsupportedEncoding,
  unsupportedMediaType,
} from "../base/refusals.ts";
import type { ResourceName } from "../base/resources.ts";
import { type Hold, NoRoom, type Shares } from "../base/shares.ts";
import type { HttpRequest } from "./route.ts";
import { type Decode, decodeBody, type DecodeOrder, decodeText, isLargeBody } from "./decode.ts";
import type { Body } from "./params.ts";

/**
 * Largest body in octets: a bulk list of 2,000,000 octets, every one of them percent-encoded, and the
 * parameter names around it.
 */
export const BODY_MAX_BYTES = 6_100_000;

export interface BodyDeps {
  readonly shares: Pick<Shares, "of">;
  readonly clock: Clock;
  /** Of large bodies, in a thread; absent: here. */
  readonly decodeLarge?: Decode;
}

/** A whole body. */
export interface Received {
  readonly bytes: Buffer;
  /** Gives its memory back to its owner's share; may be called twice. */
  readonly release: () => void;
}

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

/** A form, in either encoding, or a JSON object; a request without a body gives `none`, with any declared type. */
export interface BodyReader {
  /** Rejects with 400, 408, 413, 415, 429 or 503. Large bodies are decoded one at a time for each owner. */
  readonly read: (source: HttpRequest, terms: ReadTerms) => Promise<ReadBody>;
  /** Rejects with 400, 408, 413, 429 or 503. */
  readonly receive: (source: HttpRequest, owner: OwnerKey, maxBytes: number) => Promise<Received>;
}

const NOTHING: ReadBody = { body: { kind: "none" }, release: () => undefined };
const NO_NAMES: ReadonlySet<string> = new Set();

/** Reads the bodies of a whole server, within its shares. */
export function createBodyReader(deps: BodyDeps): BodyReader {
  const { shares, decodeLarge = decodeBody } = deps;
  const slow = new SlowSenders(deps.clock);
  const receive: BodyReader["receive"] = (source, owner, maxBytes) =>
    received(source, {
      maxBytes,
      slow,
      resource: "large_bodies",
      tooLarge: bodyTooLarge,
      open: (declared, reclaim) => new BodyRoom(shares, owner, declared, reclaim),
    });
  return {
    receive,
    async read(source, terms) {
      if (!hasBody(source)) return NOTHING;
      const { owner, wanted = NO_NAMES, maxBytes = BODY_MAX_BYTES } = terms;
      const { headers } = source;
      const type = headers["content-type"] ?? "";
      const kind = kindOf(type, headers["content-encoding"], terms.takesText === true);
      if (Number(headers["content-length"] ?? 0) > maxBytes) throw bodyTooLarge();
      const { bytes, release } = await receive(source, owner, maxBytes);
      terms.received?.(bytes.length);
      try {
        if (!isLargeBody(bytes.length) && kind !== "parts") {
          return { body: decodeText(bytes, { kind, type, wanted }), release };
        }
        const decode = (): Promise<Body> => decodeLarge({ kind, type, wanted, chunks: [bytes] });
        const body = isLargeBody(bytes.length)
          ? await shares.of("decoding").run(owner, decode, bytes.length)
          : await decodeBody({ kind, type, wanted, chunks: [bytes] });
        return { body, release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function hasBody({ headers }: HttpRequest): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

type Kind = DecodeOrder["kind"];

const FORM = "application/x-www-form-urlencoded";
const KINDS: ReadonlyMap<string, Kind> = new Map([
  [FORM, "form"],
  ["application/json", "json"],
  ["multipart/form-data", "parts"],
]);

function kindOf(type: string, encoding: string | undefined, takesText: boolean): Kind {
  if (encoding !== undefined && !/^(?:identity)?$/i.test(encoding)) throw unsupportedEncoding();
  const mediaType = KINDS.has(type) ? type : (type.split(";", 1)[0]?.trim().toLowerCase() ?? "");
  if (takesText && mediaType !== "multipart/form-data") return "text";
  const kind = KINDS.get(mediaType);
  if (kind === undefined) throw unsupportedMediaType();
  return kind;
}

/** Chunks of a few octets cost the parser as much as large ones; no client sends a body in thousands of them. */
const isCrumbled = (chunks: number, octets: number): boolean => chunks > 1_000 + octets / 256;

interface Order {
  readonly maxBytes: number;
  readonly slow: SlowSenders;
  /** Whose share may take the memory back. */
  readonly resource: ResourceName;
  readonly tooLarge: () => Error;
  /** Throws `NoRoom`. `declared`: the announced length, or 0. */
  readonly open: (declared: number, reclaim: () => void) => Room;
}

/** The memory of one body. */
interface Room {
  readonly hold: Hold;
  /** Throws `NoRoom`. */
  readonly cover: (octets: number) => void;
}

/**
 * Receives a body into memory within its owner's share. What is left of a refused body is read and dropped by Node, so
 * that the client can see the answer; the time limit of the request bounds that.
 */
export function received(source: HttpRequest, order: Order): Promise<Received> {
  const { maxBytes, slow } = order;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let octets = 0;
    let isOver = false;
    let room: Room;
    try {
      const declared = Number(source.headers["content-length"] ?? 0);
      room = order.open(declared, () => refuse(new NoRoom(order.resource, "owner")));
    } catch (error) {
      source.resume();
      reject(error as Error);
      return;
    }
    const sending = slow.watch(
      () => octets,
      () => refuse(requestTimedOut()),
    );
    const stop = (): void => {
      isOver = true; // what comes later, a connection that breaks say, matters to nobody
      slow.forget(sending);
    };
    const refuse = (why: unknown): void => {
      if (isOver) return;
      stop();
      room.hold.release();
      source.resume();
      reject(why as Error);
    };
    const take = (chunk: Buffer): void => {
      if (isOver) return;
      octets += chunk.length;
      chunks.push(chunk);
      try {
        if (octets > maxBytes || isCrumbled(chunks.length, octets)) throw order.tooLarge();
        room.cover(octets);
      } catch (error) {
        refuse(error);
      }
    };
    const finish = (): void => {
      if (isOver) return;
      stop();
      room.hold.keep(); // its memory stays in use until the request is answered
      const [first] = chunks;
      const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      resolve({ bytes, release: () => room.hold.release() });
    };
    const cut = (): void => {
      if (!isOver) refuse(bodyCutShort());
    };
    source.on("data", take).on("end", finish).on("close", cut).on("error", cut);
  });
}

/** A small body is covered whole as soon as its length is known. */
class BodyRoom implements Room {
  hold: Hold;
  readonly #shares: BodyDeps["shares"];
  readonly #owner: OwnerKey;
  readonly #reclaim: () => void;
  #isSmall: boolean;
  #covered: number;

  /** Throws `NoRoom`. */
  constructor(shares: BodyDeps["shares"], owner: OwnerKey, declared: number, reclaim: () => void) {
    this.#shares = shares;
    this.#owner = owner;
    this.#reclaim = reclaim;
    this.#isSmall = !isLargeBody(declared);
    this.#covered = this.#isSmall ? declared : 0;
    this.hold = this.#take(this.#covered);
  }

  /** Throws `NoRoom`. */
  cover(octets: number): void {
    if (octets <= this.#covered) return;
    if (this.#isSmall && isLargeBody(octets)) {
      this.#isSmall = false; // its length was not announced
      const small = this.hold;
      this.hold = this.#take(octets);
      small.release();
    } else {
      this.hold.grow(octets - this.#covered);
    }
    this.#covered = octets;
  }

  #take(octets: number): Hold {
    const share = this.#shares.of(this.#isSmall ? "small_bodies" : "large_bodies");
    return share.take(this.#owner, octets, { reclaim: this.#reclaim });
  }
}

/** The least octets that a body must bring in each window of this length; a healthy connection brings far more. */
const SPEED_WINDOW_MS = 5_000;
const SPEED_MIN_OCTETS_PER_SECOND = 4_096;
const WINDOW_MIN_OCTETS = (SPEED_MIN_OCTETS_PER_SECOND * SPEED_WINDOW_MS) / 1_000;

const LOOK_EVERY_MS = 1_000;

/** A body on its way in. */
interface Sending {
  readonly octets: () => number;
  readonly cut: () => void;
  windowStartMs: number;
  octetsAtStart: number;
}

/** Cuts bodies that bring less than 4 KiB a second, the first time after 5 s. */
export class SlowSenders {
  readonly #clock: Clock;
  readonly #sending = new Set<Sending>();
  #isLooking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(octets: () => number, cut: () => void): Sending {
    const windowStartMs = this.#clock.monotonicMs();
    const sending = { octets, cut, windowStartMs, octetsAtStart: octets() };
    this.#sending.add(sending);
    if (!this.#isLooking) this.#lookLater();
    return sending;
  }

  forget(sending: Sending): void {
    this.#sending.delete(sending);
  }

  #lookLater(): void {
    this.#isLooking = this.#sending.size > 0;
    if (this.#isLooking) this.#clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const sending of this.#sending) {
      if (nowMs - sending.windowStartMs < SPEED_WINDOW_MS) continue;
      const octets = sending.octets();
      if (octets - sending.octetsAtStart < WINDOW_MIN_OCTETS) {
        this.#sending.delete(sending);
        sending.cut();
      }
      sending.windowStartMs = nowMs;
      sending.octetsAtStart = octets;
    }
    this.#lookLater();
  }
}
