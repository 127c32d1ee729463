import type { Clock } from "../../base/clock.ts";
import { isTrustedProxy, type TrustedProxies } from "../request/client-address.ts";
import type { HttpRequest } from "./route.ts";

type Socket = HttpRequest["socket"];

export interface HoldTerms {
  readonly clock: Pick<Clock, "after">;
  /** Their connections carry the requests of many, and are closed at once. */
  readonly trustedProxies: TrustedProxies;
}

const HELD_MS = 10_000;

const held = new WeakSet<Socket>();

/** Whether this connection has its last answer and waits to be closed. What else comes on it is not to be served. */
export const isHeld = (socket: Socket): boolean => held.has(socket);

/**
 * To be called before an answer with `connection: close` that refuses for want of room. The client has its answer at
 * once, but the connection is closed 10 s later and counts as its address's until then. Of 10,000 connections that were
 * closed at once and opened again each second, their opening took all of a core.
 */
export function holdConnection(socket: Socket, { clock, trustedProxies }: HoldTerms): void {
  if (held.has(socket) || isTrustedProxy(socket.remoteAddress ?? "", trustedProxies)) return;
  held.add(socket);
  const close = socket.destroySoon.bind(socket); // what Node calls when such an answer is sent
  socket.destroySoon = () => {
    const callOff = clock.after(HELD_MS, close);
    socket.once("close", callOff);
  };
}
