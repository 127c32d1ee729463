import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { OwnerKey } from "../../../base/owner.ts";
import { Turns } from "../../../base/fair-queue.ts";
import type { Rush } from "./rush.ts";
import { bucketKey } from "../../../accounts/admission/bucket.ts";

/** New connections that Node gets in one turn of the event loop: about 1 ms. */
const CONNECTIONS_PER_TURN = 8;

/** Connections whose clients have ended them, which Node closes in one turn: about 0.5 ms. */
const CLOSED_PER_TURN = 16;

export interface Reception {
  /** A connection came; false when it was refused. */
  readonly admit: (socket: Socket) => boolean;
  /** Node reads it from now on. */
  readonly begun: (socket: Socket) => void;
  /** Is told of each new connection, and makes other work wait while many come. */
  readonly rush: Rush;
}

type SeeSocket = (socket: Socket) => void;

/**
 * Lets `admit` see each new connection at once; those that may stay get their parser, and then `begun`, in a later turn
 * when many come, address after address. Thousands that come at once would hold everybody up for 0.3 s, and so would
 * thousands that end at once: they are closed in turns, too.
 */
export function welcomeInTurns(server: Server, { admit, begun, rush }: Reception): void {
  const beginning = new Turns(CONNECTIONS_PER_TURN, () => rush.isOn);
  const ending = new Turns(CLOSED_PER_TURN, () => rush.isOn);
  const [give] = server.listeners("connection") as SeeSocket[];
  if (give === undefined) throw new Error("an HTTP server has no listener for connections");
  const begin = (socket: Socket): void => {
    if (socket.destroyed) return; // it made room for another
    give.call(server, socket);
    endInTurn(socket, ending);
    begun(socket);
    socket.resume();
  };
  Object.assign(server, { pauseOnConnect: true }); // an option of net.Server that http does not hand on
  server.off("connection", give);
  server.on("connection", (socket: Socket) => {
    rush.came();
    if (admit(socket) && beginning.take(1, ownerOf(socket), () => begin(socket))) begin(socket);
  });
}

/** Puts off what Node does at the end of a connection; its listener for that is the last. */
function endInTurn(socket: Socket, turns: Turns): void {
  const end = socket.listeners("end").at(-1);
  if (end === undefined) throw new Error("Node has no listener for the end of a connection");
  const close = (): void => {
    // After an answer that ends the connection its parser may serve another.
    if (!socket.destroyed && !socket.writableEnded) end.call(socket);
  };
  socket.off("end", end as () => void);
  socket.once("end", () => {
    if (turns.take(1, ownerOf(socket), close)) close();
  });
}

const ownerOf =
  ({ remoteAddress = "" }: Socket) =>
  (): OwnerKey =>
    bucketKey(remoteAddress);
