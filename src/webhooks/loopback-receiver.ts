import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";

export interface ReceivedPost {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly closed: Promise<void>;
  close(): void;
}

/** Takes POSTs of up to 1 MiB and answers each with the status that `handle` gives. Port 0 picks a free one. */
export type Receive = (
  at: { readonly host: string; readonly port: number },
  handle: (post: ReceivedPost) => number,
) => Promise<WebhookReceiver>;

const BODY_MAX_BYTES = 1_048_576;
const REQUEST_MS = 30_000;

export const receiveWebhooks: Receive = async ({ host, port }, handle) => {
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    void take(request, response, handle);
  });
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  const shown = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shown}:${String(bound)}/`,
    closed,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};

async function take(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (post: ReceivedPost) => number,
): Promise<void> {
  if (request.method !== "POST") return end(response, 405);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > BODY_MAX_BYTES) return end(response, 413);
    }
  } catch {
    return; // the sender went away in the middle
  }
  end(response, handle({ headers: request.headers, body: Buffer.concat(chunks) }));
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { Connection: "close" }).end();
}
