import type { IncomingMessage, ServerResponse } from "node:http";
import { errorBody, EVERY_ANSWER } from "../../../http/answer/answer.ts";
import { JSON_TYPE } from "../../../http/answer/route.ts";
import { addressOf } from "../../../http/api/entering.ts";
import { holdConnection, type HoldTerms } from "../../../http/answer/held-connections.ts";
import type { OwnerKey } from "../../../base/owner.ts";
import { Turns } from "../../../base/fair-queue.ts";
import { bucketKey } from "../../../accounts/admission/bucket.ts";
import type { Head } from "./head.ts";
import type { Rush } from "./rush.ts";
import { type Refusal, serviceFull, tooMuchAtOnce } from "../../../base/refusals.ts";

/** Requests of ordinary size that are begun in one turn of the event loop: about 2 ms. */
export const REQUESTS_PER_TURN = 16;

/** Requests with long targets that wait for their turn: of an address, and of all. 256 of 64 KiB take some 50 MB. */
const LONG_WAITING_PER_OWNER = 8;
const LONG_WAITING_MAX = 256;

/** Of the heads of requests that wait. In one turn Node reads up to 1,024 connections: with 9 KB each that is 150 ms. */
const CROWD_OCTETS = 524_288;

type Size = Pick<Head, "weight" | "octets" | "hasLongTarget">;

/**
 * Begins requests at once, or in a later turn of their client address. One with a long target is refused when many wait:
 * 8,000 of them took 1 GB. `crowded` is called while long heads wait.
 */
export function requestTurns(rush: Rush, crowded: () => void, terms?: HoldTerms) {
  const trustedProxies = terms?.trustedProxies ?? [];
  const turns = new Turns(REQUESTS_PER_TURN, () => rush.isOn);
  let waitingOctets = 0;
  const ownerOf = (request: IncomingMessage): OwnerKey =>
    bucketKey(addressOf(request, { trustedProxies }));
  const wait = (owner: OwnerKey, { weight, octets }: Size, begin: () => void): void => {
    waitingOctets += octets;
    turns.wait(weight, owner, () => {
      waitingOctets -= octets;
      begin();
    });
    if (waitingOctets > CROWD_OCTETS) crowded();
  };
  return (
    request: IncomingMessage,
    response: ServerResponse,
    size: Size,
    begin: () => void,
  ): void => {
    if (size.hasLongTarget && turns.waiting > 0) {
      const isOver = turns.waitingOf(ownerOf(request)) >= LONG_WAITING_PER_OWNER;
      if (isOver || turns.waiting >= LONG_WAITING_MAX) {
        if (terms !== undefined) holdConnection(request.socket, terms);
        refuse(response, isOver ? tooMuchAtOnce() : serviceFull());
        return;
      }
    }
    if (turns.takeIfFree(size.weight)) begin();
    else wait(ownerOf(request), size, begin);
  };
}

/** Answers a request that is not begun, and closes its connection. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { status, message, retryAfterSeconds } = refusal;
  const body = errorBody(message);
  response
    .writeHead(status, {
      ...EVERY_ANSWER,
      "content-type": JSON_TYPE,
      "content-length": String(Buffer.byteLength(body)),
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
      connection: "close",
    })
    .end(body);
}
