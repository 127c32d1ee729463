import {
  createServer,
  type IncomingMessage,
  request as ask,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  createServer as createPlainServer,
  type Server as PlainServer,
  type Socket,
} from "node:net";
import { expiredCertificate, receiverKey } from "../process/certificates.ts";
import { listening, type Peer } from "../http/peer.ts";

/** Stands between a client and the service, and spoils every answer in one way. */
export interface FaultProxy {
  /** Name of a fault -> base URL to use in place of the service's. */
  readonly urls: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

interface Exchange {
  readonly socket: Socket;
  readonly response: ServerResponse;
  /** Requests so far, this one included. */
  readonly count: number;
  /** Lets the service answer. */
  readonly pass: () => void;
}

type Fault = (exchange: Exchange) => void;

const JSON_TYPE = "application/json";

/** As the service writes it, with changes. */
const body = (more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    decision: "reject",
    reason: "disposable",
    message: "Please use a permanent email address.",
    complete: true,
    policy: { name: "default", version: 1 },
    ...more,
  });

const answer =
  (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Fault =>
  ({ response }) =>
    void response.writeHead(status, { "content-type": JSON_TYPE, ...headers }).end(text);

const refusal = (status: number, headers: Readonly<Record<string, string>> = {}): Fault =>
  answer(status, JSON.stringify({ error: "No." }), headers);

const raw =
  (text: string): Fault =>
  ({ socket }) =>
    void socket.end(text, "latin1");

const HEAD = `HTTP/1.1 200 OK\r\nContent-Type: ${JSON_TYPE}\r\n`;
const PIECE = " ".repeat(65_536);
const EVERY_MS = 20;
const SLOW_MS = 30_000;

/** Writes `next()` again and again for as long as the client reads, up to 30 s. */
function drip({ socket }: Exchange, head: string, next: () => string): void {
  socket.write(head);
  const timer = setInterval(() => {
    if (socket.writableLength === 0) socket.write(next());
  }, EVERY_MS);
  const ending = setTimeout(() => socket.destroy(), SLOW_MS);
  socket.once("close", () => {
    clearInterval(timer);
    clearTimeout(ending);
  });
}

const FLOOD_MS = 3_000;

/** Writes `piece` as fast as the client reads, and at last what it should not be read for. */
function flood({ socket }: Exchange, [head, piece, end]: readonly [string, string, string]): void {
  const some = piece.repeat(65_536 / piece.length);
  const endsAt = performance.now() + FLOOD_MS;
  const more = (): void => {
    if (socket.destroyed) return;
    if (performance.now() > endsAt) return void socket.end(end);
    if (socket.writableLength === 0) socket.write(some);
    setImmediate(more);
  };
  socket.write(head);
  more();
}

/** Every answer would block the person if the client believed it. */
const FAULTS: Readonly<Record<string, Fault>> = {
  hang: () => undefined,
  slow: ({ socket, pass }) => {
    const timer = setTimeout(pass, SLOW_MS);
    socket.once("close", () => clearTimeout(timer));
  },
  drip: (exchange) => {
    const whole = body();
    let at = 0;
    drip(exchange, `${HEAD}Content-Length: 100000\r\n\r\n`, () => whole.charAt(at++) || " ");
  },
  endless_body: (exchange) => drip(exchange, `${HEAD}\r\n`, () => PIECE),
  endless_head: (exchange) => drip(exchange, HEAD, () => `X-More: ${PIECE}\r\n`),
  endless_interim: (exchange) =>
    flood(exchange, [
      "",
      "HTTP/1.1 100 Continue\r\n\r\n",
      `${HEAD}Connection: close\r\n\r\n${body()}`,
    ]),
  endless_trailers: (exchange) => {
    const chunk = `${body().length.toString(16)}\r\n${body()}\r\n0\r\n`;
    flood(exchange, [`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk}`, "X: y\r\n", "\r\n"]);
  },
  cut_before: ({ socket }) => void socket.destroy(),
  reset: ({ socket }) => void socket.resetAndDestroy(),
  cut_head: raw("HTTP/1.1 200 OK\r\nContent-Ty"),
  cut_body: raw(`${HEAD}Content-Length: 500\r\n\r\n${body()}`),
  cut_chunk: raw(`${HEAD}Transfer-Encoding: chunked\r\n\r\n80\r\n${body()}`),
  no_http: raw(`220 mail.example ESMTP\r\n`),
  status_of_high_digits: raw("HTTP/1.1 \u00b2\u00b3\u00b9 OK\r\n\r\n"),
  status_500: refusal(500),
  status_502: answer(502, "<html>Bad gateway</html>", { "content-type": "text/html" }),
  status_503: refusal(503, { "retry-after": "30" }),
  status_504: refusal(504),
  refuses_400: refusal(400),
  refuses_413: refusal(413),
  refuses_422: refusal(422),
  refuses_429: refusal(429, { "retry-after": "30" }),
  refuses_429_for_ever: refusal(429, { "retry-after": "1e999" }),
  refuses_429_for_an_age: refusal(429, { "retry-after": "9".repeat(400) }),
  refuses_for_a_word: answer(200, body({ retry_after: "soon" })),
  refuses_for_true: answer(200, body({ retry_after: true })),
  refuses_since_before: answer(200, body({ retry_after: -5 })),
  refuses_for_ever: answer(200, body().replace("{", '{"retry_after":1e400,')),
  refuses_for_an_age: answer(200, body().replace("{", `{"retry_after":${"9".repeat(400)},`)),
  status_401: refusal(401),
  status_402: refusal(402),
  status_403: refusal(403),
  status_404: refusal(404),
  status_418: refusal(418),
  decision_with_500: answer(500, body()),
  decision_with_201: answer(201, body()),
  empty: answer(200, ""),
  no_content: ({ response }) => void response.writeHead(204).end(),
  garbage: answer(200, "\u0000\u0001{]"),
  cut_json: answer(200, body().slice(0, -20)),
  two_values: answer(200, `${body()}${body()}`),
  deep_json: answer(200, "[".repeat(50_000)),
  html: answer(200, "<html>Please log in</html>", { "content-type": "text/html" }),
  html_type: answer(200, body(), { "content-type": "text/html" }),
  no_type: ({ response }) => void response.writeHead(200).end(body()),
  a_text: answer(200, JSON.stringify(body())),
  a_list: answer(200, `[${body()}]`),
  null_body: answer(200, "null"),
  no_decision: answer(200, body({ decision: undefined })),
  unknown_decision: answer(200, body({ decision: "block" })),
  decision_in_capitals: answer(200, body({ decision: "REJECT" })),
  decision_as_list: answer(200, body({ decision: ["reject"] })),
  inherited_decision: answer(200, body({ decision: "constructor" })),
  no_reason: answer(200, body({ reason: undefined })),
  empty_reason: answer(200, body({ reason: "" })),
  reason_as_markup: answer(200, body({ reason: "<b>no</b>" })),
  long_reason: answer(200, body({ reason: "x".repeat(33) })),
  message_as_number: answer(200, body({ message: 7 })),
  complete_as_text: answer(200, body({ complete: "true" })),
  policy_without_name: answer(200, body({ policy: {} })),
  mailbox_as_text: answer(200, body({ mailbox: "m_7" })),
  result_as_text: answer(200, body({ result: "bad" })),
  verified_as_number: answer(200, body({ verified: 1 })),
  error_inside: answer(200, JSON.stringify({ error: "Internal error." })),
  first_cut: ({ count, socket, pass }) => (count % 2 === 1 ? void socket.destroy() : pass()),
  first_503: (exchange) => (exchange.count % 2 === 1 ? refusal(503)(exchange) : exchange.pass()),
};

/** Passes a request on to the service as it is. */
function forward(target: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = "/" } = request;
  const onward = ask(new URL(url, target), { method, headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(response);
  });
  onward.on("error", () => response.destroy());
  request.pipe(onward);
}

function faultServer(fault: Fault, target: string): Server {
  let count = 0;
  return createServer((request, response) => {
    count += 1;
    const { socket } = request;
    const run = (pass: () => void): void => fault({ socket, response, count, pass });
    // A proxy that passes on reads the body itself; the others answer once they have all of it.
    const isPassed = count % 2 === 0 || fault === FAULTS["slow"];
    if (isPassed) return run(() => forward(target, request, response));
    request.resume().once("end", () => run(() => undefined));
  });
}

/** One server for each fault. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const urls: Record<string, string> = {};
  const peers: Peer[] = [];
  const add = async (name: string, server: PlainServer, scheme = "http") => {
    const peer = await listening(server);
    peers.push(peer);
    urls[name] = `${scheme}://127.0.0.1:${String(peer.port)}`;
  };
  for (const [name, fault] of Object.entries(FAULTS)) await add(name, faultServer(fault, target));
  // Where redirects lead: whoever follows one believes this answer, and has sent the key on.
  await add("elsewhere", faultServer(answer(200, body()), target));
  const { elsewhere = "" } = urls;
  delete urls["elsewhere"]; // no fault of its own
  for (const status of [301, 302, 303, 307, 308]) {
    const moved = answer(status, "", { location: `${elsewhere}/api/decide` });
    await add(`redirect_${String(status)}`, faultServer(moved, target));
  }
  await add(
    "cut_connection",
    createPlainServer((socket) => void socket.destroy()),
  );
  await add(
    "silent_connection",
    createPlainServer((socket) => void socket.resume()),
  );
  const tls = { cert: expiredCertificate, key: receiverKey };
  await add(
    "tls_certificate",
    createTlsServer(tls, (_, response) => void response.end(body())),
    "https",
  );
  await add(
    "tls_missing",
    createServer((_, response) => void response.end(body())),
    "https",
  );
  const closed = await listening(createPlainServer());
  urls["refused"] = closed.url;
  await closed.close();
  return { urls, close: async () => void (await Promise.all(peers.map((peer) => peer.close()))) };
}
