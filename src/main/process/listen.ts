import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { errorBody, EVERY_ANSWER } from "../../http/answer/answer.ts";
import { addressOf } from "../../http/api/entering.ts";
import type { OwnerKey } from "../../ports/admission/owner.ts";
import { Turns } from "../../ports/sharing/turns.ts";
import { bucketKey } from "../../service/admission/bucket.ts";
import { Connections, type ConnectionTerms } from "./connections.ts";
import type { Listener } from "../../http/app/app.ts";
import { JSON_TYPE } from "../../http/answer/route.ts";
import { TARGET_MAX_CHARACTERS } from "../../http/request/target.ts";
import {
  badRequest,
  bodyTooLarge,
  headersTooLarge,
  methodNotAllowed,
  type Refusal,
  requestTimedOut,
} from "../../service/refusals.ts";

/** How patient the listener is. */
export interface ListenLimits {
  /** Until the last header byte. */
  readonly headersTimeoutMs: number;
  /** Until the last byte of the body. */
  readonly requestTimeoutMs: number;
  /** How often the two above are looked at. */
  readonly checkIntervalMs: number;
  /** An idle keep-alive connection; above the 60 s that load balancers reuse theirs. */
  readonly keepAliveTimeoutMs: number;
  /** A client that takes nothing of the answer waiting for it is cut after one to two of these. */
  readonly stallTimeoutMs: number;
  /** Connections at once; more are closed on arrival. */
  readonly maxConnections: number;
  /** How long `stop` waits for requests under way. */
  readonly stopTimeoutMs: number;
}

export const DEFAULT_LIMITS: ListenLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  checkIntervalMs: 1_000,
  keepAliveTimeoutMs: 72_000,
  stallTimeoutMs: 60_000,
  maxConnections: 10_000,
  stopTimeoutMs: 30_000,
};

/** Room for a full target and ordinary headers beside it. */
const HEADER_MAX_BYTES = TARGET_MAX_CHARACTERS + 16_384;

/** How long a refused client may go on sending before the line is cut: it has to read the answer first. */
const LINGER_MS = 2_000;

/**
 * For `buildApp`: a server with all limits set, and the handler that answers in JSON what Node refuses by
 * itself. One listener serves one app.
 */
export function createListener(limits: ListenLimits, terms?: ConnectionTerms): Listener {
  const lines: Lines = new Map();
  const connections = terms === undefined ? undefined : new Connections(terms);
  const inTurn = requestTurns(terms);
  return {
    serverFactory: (handler) => {
      const server = createServer(
        {
          maxHeaderSize: HEADER_MAX_BYTES,
          headersTimeout: limits.headersTimeoutMs,
          requestTimeout: limits.requestTimeoutMs,
          connectionsCheckingInterval: limits.checkIntervalMs,
          keepAliveTimeout: limits.keepAliveTimeoutMs,
          requireHostHeader: false,
        },
        (request, response) => {
          const line = lines.get(request.socket);
          if (line !== undefined) line.latest = response;
          const { isChunked, hasOneHost } = framingOf(request);
          const handle = hasOneHost ? handler : answerBadRequest;
          const paced = connections?.used(request.socket, response, isChunked);
          if (paced === undefined) inTurn(request, () => handle(request, response));
          else paced.began(response, () => handle(request, response));
        },
      );
      // Beyond the limit one that is idle makes room; Node closes only what comes faster than that.
      server.maxConnections = limits.maxConnections + SPARE_CONNECTIONS;
      // Node would drop what stands behind the thousandth header, a key or X-Forwarded-For; HEADER_MAX_BYTES bounds them.
      server.maxHeadersCount = 0;
      server.on("connection", (socket) => {
        lines.set(socket, { latest: undefined, seenBytes: 0 });
        socket.once("close", () => lines.delete(socket));
        const refusal = connections?.admit(socket);
        if (refusal !== undefined) writeRefusal(socket, refusal);
      });
      const sweep = setInterval(() => cutStalled(lines), limits.stallTimeoutMs).unref();
      server.once("close", () => clearInterval(sweep));
      // Node would answer a bare 417 to an Expect that it does not know, and hang up on a CONNECT.
      server.on("checkExpectation", (request, response) => {
        server.emit("request", request, response);
      });
      server.on("connect", (_request, socket: Socket) => writeRefusal(socket, methodNotAllowed()));
      return server;
    },
    clientErrorHandler: (error, socket) => {
      answerBroken(socket, refusalOf(error), lines.get(socket)?.latest);
    },
  };
}

/** Requests that are begun in one turn of the event loop: about 2 ms. */
const REQUESTS_PER_TURN = 16;

/** Begins requests at once, or in a later turn of their client address. */
function requestTurns({ trustedProxies }: Pick<ConnectionTerms, "trustedProxies"> = NO_PROXIES) {
  const turns = new Turns(REQUESTS_PER_TURN);
  return (request: IncomingMessage, begin: () => void): void => {
    const ownerOf = (): OwnerKey => bucketKey(addressOf(request, { trustedProxies }));
    if (turns.take(1, ownerOf, begin)) begin();
  };
}

const NO_PROXIES = { trustedProxies: [] };

/** Connections that may be open while others are closed for them. */
const SPARE_CONNECTIONS = 64;

interface Framing {
  /** HTTP/1.1 needs one Host, and no more (RFC 9112 section 3.2). Node keeps only the first of several. */
  readonly hasOneHost: boolean;
  readonly isChunked: boolean;
}

function framingOf({ httpVersion, rawHeaders }: IncomingMessage): Framing {
  let hosts = 0;
  let isChunked = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
    if (name.length === 17 && name.toLowerCase() === "transfer-encoding") isChunked = true;
  }
  return { hasOneHost: hosts === 1 || (hosts === 0 && httpVersion === "1.0"), isChunked };
}

function answerBadRequest(_request: IncomingMessage, response: ServerResponse): void {
  const { status, message } = badRequest();
  const body = errorBody(message);
  response
    .writeHead(status, {
      ...EVERY_ANSWER,
      "content-type": JSON_TYPE,
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    })
    .end(body);
}

/** What Node's parser and timers complain of; everything else it refuses is simply no HTTP. */
const REFUSALS = new Map<string, () => Refusal>([
  ["HPE_HEADER_OVERFLOW", headersTooLarge],
  ["ERR_HTTP_REQUEST_TIMEOUT", requestTimedOut],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", bodyTooLarge],
]);

function refusalOf(error: BrokenRequest): Refusal {
  if (isOtherMethod(error)) return methodNotAllowed();
  return (REFUSALS.get(error.code) ?? badRequest)();
}

type BrokenRequest = Parameters<Listener["clientErrorHandler"]>[0];

/** Whether nothing is wrong with the request but a method that Node does not know. */
function isOtherMethod({ code, rawPacket, bytesParsed }: BrokenRequest): boolean {
  const packet: unknown = rawPacket; // the framework's type for what is a Buffer
  if (code !== "HPE_INVALID_METHOD" || !Buffer.isBuffer(packet)) return false;
  const text = packet.toString("latin1");
  return REQUEST_LINE.test(text.slice(text.lastIndexOf("\n", bytesParsed - 1) + 1));
}

/** RFC 9112 section 3. */
const REQUEST_LINE = /^[!#$%&'*+.^`|~\w-]+ [!-~]+ HTTP\/1\.\d\r?\n/;

/** What is known of one connection; made once for it, not for every request. */
interface Line {
  /** The answer to its newest request. */
  latest: ServerResponse | undefined;
  /** `bytesWritten` of the socket when the sweep last saw an answer waiting; 0 when none did. */
  seenBytes: number;
}

type Lines = Map<Socket, Line>;

/** A socket timeout would do, too, at 2 % of every cached answer. */
function cutStalled(lines: Lines): void {
  for (const [socket, line] of lines) {
    const waits = socket.writableLength > 0;
    if (waits && socket.bytesWritten === line.seenBytes) socket.destroy();
    line.seenBytes = waits ? socket.bytesWritten : 0;
  }
}

/**
 * Answers invalid requests. Earlier answers on the same connection come first, because a pipelining client
 * takes answers in order; when one of them is cut itself, the line is cut.
 */
function answerBroken(
  socket: Socket,
  refusal: Refusal,
  response: ServerResponse | undefined,
): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  if (response === undefined) {
    writeRefusal(socket, refusal);
    return;
  }
  if (response.req.complete) {
    if (response.writableFinished) writeRefusal(socket, refusal);
    else response.once("finish", () => writeRefusal(socket, refusal));
    return;
  }
  // The body of this very request is broken. Its answer may have been given, or wait behind an earlier one.
  if (response.headersSent || response.socket !== socket) socket.destroy();
  else writeRefusal(socket, refusal);
}

function writeRefusal(socket: Socket, { status, message }: Refusal): void {
  if (!socket.writable) return;
  const body = errorBody(message);
  const headers: Readonly<Record<string, string>> = {
    ...EVERY_ANSWER,
    ...(status === 405 ? { allow: "GET, POST, DELETE, OPTIONS" } : {}),
    "content-type": JSON_TYPE,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  cut.unref();
  socket.once("close", () => clearTimeout(cut));
  socket.resume();
}

export interface Listening {
  /** "http://127.0.0.1:8080", with the port that was really taken. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting, lets requests under way finish, closes every connection. Resolves when all is closed, at
   * the latest when the time limit has cut what was left.
   */
  readonly stop: () => Promise<void>;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Binds the app to an address. Port 0 takes any free one. Rejects with one clear sentence. */
export async function listen(
  app: FastifyInstance,
  address: Address,
  limits: ListenLimits,
): Promise<Listening> {
  const url = await bind(app, address);
  const { port } = app.server.address() as AddressInfo;
  return { url, port, stop: () => stop(app, app.server, limits.stopTimeoutMs) };
}

/**
 * Connections that the kernel keeps until they are accepted, if `net.core.somaxconn` allows as many. With Node's 511 the
 * kernel drops the first packet of others during a burst, and they wait 1 s until they send it again.
 */
const BACKLOG = 4_096;

async function bind(app: FastifyInstance, address: Address): Promise<string> {
  try {
    return await app.listen({ ...address, backlog: BACKLOG, listenTextResolver: () => "" });
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    const why = REASONS.get(code) ?? message;
    const place = `${address.host}, port ${String(address.port)}`;
    throw new Error(`cannot listen at ${place}: ${why}`, { cause });
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "another program listens there; stop it, or set PORT to a free port"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["EACCES", "this user may not listen there"],
  ["ENOTFOUND", "not an address of this machine, and not a known name"],
]);

/** How often connections that have become idle are closed while stopping. */
const SWEEP_MS = 50;

async function stop(app: FastifyInstance, server: Server, timeoutMs: number): Promise<void> {
  server.prependListener("request", (_request, response: ServerResponse) => {
    response.setHeader("connection", "close");
  });
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  try {
    await app.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}
