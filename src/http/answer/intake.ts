import type { OwnerKey } from "../../base/owner.ts";
import { Turns } from "../../base/fair-queue.ts";
import type { HttpRequest } from "./route.ts";

/** Octets of large bodies that are taken in one turn of the event loop: about 0.5 ms. */
const OCTETS_PER_TURN = 524_288;

/** Refused bodies that wait to be dropped; Node holds up to 64 KiB of each. */
const DROPPED_MAX = 512;
const DROPPED_MAX_OF_OWNER = 16;

const turns = new Turns(OCTETS_PER_TURN);

const dropped = new WeakSet<HttpRequest>();

/** To be called with each chunk of a large body: the next comes when it is its owner's turn. False: `source` waits. */
export function pace(source: HttpRequest, octets: number, owner: OwnerKey): boolean {
  const isNow = turns.take(
    octets,
    () => owner,
    () => source.resume(),
  );
  if (!isNow) source.pause();
  return isNow;
}

/**
 * Reads and drops what is left of a refused body, in its owner's turns, so that the client sees the answer: one that
 * sends first and reads later would be cut off. With too many of them the connection is cut all the same.
 */
export function drop(source: HttpRequest, owner: OwnerKey): void {
  if (dropped.has(source)) return;
  dropped.add(source);
  source.on("data", (chunk: Buffer) => {
    if (pace(source, chunk.length, owner)) return;
    if (turns.waiting > DROPPED_MAX || turns.waitingOf(owner) > DROPPED_MAX_OF_OWNER) {
      source.destroy();
    }
  });
  source.resume();
}
