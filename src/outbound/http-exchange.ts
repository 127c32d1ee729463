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
  const { body, headers } = question;
  const length = body === undefined ? {} : { "Content-Length": String(body.length) };
  const request = startRequest({
    createConnection: () => socket,
    method: question.method,
    path: question.absoluteForm === true ? url.origin + path : path,
    headers: { Host: url.host, Connection: "close", ...length, ...headers },
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

function answerTo(
  request: ClientRequest,
  { body, maxBodyBytes }: HttpQuestion,
  signal: AbortSignal,
): Promise<OutboundResult<HttpReply>> {
  return new Promise((resolve) => {
    let status: number | undefined;
    const finish = (result: OutboundResult<HttpReply>): void =>
      resolve(result.ok || status === undefined ? result : { ...result, status });
    const broken = (error: unknown): void => finish(brokenBy(error));
    onAbort(signal, () => finish(failure("timeout")));
    request.on("error", broken);
    request.on("close", () => finish(failure("broken", "closed")));
    request.on("upgrade", () => finish(failure("malformed", "upgrade")));
    let interim = 0;
    request.on("information", () => {
      interim += 1;
      if (interim > INTERIM_MAX) finish(failure("malformed", "interim"));
    });
    request.on("response", (response) => {
      status = response.statusCode;
      response.on("error", broken);
      response.on("aborted", () => finish(failure("broken", "aborted")));
      collect(response, maxBodyBytes, (reply) => finish({ ok: true, value: reply }));
    });
    request.end(body);
  });
}

function brokenBy(error: unknown): OutboundResult<never> {
  const code = codeOf(error);
  return failure(code.startsWith("HPE_") ? "malformed" : "broken", code);
}

function collect(
  response: IncomingMessage,
  maxBodyBytes: number,
  done: (reply: HttpReply) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const end = (): void => {
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
    if (size > maxBodyBytes) end();
  });
  response.on("end", end);
}

const flat = (headers: IncomingMessage["headers"]): HttpReply["headers"] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]));
