import type { Clock } from "../base/clock.ts";
import type { OwnerKey } from "../base/owner.ts";
import {
  bodyCutShort,
  bulkTooLarge,
  requestTimedOut,
  unsupportedEncoding,
  unsupportedMediaType,
} from "../base/refusals.ts";
import type { ResourceName } from "../base/resources.ts";
import { type Reservation, NoRoom, type Shares, type TakeOptions } from "../base/shares.ts";
import type { HttpRequest, HttpResponse } from "./route.ts";
import { type Decode, decodeBody, type DecodeOrder, decodeText, isLargeBody } from "./decode.ts";
import type { Body } from "./params.ts";

/**
 * Largest body in octets: a bulk list of 2,000,000 octets, every one of them percent-encoded, and the
 * parameter names around it.
 */
export const BODY_MAX_BYTES = 6_100_000;

export interface BodyDeps {
  readonly shares: Shares;
  readonly clock: Clock;
  readonly decodeLarge?: Decode;
}

interface ReceiveTerms {
  readonly owner: OwnerKey;
  readonly maxBytes?: number;
  readonly tooLarge?: () => Error;
  readonly isUpload?: true;
  /** The owner's oldest unfinished bodies end for it, where the owner has no room. */
  readonly displaces?: true;
}

interface ReadTerms extends Pick<ReceiveTerms, "owner" | "maxBytes"> {
  /** Parameters that are read of a form, and whose lists are decoded at once when the body is large. */
  readonly wanted?: ReadonlySet<string>;
  /** A body of any type but multipart is read as JSON where it begins with "{", else as a form. */
  readonly takesText?: boolean;
  /** Called with the size of a whole body, before it is decoded. */
  readonly received?: (octets: number) => void;
}

interface ReadBody {
  readonly body: Body;
  readonly release: () => void;
}

const NOTHING: ReadBody = { body: { kind: "none" }, release: () => undefined };
const NO_NAMES: ReadonlySet<string> = new Set();

/** Reads the bodies of a whole server, within its shares. `release` gives the memory back and may be called twice. */
export class BodyReader {
  readonly #deps: BodyDeps;
  readonly #slow: SlowSenders;

  constructor(deps: BodyDeps) {
    this.#deps = deps;
    this.#slow = new SlowSenders(deps.clock);
  }

  /**
   * A form, in either encoding, or a JSON object; a request without a body gives `none`, with any declared type. Rejects
   * with 400, 408, 413, 415, 429 or 503.
   */
  async read(source: HttpRequest, terms: ReadTerms): Promise<ReadBody> {
    if (!hasBody(source)) return NOTHING;
    const { owner, wanted = NO_NAMES, maxBytes = BODY_MAX_BYTES } = terms;
    const { headers } = source;
    const type = headers["content-type"] ?? "";
    const kind = kindOf(type, headers["content-encoding"], terms.takesText === true);
    if (Number(headers["content-length"] ?? 0) > maxBytes) throw bulkTooLarge();
    const { bytes, release } = await this.receive(source, { owner, maxBytes });
    terms.received?.(bytes.length);
    try {
      if (!isLargeBody(bytes.length) && kind !== "parts") {
        return { body: decodeText(bytes, { kind, type, wanted }), release };
      }
      const { decodeLarge = decodeBody } = this.#deps;
      const order = { kind, type, wanted, chunks: [bytes] };
      const body = isLargeBody(bytes.length)
        ? await decodeLarge(order, owner, leftSignal(source))
        : await decodeBody(order);
      return { body, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Receives a body into memory within its owner's share. Rejects with 400, 408, 413, 429 or 503; what is left of a
   * refused body is read and dropped, so that the client can see the answer; the time limit of the request bounds that.
   */
  receive(source: HttpRequest, terms: ReceiveTerms): Promise<Received> {
    const { maxBytes = BODY_MAX_BYTES, tooLarge = bulkTooLarge } = terms;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let octets = 0;
      let isOver = false;
      let room: BodyRoom;
      try {
        const declared = Number(source.headers["content-length"] ?? 0);
        room = new BodyRoom(this.#deps.shares, terms, declared, () =>
          refuse(new NoRoom(largeOf(terms.isUpload), "owner")),
        );
      } catch (error) {
        source.resume();
        reject(error as Error);
        return;
      }
      askForBody(source);
      const sending = this.#slow.watch(
        () => octets,
        () => refuse(requestTimedOut()),
      );
      const stop = (): void => {
        isOver = true; // what comes later, a connection that breaks say, matters to nobody
        this.#slow.forget(sending);
      };
      const refuse = (why: unknown): void => {
        if (isOver) return;
        stop();
        room.reservation.release();
        source.resume();
        reject(why as Error);
      };
      const take = (chunk: Buffer): void => {
        if (isOver) return;
        octets += chunk.length;
        chunks.push(chunk);
        try {
          if (octets > maxBytes || isCrumbled(chunks.length, octets)) throw tooLarge();
          room.cover(octets);
        } catch (error) {
          refuse(error);
        }
      };
      const finish = (): void => {
        if (isOver) return;
        stop();
        room.reservation.keep(); // its memory stays in use until the request is answered
        const [first] = chunks;
        const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
        resolve({ bytes, release: () => room.reservation.release() });
      };
      const cut = (): void => {
        if (!isOver) refuse(bodyCutShort()); // each request ends with "close": no error is made for it
      };
      source.on("data", take).on("end", finish).on("close", cut).on("error", cut);
    });
  }
}

interface Received {
  readonly bytes: Buffer;
  readonly release: () => void;
}

/** Requests whose client waits for "100 Continue" before it sends the body. */
const WAITING = new WeakMap<HttpRequest, HttpResponse>();

export const waitsForContinue = (source: HttpRequest): boolean => WAITING.has(source);

export function expectContinue(source: HttpRequest, response: HttpResponse): void {
  WAITING.set(source, response);
}

function askForBody(source: HttpRequest): void {
  WAITING.get(source)?.writeContinue();
  WAITING.delete(source);
}

const LEFT = new WeakMap<HttpRequest["socket"], AbortSignal>();

/** Aborted when the client closes its connection: whoever waits for it need not. */
export function leftSignal({ socket }: HttpRequest): AbortSignal {
  const known = LEFT.get(socket);
  if (known !== undefined) return known;
  const controller = new AbortController();
  LEFT.set(socket, controller.signal);
  const leave = (): void => controller.abort(bodyCutShort());
  if (socket.destroyed) leave();
  else socket.once("close", leave);
  return controller.signal;
}

export function hasBody({ headers }: HttpRequest): boolean {
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
export const isCrumbled = (chunks: number, octets: number): boolean =>
  chunks > 1_000 + octets / 256;

/**
 * The memory of one body. A small one is covered whole as soon as its length is known. Its constructor makes no closure:
 * with one, requests lived on until a whole collection, which took a third of a decision's time.
 */
class BodyRoom {
  reservation: Reservation;
  readonly #shares: Shares;
  readonly #owner: OwnerKey;
  readonly #options: TakeOptions;
  #resource: ResourceName;
  #covered: number;

  /** Throws `NoRoom`, as `cover` does. `declared`: the announced length, or 0. */
  constructor(
    shares: Shares,
    { owner, isUpload, displaces }: ReceiveTerms,
    declared: number,
    reclaim: () => void,
  ) {
    this.#shares = shares;
    this.#owner = owner;
    this.#options = { reclaim, displaces };
    const isLarge = isUpload === true || isLargeBody(declared);
    this.#resource = isLarge ? largeOf(isUpload) : "small_bodies";
    this.#covered = isLarge ? 0 : declared;
    this.reservation = this.#take(this.#covered);
  }

  cover(octets: number): void {
    if (octets <= this.#covered) return;
    if (this.#resource === "small_bodies" && isLargeBody(octets)) {
      this.#resource = "large_bodies"; // its length was not announced
      const small = this.reservation;
      this.reservation = this.#take(octets);
      small.release();
    } else {
      this.reservation.grow(octets - this.#covered);
    }
    this.#covered = octets;
  }

  #take(octets: number): Reservation {
    return this.#shares.of(this.#resource).take(this.#owner, octets, this.#options);
  }
}

const largeOf = (isUpload: true | undefined): ResourceName =>
  isUpload === true ? "uploads" : "large_bodies";

/** The least octets that a body must bring in each window: half of 4 KiB a second, as a line that slow brings them in bursts. */
const SPEED_WINDOW_MS = 10_000;
const WINDOW_MIN_OCTETS = 20_480;

const LOOK_EVERY_MS = 1_000;

interface Sending {
  readonly octets: () => number;
  readonly cut: () => void;
  windowStartMs: number;
  octetsAtStart: number;
}

/** Cuts bodies that stand still; one that brings 4 KiB a second is taken, up to the time limit of a request. */
class SlowSenders {
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
