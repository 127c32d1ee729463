import type { Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import { setImmediate as nextRound, setTimeout as pause } from "node:timers/promises";

export interface StopLimits {
  /** How long a stopping server takes new connections. */
  readonly farewellMs: number;
  readonly stopTimeoutMs: number;
}

const SWEEP_MS = 50;

/** So many looks without a connection, old or new, say that nobody uses the server. */
const QUIET_LOOKS = 5;

/** Resolves when nobody has used the server for a moment, at the latest at the end of the time. */
async function untilUnused(server: Server, withinMs: number): Promise<void> {
  let quiet = 0;
  server.on("connection", () => (quiet = 0));
  for (let ms = 0; ms < withinMs && quiet < QUIET_LOOKS; ms += SWEEP_MS) {
    const open = await new Promise<number>((resolve) => {
      server.getConnections((_fault, count) => resolve(count));
    });
    quiet = open > 0 ? 0 : quiet + 1;
    await pause(SWEEP_MS);
  }
}

/** With the listener the system cuts what was not accepted yet, so it ends after a round that brought nothing. */
async function untilAccepted(server: Server): Promise<void> {
  let isBusy = true;
  const busy = (): void => void (isBusy = true);
  server.on("connection", busy).on("request", busy);
  for (let rounds = 0; isBusy && rounds < 1_000; rounds += 1) {
    isBusy = false;
    await nextRound();
  }
}

/**
 * A proxy takes a connection that was said to end out of use, and opens another. What it opens while the listener closes the
 * system cuts, and a POST that it brought becomes a 502: so connections are said to end only when there is no listener.
 */
export async function stop(
  app: { readonly stop: () => void },
  server: Server,
  { farewellMs, stopTimeoutMs }: StopLimits,
): Promise<void> {
  app.stop();
  await untilUnused(server, farewellMs);
  await untilAccepted(server);
  const done = new AbortController();
  // Not the method of http: it cuts connections whose first request is on its way.
  NetServer.prototype.close.call(server, () => done.abort());
  server.prependListener("request", (_request, response: ServerResponse) => {
    response.setHeader("connection", "close");
  });
  const cut = setTimeout(() => server.closeAllConnections(), stopTimeoutMs);
  for (let waitMs = farewellMs / 4; !done.signal.aborted; waitMs = SWEEP_MS) {
    // New connections bring their first request in that time.
    await pause(waitMs, undefined, { signal: done.signal }).catch(() => undefined);
    await nextRound(); // reads what came, so that those that are idle now have sent nothing
    server.closeIdleConnections();
  }
  clearTimeout(cut);
  server.close(); // ends its timer
}
