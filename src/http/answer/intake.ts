import type { OwnerKey } from "../../ports/admission/owner.ts";
import { SMALL_BODY_OCTETS } from "../../ports/sharing/resources.ts";
import { Turns } from "../../ports/sharing/turns.ts";
import type { HttpRequest } from "./route.ts";

/** Octets of large bodies that are taken in one turn of the event loop: about 0.5 ms. */
const OCTETS_PER_TURN = 524_288;

/** Refused bodies that wait to be dropped; Node holds up to 64 KiB of each. */
const DROPPED_MAX = 512;
const DROPPED_MAX_OF_OWNER = 16;

const turns = new Turns(OCTETS_PER_TURN);

const MIB = 1_048_576;

/**
 * Of large refused bodies: 16 MiB/s after the first 32 MiB. Of a flood almost all is refused; read as fast as it comes,
 * it would keep the thread busy with buffers of 64 KiB and with collecting them.
 */
const DROP_RATE = {
  burst: 32 * MIB,
  more: MIB / 2,
  everyMs: 1_000 / 32,
  after: (delayMs: number, task: () => void) => void setTimeout(task, delayMs).unref(),
};

const dropTurns = new Turns(OCTETS_PER_TURN, DROP_RATE);

const dropped = new WeakSet<HttpRequest>();

/** To be called with each chunk of a large body: the next comes when it is its owner's turn. */
export function pace(source: HttpRequest, octets: number, owner: OwnerKey): boolean {
  return takeTurn(turns, source, { octets, owner });
}

/** False: `source` waits. */
function takeTurn(among: Turns, source: HttpRequest, { octets, owner }: Chunk): boolean {
  const isNow = among.take(
    octets,
    () => owner,
    () => source.resume(),
  );
  if (!isNow) source.pause();
  return isNow;
}

interface Chunk {
  readonly octets: number;
  readonly owner: OwnerKey;
}

/**
 * Reads and drops what is left of a refused body, in its owner's turns, so that the client sees the answer: one that
 * sends first and reads later would be cut off. With too many of them the connection is cut all the same.
 */
export function drop(source: HttpRequest, owner: OwnerKey): void {
  if (dropped.has(source)) return;
  dropped.add(source);
  const isSmall = Number(source.headers["content-length"] ?? Infinity) <= SMALL_BODY_OCTETS;
  const among = isSmall ? turns : dropTurns;
  source.on("data", ({ length: octets }: Buffer) => {
    if (takeTurn(among, source, { octets, owner })) return;
    if (among.waiting > DROPPED_MAX || among.waitingOf(owner) > DROPPED_MAX_OF_OWNER) {
      source.destroy();
    }
  });
  source.resume();
}
