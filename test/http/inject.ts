import { Agent, createServer, type OutgoingHttpHeaders, request, type Server } from "node:http";
import { type Duplex, duplexPair } from "node:stream";
import { assertDocumented } from "./documented.ts";
import type { App } from "../../src/http/server.ts";

export interface InjectOptions {
  readonly method?: string;
  /** "/" unless told. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** An object is sent as JSON. */
  readonly payload?: string | Buffer | object;
  readonly remoteAddress?: string;
}

export interface Injected {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
  readonly rawPayload: Buffer;
  readonly json: <T = unknown>() => T;
}

const servers = new WeakMap<App, Server>();

/** Node's own server behind the app, which listens nowhere: connections are pairs of streams. */
function serverOf(app: App): Server {
  const known = servers.get(app);
  if (known !== undefined) return known;
  const server = createServer({ requireHostHeader: false }, app.serve);
  servers.set(app, server);
  return server;
}

/** Sends one request to the app without a network. */
export function inject(app: App, asked: InjectOptions | string): Promise<Injected> {
  const options = typeof asked === "string" ? { url: asked } : asked;
  const { method = "GET", url = "/", payload, remoteAddress = "127.0.0.1" } = options;
  const [near, far] = duplexPair();
  Object.assign(far, { remoteAddress });
  far.once("close", () => setImmediate(() => near.destroy(new Error("cut")))); // streams of a pair end alone
  serverOf(app).emit("connection", far);
  const isRaw = payload === undefined || typeof payload === "string" || Buffer.isBuffer(payload);
  const body = isRaw ? payload : JSON.stringify(payload);
  const headers: OutgoingHttpHeaders = {
    host: "localhost:80",
    ...(!isRaw && { "content-type": "application/json" }),
    ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
  };
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = value as string | string[];
  }
  const agent = new OneConnection(near);
  return new Promise((resolve, reject) => {
    const call = request({ method, path: url, headers, agent }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("error", reject);
      answer.on("end", () => {
        const rawPayload = Buffer.concat(parts);
        const text = rawPayload.toString("utf8");
        const { statusCode = 0, headers: got } = answer;
        near.destroy();
        try {
          const type = got["content-type"] ?? "";
          // Another host may be another service's shape.
          if (options.headers?.["host"] === undefined)
            assertDocumented({ method, url, status: statusCode, type, text });
        } catch (undocumented) {
          reject(undocumented as Error);
          return;
        }
        resolve({
          statusCode,
          headers: got,
          body: text,
          rawPayload,
          json: <T>() => JSON.parse(text) as T,
        });
      });
    });
    call.on("error", reject);
    call.end(body);
  });
}

class OneConnection extends Agent {
  readonly #stream: Duplex;

  constructor(stream: Duplex) {
    super({ keepAlive: false });
    this.#stream = stream;
  }

  override createConnection(): Duplex {
    return this.#stream;
  }
}
