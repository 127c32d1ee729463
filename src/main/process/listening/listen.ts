import { createServer, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { OwnerKey } from "../../../base/owner.ts";
import { Turns } from "../../../base/fair-queue.ts";
import { bucketKey } from "../../../accounts/admission/bucket.ts";
import { Connections, type ConnectionTerms } from "./connections.ts";
import { isHeld } from "../../../http/answer/held-connections.ts";
import type { Listener } from "../../../http/app/app.ts";
import { TARGET_MAX_CHARACTERS } from "../../../http/request/target.ts";
import { methodNotAllowed } from "../../../base/refusals.ts";
import { answerBroken, writeRefusal } from "./broken-request.ts";
import { headOf } from "./head.ts";
import { refuse, requestTurns, REQUESTS_PER_TURN } from "./request-turns.ts";
import { Rush } from "./rush.ts";
import { type Reception, welcomeInTurns } from "./welcome.ts";

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

const optionsOf = (limits: ListenLimits): ServerOptions => ({
  maxHeaderSize: HEADER_MAX_BYTES,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  connectionsCheckingInterval: limits.checkIntervalMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  requireHostHeader: false,
});

/**
 * For `buildApp`: a server with all limits set, and the handler that answers in JSON what Node refuses by
 * itself. One listener serves one app.
 */
export function createListener(limits: ListenLimits, terms?: ConnectionTerms): Listener {
  const lines: Lines = new Map();
  const connections = terms === undefined ? undefined : new Connections(terms);
  const rush = new Rush();
  const inTurn = requestTurns(rush, () => connections?.paceAll(), terms);
  const late = new Turns(REQUESTS_PER_TURN);
  return {
    serverFactory: (handler) => {
      const server = createServer(optionsOf(limits), (request, response) => {
        const line = lines.get(request.socket);
        if (line !== undefined) line.latest = response;
        const head = headOf(request);
        // Node keeps the latest request of a connection: 8,000 idle ones with long targets took 0.5 GB.
        if (head.hasLongTarget) response.once("close", () => Object.assign(request, NO_TARGET));
        const paced = connections?.used(request.socket, response, head);
        if (isHeld(request.socket)) return;
        const begin = (): void => {
          if (head.refusal === undefined) handler(request, response);
          else refuse(response, head.refusal);
        };
        if (paced === undefined) inTurn(request, response, head, begin);
        else paced.began(response, begin);
      });
      // Beyond the limit one that is idle makes room; Node closes only what comes faster than that.
      server.maxConnections = limits.maxConnections + SPARE_CONNECTIONS;
      // Node would drop what stands behind the thousandth header, a key or X-Forwarded-For; `headOf` refuses so many.
      server.maxHeadersCount = 0;
      welcomeInTurns(server, reception(lines, connections, rush));
      const sweep = setInterval(() => cutStalled(lines), limits.stallTimeoutMs).unref();
      const bound = setInterval(() => connections?.boundHeads(), HEADS_EVERY_MS).unref();
      server.once("close", () => [sweep, bound].forEach(clearInterval));
      // Node would answer a bare 417 to an Expect that it does not know, and hang up on a CONNECT.
      server.on("checkExpectation", (request, response) => {
        server.emit("request", request, response);
      });
      server.on("connect", (_request, socket: Socket) => writeRefusal(socket, methodNotAllowed()));
      return server;
    },
    clientErrorHandler: (error, socket) => {
      connections?.broken(socket);
      const answer = (): void => answerBroken(error, socket, lines.get(socket)?.latest);
      // The time of thousands of requests is over in the same look of Node's.
      const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
      const ownerOf = (): OwnerKey => bucketKey(socket.remoteAddress ?? "");
      if (!isLate || late.take(1, ownerOf, answer)) answer();
    },
  };
}

/** Fastify notes the target once more. */
const NO_TARGET = { url: "", originalUrl: "" };

/** How often unfinished heads are counted, which takes 3 ms with 10,000 connections: a line of 1 Gbit/s brings 31 MB. */
const HEADS_EVERY_MS = 250;

const reception = (lines: Lines, connections: Connections | undefined, rush: Rush): Reception => ({
  rush,
  admit: (socket: Socket): boolean => {
    const refusal = connections?.admit(socket);
    if (refusal === undefined) return true;
    socket.on("error", () => undefined); // Node's listener for it comes with the parser
    writeRefusal(socket, refusal);
    return false;
  },
  begun: (socket: Socket): void => {
    lines.set(socket, { latest: undefined, seenBytes: 0 });
    socket.once("close", () => lines.delete(socket));
    connections?.begun(socket);
  },
});

/** Connections that may be open while others are closed for them. */
const SPARE_CONNECTIONS = 64;

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
