import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyServerFactory } from "fastify";
import { errorBody } from "../http/answer.ts";
import { JSON_TYPE } from "../http/route.ts";
import { TARGET_MAX_CHARACTERS } from "../http/target.ts";
import {
  badRequest,
  bodyTooLarge,
  headersTooLarge,
  methodNotAllowed,
  type Refusal,
  requestTimedOut,
} from "../service/refusals.ts";

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
  /** A connection on which nothing moves in either direction, in the middle of an answer. */
  readonly idleTimeoutMs: number;
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
  idleTimeoutMs: 120_000,
  maxConnections: 10_000,
  stopTimeoutMs: 30_000,
};

/** Room for a full target and ordinary headers beside it. */
const HEADER_MAX_BYTES = TARGET_MAX_CHARACTERS + 16_384;

/** How long a refused client may go on sending before the line is cut: it has to read the answer first. */
const LINGER_MS = 2_000;

/** For `buildApp`: the server with all limits set, answering in JSON whatever Node refuses by itself. */
export function serverFactory(limits: ListenLimits): FastifyServerFactory {
  return (handler) => {
    const latest: Latest = new WeakMap();
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
        latest.set(request.socket, { request, response });
        handler(request, response);
      },
    );
    server.timeout = limits.idleTimeoutMs;
    server.maxConnections = limits.maxConnections;
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
      const refusal = (REFUSALS.get(error.code ?? "") ?? badRequest)();
      answerBroken(socket, refusal, latest.get(socket));
    });
    // Node would answer a bare 417 to an Expect that it does not know, and hang up on a CONNECT.
    server.on("checkExpectation", (request, response) => server.emit("request", request, response));
    server.on("connect", (_request, socket: Socket) => writeRefusal(socket, methodNotAllowed()));
    return server;
  };
}

/** What Node's parser and timers complain of; everything else it refuses is simply no HTTP. */
const REFUSALS = new Map<string, () => Refusal>([
  ["HPE_HEADER_OVERFLOW", headersTooLarge],
  ["ERR_HTTP_REQUEST_TIMEOUT", requestTimedOut],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", bodyTooLarge],
]);

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The newest request of each connection. */
type Latest = WeakMap<Socket, Exchange>;

/**
 * Answers what is no request. Answers under way on the same connection come first, for a pipelining client
 * takes answers in order; when one of them is cut itself, the line is cut.
 */
function answerBroken(socket: Socket, refusal: Refusal, exchange: Exchange | undefined): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  if (exchange === undefined || exchange.response.writableFinished) {
    writeRefusal(socket, refusal);
    return;
  }
  const { request, response } = exchange;
  if (request.complete) {
    response.once("finish", () => writeRefusal(socket, refusal));
    return;
  }
  // The body of this very request is broken. Its answer may have begun, or wait behind an earlier one.
  if (response.headersSent || response.socket !== socket) socket.destroy();
  else writeRefusal(socket, refusal);
}

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After",
};

function writeRefusal(socket: Socket, { status, message }: Refusal): void {
  if (!socket.writable) return;
  const body = errorBody(message);
  const headers: Readonly<Record<string, string>> = {
    ...CORS,
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
  /**
   * Stops accepting, lets requests under way finish, closes every connection. Resolves when all is closed, at
   * the latest when the time limit has cut what was left.
   */
  stop(): Promise<void>;
}

/** Binds the app to an address. Port 0 takes any free one. */
export async function listen(
  app: FastifyInstance,
  address: { readonly host: string; readonly port: number },
  limits: ListenLimits,
): Promise<Listening> {
  const url = await app.listen({ ...address, listenTextResolver: () => "" });
  return { url, stop: () => stop(app, app.server, limits.stopTimeoutMs) };
}

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
