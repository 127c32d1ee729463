import {
  createServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { systemClock } from "../base/clock.ts";
import { httpTime } from "../core/calendar.ts";
import { bucketKey } from "../accounts/admission/caller.ts";
import type { OwnerKey } from "../base/owner.ts";
import {
  badHost,
  badRequest,
  bodyTooLarge,
  headersTooLarge,
  methodNotAllowed,
  type Refusal,
  requestTimedOut,
  serviceFull,
  tooMuchAtOnce,
  unsupportedTransfer,
} from "../base/refusals.ts";
import { type Reservation, NoRoom, type Share } from "../base/shares.ts";
import { endAfterRequest, errorBody, EVERY_ANSWER, refusalHeaders } from "./answer.ts";
import { expectContinue } from "./body.ts";
import { isTrustedProxy, type TrustedProxies } from "./client-address.ts";
import { isHostHeader } from "./hosts.ts";
import { type HttpRequest, JSON_TYPE } from "./route.ts";
import { stop } from "./stop.ts";

export const DEFAULT_LIMITS = {
  /** Until the last header byte. */
  headersTimeoutMs: 10_000,
  /** Until the last byte of the body, however steadily it comes; `SlowSenders` cuts one that stands still. */
  requestTimeoutMs: 900_000,
  checkIntervalMs: 1_000,
  /** An idle keep-alive connection; above the 60 s that load balancers reuse theirs. */
  keepAliveTimeoutMs: 72_000,
  /** A client that takes nothing of the answer waiting for it is cut after one to two of these. */
  stallTimeoutMs: 60_000,
  farewellMs: 2_200, // a proxy that looks every 2 s has seen it
  stopTimeoutMs: 26_000,
};

export type ListenLimits = typeof DEFAULT_LIMITS;

/** Request line and header fields together, as proxies allow. */
const HEAD_MAX_OCTETS = 16_384;

/** Node counts names and values alone; many tiny fields are counted here with the ": " and line end of each. */
const MANY_FIELDS = 200;
const FIELD_OCTETS = 4;

/** Requests of one connection that are served at once; the others of a client that pipelines wait, and it is not read on. */
const SERVED_MAX = 16;
const UNANSWERED_MAX_OF_ADDRESS = 1_024;

/**
 * Connections that the kernel keeps until they are accepted, if `net.core.somaxconn` allows as many. With Node's 511
 * clients wait 1 s during a burst.
 */
const BACKLOG = 4_096;

export interface App {
  readonly serve: RequestListener;
  readonly stop: () => void;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface ListenTerms {
  readonly limits: ListenLimits;
  readonly share?: Share;
  /** Their connections are not counted by address. */
  readonly trustedProxies?: TrustedProxies;
}

/** Serves the app at an address; port 0 takes any free one. Rejects with one clear sentence. */
export async function listen(app: App, address: ListenAddress, terms: ListenTerms) {
  const server = createAppServer(app, terms);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const why = REASONS.get(cause.code ?? "") ?? cause.message;
      const place = `${address.host}, port ${String(address.port)}`;
      reject(new Error(`cannot listen at ${place}: ${why}`, { cause }));
    });
    server.listen({ ...address, backlog: BACKLOG }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const { host } = address;
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
  /**
   * Stops accepting, lets requests under way finish, closes every connection. Resolves when all is closed, at
   * the latest when the time limit has cut what was left.
   */
  return { url, port, stop: () => stop(app, server, terms.limits) };
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "another program listens there; stop it, or set PORT to a free port"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["EACCES", "this user may not listen there"],
  ["ENOTFOUND", "not an address of this machine, and not a known name"],
]);

/** Node's server with all limits set; what Node refuses by itself is answered in JSON. */
function createAppServer({ serve }: App, terms: ListenTerms): Server {
  const { limits } = terms;
  const connections = new Connections(terms);
  const options = {
    maxHeaderSize: HEAD_MAX_OCTETS,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    requireHostHeader: false, // refused below, in JSON
  };
  const server = createServer(options, (request, response) => {
    connections.begin(request.socket, response, () => {
      const refusal = headRefusal(request);
      if (refusal === undefined) serve(request, response);
      // Of a broken transfer coding the parser complains next, and is answered there.
      else setImmediate(() => request.socket.writable && refuse(response, refusal));
    });
  });
  server.maxHeadersCount = 0; // Node would drop what stands behind the 2,000th
  server.on("connection", (socket: Socket) => connections.admit(socket));
  server.on("checkContinue", (request, response) => {
    expectContinue(request, response);
    server.emit("request", request, response);
  });
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("connect", (_request, socket: Socket) => writeRefusal(socket, methodNotAllowed()));
  server.on("clientError", (error: BrokenRequest, socket: Socket) =>
    answerBroken(error, socket, connections.latest(socket)),
  );
  const sweep = setInterval(() => connections.cutStalled(), limits.stallTimeoutMs).unref();
  server.once("close", () => clearInterval(sweep));
  return server;
}

/** HTTP/1.1 needs one Host, and no more (RFC 9112 section 3.2); Node keeps only the first of several. */
function headRefusal({ httpVersion, rawHeaders, headers, url = "" }: HttpRequest) {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts !== 1 && !(hosts === 0 && httpVersion === "1.0")) return badRequest();
  if (hosts === 1 && !isHostHeader(headers.host)) return badHost();
  const { "transfer-encoding": coding } = headers;
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked") {
    return unsupportedTransfer();
  }
  if (rawHeaders.length < 2 * MANY_FIELDS) return undefined;
  const texts = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  const octets = texts + (rawHeaders.length / 2) * FIELD_OCTETS;
  return octets > HEAD_MAX_OCTETS ? headersTooLarge() : undefined;
}

interface OpenConnection {
  readonly owner: OwnerKey;
  readonly reservation: Reservation | undefined;
  /** Requests that are served and have no whole answer. */
  unanswered: number;
  /** Requests behind them, each begun when one before it is answered; one read of the socket brings some hundreds. */
  readonly waiting: (() => void)[];
  latest: ServerResponse | undefined;
  usedAt: number;
  /** `bytesWritten` of the socket when the sweep last saw an answer waiting; 0 when none did. */
  seenBytes: number;
}

/**
 * The open connections: each address has its share, and the longest idle makes room for a new one. When none is idle, the
 * address with the most connections loses its oldest.
 */
class Connections {
  readonly #terms: ListenTerms;
  readonly #open = new Map<Socket, OpenConnection>();
  readonly #owned = new Map<OwnerKey, { readonly sockets: Set<Socket>; unanswered: number }>();
  #uses = 0;
  #proxied = 0;

  constructor(terms: ListenTerms) {
    this.#terms = terms;
  }

  latest(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.latest;
  }

  admit(socket: Socket): void {
    const owner = this.#ownerOf(socket);
    let reservation: Reservation | undefined;
    while (reservation === undefined && this.#terms.share !== undefined) {
      try {
        reservation = this.#terms.share.take(owner);
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error;
        if (error.why === "owner" ? this.#shedOf(owner) : this.#shed(owner)) continue;
        writeRefusal(socket, error.why === "owner" ? tooMuchAtOnce() : serviceFull());
        return;
      }
    }
    const owned = this.#owned.get(owner) ?? { sockets: new Set(), unanswered: 0 };
    this.#owned.set(owner, owned);
    owned.sockets.add(socket);
    const waiting: (() => void)[] = [];
    const fresh = { unanswered: 0, waiting, latest: undefined, usedAt: this.#uses, seenBytes: 0 };
    this.#open.set(socket, { owner, reservation, ...fresh });
    socket.once("close", () => this.#forget(socket));
    // Whatever resumes it, Node does with each body, it is not read on while requests wait.
    socket.on("resume", () => {
      if (waiting.length > 0) socket.pause();
    });
  }

  /** Calls `serve` now or once those before it are answered; never, when the connection has ended. */
  begin(socket: Socket, response: ServerResponse, serve: () => void): void {
    const connection = this.#open.get(socket);
    const owned = connection && this.#owned.get(connection.owner);
    if (connection === undefined || owned === undefined) return;
    this.#open.delete(socket);
    this.#open.set(socket, connection);
    this.#uses += 1;
    connection.usedAt = this.#uses;
    connection.latest = response;
    const begin = (): void => {
      connection.unanswered += 1;
      owned.unanswered += 1;
      if (owned.unanswered <= UNANSWERED_MAX_OF_ADDRESS) serve();
      else socket.destroy();
    };
    response.on("close", () => {
      if (this.#open.get(socket) !== connection) return;
      connection.unanswered -= 1;
      owned.unanswered -= 1;
      if (socket.destroyed) return;
      connection.waiting.shift()?.();
      if (connection.waiting.length === 0 && socket.isPaused()) socket.resume();
    });
    if (connection.unanswered < SERVED_MAX && connection.waiting.length === 0) {
      begin();
    } else {
      connection.waiting.push(begin);
      socket.pause();
    }
  }

  cutStalled(): void {
    for (const [socket, connection] of this.#open) {
      const waits = socket.writableLength > 0;
      if (waits && socket.bytesWritten === connection.seenBytes) socket.destroy();
      connection.seenBytes = waits ? socket.bytesWritten : 0;
    }
  }

  #ownerOf({ remoteAddress = "" }: Socket): OwnerKey {
    const { trustedProxies = [] } = this.#terms;
    if (!isTrustedProxy(remoteAddress, trustedProxies)) return bucketKey(remoteAddress);
    this.#proxied += 1;
    return `bucket:proxied ${String(this.#proxied)}`;
  }

  /** Closes the owner's longest idle connection; false when none is idle. */
  #shedOf(owner: OwnerKey): boolean {
    let longest: Socket | undefined;
    let usedAt = Infinity;
    for (const socket of this.#owned.get(owner)?.sockets ?? []) {
      const connection = this.#open.get(socket);
      if (connection === undefined || !isIdle(connection) || connection.usedAt >= usedAt) continue;
      usedAt = connection.usedAt;
      longest = socket;
    }
    return this.#close(longest);
  }

  /** Closes the longest idle connection of all, else the oldest of the owner with more than an equal part. */
  #shed(owner: OwnerKey): boolean {
    let looks = 0;
    for (const [socket, connection] of this.#open) {
      if (isIdle(connection)) return this.#close(socket);
      looks += 1;
      if (looks === 1_024) break;
    }
    const own = this.#owned.get(owner)?.sockets.size ?? 0;
    let largest = new Set<Socket>();
    for (const { sockets } of this.#owned.values())
      if (sockets.size > largest.size) largest = sockets;
    const [oldest] = largest;
    return own + 1 < largest.size && this.#close(oldest);
  }

  #close(socket: Socket | undefined): boolean {
    if (socket === undefined) return false;
    this.#forget(socket);
    socket.destroy();
    return true;
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    this.#open.delete(socket);
    const owned = this.#owned.get(connection.owner);
    if (owned !== undefined) {
      owned.sockets.delete(socket);
      owned.unanswered -= connection.unanswered; // answers that wait behind others are not told of its end
      if (owned.sockets.size === 0) this.#owned.delete(connection.owner);
    }
    connection.reservation?.release();
  }
}

const isIdle = ({ unanswered }: OpenConnection): boolean => unanswered === 0;

/** How long a refused client may go on sending before the line is cut: it has to read the answer first. */
const LINGER_MS = 2_000;

type BrokenRequest = Error & {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
};

/** What Node's parser and timers complain of; everything else it refuses is simply no HTTP. */
const BROKEN = new Map<string, () => Refusal>([
  ["HPE_HEADER_OVERFLOW", headersTooLarge],
  ["ERR_HTTP_REQUEST_TIMEOUT", requestTimedOut],
  ["HPE_INVALID_TRANSFER_ENCODING", unsupportedTransfer],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", bodyTooLarge],
]);

/** RFC 9112 section 3. */
const REQUEST_LINE = /^[!#$%&'*+.^`|~\w-]+ [!-~]+ HTTP\/1\.\d\r?\n/;

function refusalOf({ code = "", reason = "", rawPacket, bytesParsed = 0 }: BrokenRequest): Refusal {
  if (code === "HPE_INVALID_TRANSFER_ENCODING" && reason.includes("Content-Length")) {
    return badRequest();
  }
  if (code === "HPE_INVALID_METHOD" && rawPacket !== undefined) {
    const text = rawPacket.toString("latin1");
    // Nothing may be wrong with the request but a method that Node does not know.
    const line = text.slice(text.lastIndexOf("\n", bytesParsed - 1) + 1);
    if (REQUEST_LINE.test(line)) return methodNotAllowed();
  }
  return (BROKEN.get(code) ?? badRequest)();
}

/**
 * Answers invalid requests. Earlier answers on the same connection come first, because a pipelining client
 * takes answers in order; when one of them is cut itself, the line is cut. `latest`: the newest.
 */
function answerBroken(
  error: BrokenRequest,
  socket: Socket,
  latest: ServerResponse | undefined,
): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error);
  if (latest === undefined) {
    writeRefusal(socket, refusal);
  } else if (latest.req.complete) {
    if (latest.writableFinished) writeRefusal(socket, refusal);
    else latest.once("finish", () => writeRefusal(socket, refusal));
  } else if (latest.headersSent || latest.socket !== socket) {
    socket.destroy(); // the body of this very request is broken, and its answer was given or must wait
  } else {
    writeRefusal(socket, refusal);
  }
}

const refusalHead = (refusal: Refusal) => {
  const { status, message } = refusal;
  const body = errorBody(message);
  const headers: Record<string, string> = {
    ...EVERY_ANSWER,
    ...(status === 405 && { allow: "GET, POST, DELETE, OPTIONS" }),
    "content-type": JSON_TYPE,
    "content-length": String(Buffer.byteLength(body)),
    ...refusalHeaders(refusal),
    date: httpTime(systemClock.nowMs()),
    connection: "close",
  };
  return { body, headers };
};

function writeRefusal(socket: Socket, refusal: Refusal): void {
  socket.on("error", () => undefined);
  if (!socket.writable) return;
  const { status } = refusal;
  const { body, headers } = refusalHead(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`,
  );
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  cut.unref();
  socket.once("close", () => clearTimeout(cut));
  socket.resume();
}

/** Answers a request that is not begun, and closes its connection. */
function refuse(response: ServerResponse, refusal: Refusal): void {
  const { body, headers } = refusalHead(refusal);
  response.writeHead(refusal.status, headers);
  endAfterRequest(response, body);
}
