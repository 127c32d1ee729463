import type { Hold } from "../../ports/sharing/hold.ts";
import type { Share } from "../../ports/sharing/share.ts";
import { bucketKey } from "../../service/admission/bucket.ts";
import { EVERY_ANSWER, refused } from "../answer/answer.ts";
import type { HttpRequest, HttpResponse } from "../answer/route.ts";
import { addressOf } from "../api/entering.ts";
import type { TrustedProxies } from "../request/client-address.ts";

export interface PageTerms {
  /** Of pages. */
  readonly share: Share;
  readonly trustedProxies: TrustedProxies;
}

type Socket = HttpRequest["socket"];

type Serve = (request: HttpRequest, response: HttpResponse) => void;

/**
 * Serves what is outside `/api` within a share: nobody counts those requests, and an answer that its client does not
 * read stays in memory.
 */
export function sharedPages(serve: Serve, { share, trustedProxies }: PageTerms): Serve {
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
  return (request, response) => {
    const { socket } = request;
    const owner = bucketKey(addressOf(request, { trustedProxies }));
    let hold: Hold;
    try {
      hold = share.take(owner, 1, { reclaim: () => socket.destroy() });
    } catch (error) {
      const { status = 500, type, body, headers } = refused(error, undefined);
      // Closed, so that nothing is parsed of the requests behind it.
      const all = { ...EVERY_ANSWER, ...headers, "content-type": type, connection: "close" };
      response.writeHead(status, all).end(body);
      return;
    }
    const holds = holdsOf(socket).add(hold);
    response.once("close", () => {
      holds.delete(hold);
      hold.release();
    });
    serve(request, response);
  };
}
