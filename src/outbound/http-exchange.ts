import { Buffer } from "node:buffer";
import { type ClientRequest, type IncomingMessage, request as startRequest } from "node:http";
import type { Socket } from "node:net";
import type { HttpQuestion, HttpReply, OutboundResult } from "./outbound-types.ts";
import { codeOf, failure, onAbort } from "./dial.ts";

/** Interim answers (RFC 9110 section 15.2) that are put up with; nothing we ask has a use for one. */
const INTERIM_MAX = 8;
const HEADERS_MAX_BYTES = 16_384;

/** A question as a proxy takes it: the whole URL in the request line (RFC 9112 section 3.2.2). */
export interface WireQuestion extends HttpQuestion {
  readonly absoluteForm?: true;
}

/** One HTTP/1.1 question over an open socket, which is destroyed at the end. No content coding is undone. */
export async function exchange(
  socket: Socket,
  url: URL,
  question: WireQuestion,
  signal: AbortSignal,
): Promise<OutboundResult<HttpReply>> {
  const path = `${url.pathname}${url.search}`;
  const request = startRequest({
    createConnection: () => socket,
    method: question.method,
    path: question.absoluteForm === true ? url.origin + path : path,
    headers: headersOf(url, question),
    setDefaultHeaders: false,
    insecureHTTPParser: false,
    maxHeaderSize: HEADERS_MAX_BYTES,
  });
  try {
    return await answerTo(request, question, signal);
  } finally {
    request.destroy();
    socket.destroy();
  }
}

function headersOf(url: URL, { headers, body }: HttpQuestion): Record<string, string> {
  const length = body === undefined ? {} : { "Content-Length": String(body.length) };
  return { Host: url.host, Connection: "close", ...length, ...headers };
}

function answerTo(
  request: ClientRequest,
  { body, maxBodyBytes }: HttpQuestion,
  signal: AbortSignal,
): Promise<OutboundResult<HttpReply>> {
  return new Promise((resolve) => {
    let status: number | undefined;
    const settle = (result: OutboundResult<HttpReply>): void =>
      resolve(result.ok || status === undefined ? result : { ...result, status });
    const broken = (error: unknown): void => settle(brokenBy(error));
    onAbort(signal, () => settle(failure("timeout")));
    request.on("error", broken);
    request.on("close", () => settle(failure("broken", "closed")));
    request.on("upgrade", () => settle(failure("malformed", "upgrade")));
    limitInterim(request, () => settle(failure("malformed", "interim")));
    request.on("response", (response) => {
      status = response.statusCode;
      response.on("error", broken);
      response.on("aborted", () => settle(failure("broken", "aborted")));
      collect(response, maxBodyBytes, (reply) => settle({ ok: true, value: reply }));
    });
    request.end(body);
  });
}

function brokenBy(error: unknown): OutboundResult<never> {
  const code = codeOf(error);
  return failure(code.startsWith("HPE_") ? "malformed" : "broken", code);
}

function limitInterim(request: ClientRequest, tooMany: () => void): void {
  let interim = 0;
  request.on("information", () => {
    interim += 1;
    if (interim > INTERIM_MAX) tooMany();
  });
}

function collect(
  response: IncomingMessage,
  maxBodyBytes: number,
  done: (reply: HttpReply) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = (): void => {
    const whole = Buffer.concat(chunks);
    done({
      status: response.statusCode ?? 0,
      headers: flat(response.headers),
      body: whole.subarray(0, maxBodyBytes),
      cut: whole.length > maxBodyBytes,
    });
  };
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    // Destroying the response would report it aborted, so the outcome comes first.
    if (size > maxBodyBytes) finish();
  });
  response.on("end", finish);
}

function flat(headers: IncomingMessage["headers"]): HttpReply["headers"] {
  const pairs = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : value,
  ]);
  return Object.fromEntries(pairs) as HttpReply["headers"];
}
