import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createTcp, type Server, type Socket } from "node:net";
import { once } from "node:events";

export interface Peer {
  readonly port: number;
  /** "http://127.0.0.1:<port>". */
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

/** A server on loopback that resets its open connections when it closes. */
export async function listening(server: Server, host = "127.0.0.1", port = 0): Promise<Peer> {
  const open = new Set<Socket>();
  let accepted = 0;
  server.on("connection", (socket: Socket) => {
    accepted += 1;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port: bound,
    url: `http://${host}:${String(bound)}`,
    connections: () => accepted,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

export const httpPeer = (listener: RequestListener): Promise<Peer> =>
  listening(createHttp(listener));

/** Passes on every connection. */
export const tcpPeer = (onSocket: (socket: Socket) => void): Promise<Peer> =>
  listening(createTcp(onSocket));

/** Writes `piece` every few milliseconds until the peer closes. */
export function drip(
  to: { write(text: string): unknown; on(event: "close", done: () => void): unknown },
  piece: string,
): void {
  const timer = setInterval(() => to.write(piece), 5);
  to.on("close", () => clearInterval(timer));
}
