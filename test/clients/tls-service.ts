import { createServer } from "node:https";
import { receiverCertificate, receiverKey } from "../process/certificates.ts";
import { listening } from "../http/peer.ts";

/** Accepts everyone over TLS, with a certificate of the test authority for `localhost`. */
export interface TlsService {
  readonly url: string;
  /** So far. */
  readonly connections: () => number;
  close(): Promise<void>;
}

const BODY = JSON.stringify({
  decision: "accept",
  reason: "ok",
  complete: true,
  policy: { name: "default", version: 1 },
});

export async function startTlsService(): Promise<TlsService> {
  let connections = 0;
  const tls = { cert: receiverCertificate, key: receiverKey };
  const server = createServer(tls, (request, response) => {
    request.resume().once("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(BODY.slice(0, 9));
      response.end(BODY.slice(9));
    });
  });
  server.on("secureConnection", () => (connections += 1));
  const { port, close } = await listening(server, "localhost");
  return { url: `https://localhost:${String(port)}`, connections: () => connections, close };
}
