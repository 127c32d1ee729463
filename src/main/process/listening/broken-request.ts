import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { errorBody, EVERY_ANSWER } from "../../../http/answer/answer.ts";
import { JSON_TYPE } from "../../../http/answer/route.ts";
import type { Listener } from "../../../http/app/app.ts";
import {
  badRequest,
  bodyTooLarge,
  headersTooLarge,
  methodNotAllowed,
  type Refusal,
  requestTimedOut,
} from "../../../base/refusals.ts";

/** How long a refused client may go on sending before the line is cut: it has to read the answer first. */
const LINGER_MS = 2_000;

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

/**
 * Answers invalid requests. Earlier answers on the same connection come first, because a pipelining client
 * takes answers in order; when one of them is cut itself, the line is cut. `response`: the newest.
 */
export function answerBroken(
  error: BrokenRequest,
  socket: Socket,
  response: ServerResponse | undefined,
): void {
  // Most are connections that their clients have cut, thousands at once when a load balancer restarts.
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error);
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

/** Refuses without the parser, and closes. */
export function writeRefusal(socket: Socket, { status, message }: Refusal): void {
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
