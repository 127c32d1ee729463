import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "./free-port.ts";

/** A line to a server on loopback that a test can cut, freeze or slow. */
export interface CutLine {
  readonly port: number;
  /** Resets every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Connections stay open and new ones are accepted, but nothing passes: like a dead firewall. */
  freeze(): void;
  /** Everything passes `delayMs` later; 0: at once. */
  slow(delayMs: number): void;
  /** The next time a client sends `text`, it arrives, and the connection is reset instead of answered. */
  loseAnswerTo(text: string): void;
  /** Ends `cut` or `freeze`; held-back data passes now. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** Not while its end is being sent: Node would leave it open, and the process would spin at its exit and never end. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Opens a line from a new port to `targetPort` of 127.0.0.1. */
export async function openCutLine(targetPort: number): Promise<CutLine> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let isFrozen = false;
  const held: (() => void)[] = [];
  let lost: string | undefined;
  const losing = new Set<Socket>();
  const pass = (to: Socket, data: Buffer): void => {
    const send = (): void => {
      if (isFrozen) held.push(send);
      else if (!to.destroyed) to.write(data);
    };
    if (delayMs > 0) setTimeout(send, delayMs);
    else send();
  };
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on("data", (data: Buffer) => {
      if (losing.delete(from)) reset(to);
      if (lost !== undefined && data.includes(lost)) {
        losing.add(to);
        lost = undefined;
      }
      pass(to, data);
    });
    from.on("error", () => undefined);
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(targetPort, "127.0.0.1");
    join(client, upstream);
    join(upstream, client);
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  const port = await freePort();
  await listen(port);
  const cut = async (): Promise<void> => {
    const closed = server.listening ? once(server, "close") : Promise.resolve();
    server.close();
    for (const socket of sockets) reset(socket);
    await closed;
  };
  return {
    port,
    cut,
    freeze: () => {
      isFrozen = true;
    },
    slow: (ms) => {
      delayMs = ms;
    },
    loseAnswerTo: (text) => {
      lost = text;
    },
    async mend() {
      isFrozen = false;
      for (const send of held.splice(0)) send();
      if (!server.listening) await listen(port);
    },
    close: cut,
  };
}
