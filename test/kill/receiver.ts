import { createHmac } from "node:crypto";
import { createServer } from "node:https";
import { receiverCertificate, receiverKey } from "../process/certificates.ts";
import { listening } from "../http/peer.ts";

export const SECRET = "a".repeat(64);

/** A receiver of webhooks on loopback. */
export interface Receiver {
  readonly port: number;
  /** How often each session was announced, with a signature that fits. */
  readonly told: ReadonlyMap<string, number>;
  /** Webhooks whose signature does not fit. */
  readonly forged: () => number;
  readonly close: () => Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
  const told = new Map<string, number>();
  let forged = 0;
  const server = createServer({ cert: receiverCertificate, key: receiverKey }, (request, reply) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      const right = createHmac("sha256", SECRET).update(body).digest("hex");
      if (request.headers["x-service-signature"] !== right) forged += 1;
      const { data } = JSON.parse(body.toString()) as { data: { session: string } };
      told.set(data.session, (told.get(data.session) ?? 0) + 1);
      reply.end("ok");
    });
  });
  server.on("tlsClientError", () => undefined); // a sender was killed
  const { port, close } = await listening(server);
  return { port, told, forged: () => forged, close };
}
