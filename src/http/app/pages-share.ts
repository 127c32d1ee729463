import type { OwnerKey } from "../../base/owner.ts";
import { Turns } from "../../base/fair-queue.ts";
import { RESOURCES } from "../../base/resources.ts";
import { type Hold, NoRoom, type Share } from "../../base/shares.ts";
import { bucketKey } from "../../accounts/admission/bucket.ts";
import { EVERY_ANSWER, refused } from "../answer/answer.ts";
import { holdConnection, type HoldTerms, isHeld } from "../answer/held-connections.ts";
import type { HttpRequest, HttpResponse } from "../answer/route.ts";
import { addressOf } from "../api/entering.ts";

export interface PageTerms extends HoldTerms {
  /** Of pages. */
  readonly share: Share;
}

/** In one turn of the event loop: a document takes 0.1 ms, and up to 1 ms where its client does not read. */
const PAGES_PER_TURN = 2;

/** They cost little, and a health check never waits behind large work. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

const WAITING_PER_OWNER = RESOURCES.pages.perOwner;

type Socket = HttpRequest["socket"];

type Serve = (request: HttpRequest, response: HttpResponse) => void;

/**
 * Serves what is outside `/api` within a share: nobody counts those requests, and an answer that its client does not
 * read stays in memory.
 */
export function sharedPages(serve: Serve, terms: PageTerms): Serve {
  const { share, trustedProxies } = terms;
  const held = new WeakMap<Socket, Set<Hold>>();
  const holdsOf = (socket: Socket): Set<Hold> => {
    const known = held.get(socket);
    if (known !== undefined) return known;
    const holds = new Set<Hold>();
    held.set(socket, holds);
    // An answer that waits behind another is not told when its connection ends.
    socket.once("close", () => holds.forEach((hold) => hold.release()));
    return holds;
  };
  const refuse = (socket: Socket, response: HttpResponse, error: unknown): void => {
    const { status = 500, type, body, headers } = refused(error, undefined);
    // Closed, so that nothing is served of the requests behind it.
    holdConnection(socket, terms);
    const all = { ...EVERY_ANSWER, ...headers, "content-type": type, connection: "close" };
    response.writeHead(status, all).end(body);
  };
  const begin = (owner: OwnerKey, request: HttpRequest, response: HttpResponse): void => {
    const { socket } = request;
    if (socket.destroyed || isHeld(socket)) return; // it waited
    let hold: Hold;
    try {
      hold = share.take(owner, 1, { reclaim: () => socket.destroy() });
    } catch (error) {
      refuse(socket, response, error);
      return;
    }
    const holds = holdsOf(socket).add(hold);
    response.once("close", () => {
      holds.delete(hold);
      hold.release();
    });
    serve(request, response);
  };
  const turns = new Turns(PAGES_PER_TURN);
  return (request, response) => {
    const owner = bucketKey(addressOf(request, { trustedProxies }));
    const serveNow = (): void => begin(owner, request, response);
    if (PROBES.has(request.url ?? "")) {
      serveNow();
      return;
    }
    if (turns.waitingOf(owner) >= WAITING_PER_OWNER) {
      refuse(request.socket, response, new NoRoom("pages", "owner"));
      return;
    }
    if (turns.take(1, () => owner, serveNow)) serveNow();
  };
}
