import { type Pocket, POCKET_MAX_BYTES, readPocket } from "./pocket.ts";
import { ask, refusal, startDeadline } from "./question.ts";
import { GatepostError } from "./results.ts";

export interface PocketOptions {
  /** What an earlier process saved, or what came with the application. */
  readonly file?: Uint8Array;
  /** Called with each new list, to save it. */
  readonly save?: (file: Uint8Array) => void;
}

export interface PocketKeeper {
  /** False without a list; never throws. */
  lists(email: unknown): boolean;
  /** Starts to fetch the list if it is time to; returns at once. */
  keepFresh(): void;
  refresh(): Promise<boolean>;
}

export interface PocketPlace {
  readonly url: string;
  readonly fetched: typeof fetch;
  readonly told: (fault: GatepostError) => void;
  readonly nowMs: () => number;
}

const FRESH_MS = 3_600_000;
const AGAIN_MS = 60_000;
const FETCH_MS = 10_000;

const NONE: PocketKeeper = {
  lists: () => false,
  keepFresh: () => undefined,
  refresh: () => Promise.resolve(false),
};

/** Throws a TypeError for a `file` that is not a pocket list. */
export function createPocketKeeper(
  place: PocketPlace,
  options: PocketOptions | false = {},
): PocketKeeper {
  if (options === false) return NONE;
  let held: Pocket | undefined = options.file && readPocket(options.file);
  let etag = "";
  let nextMs = 0;
  let fetching: Promise<boolean> | undefined;
  const fetchList = async (): Promise<boolean> => {
    const deadline = startDeadline(FETCH_MS);
    nextMs = Infinity;
    let waitMs = AGAIN_MS;
    try {
      const headers = etag === "" ? {} : { "if-none-match": etag };
      const question = { url: place.url, headers, maxBytes: POCKET_MAX_BYTES };
      const answer = await ask(question, deadline, place.fetched);
      if (answer.status !== 304) {
        if (answer.status !== 200) throw refusal(answer.status, answer.headers, answer.bytes);
        held = readPocket(answer.bytes);
        etag = answer.headers.get("etag") ?? "";
        options.save?.(answer.bytes);
      }
      waitMs = FRESH_MS;
      return true;
    } catch (error) {
      const isOurs = error instanceof GatepostError;
      place.told(isOurs ? error : new GatepostError("answer", String(error), { cause: error }));
      return false;
    } finally {
      nextMs = place.nowMs() + waitMs;
      deadline.clear();
      fetching = undefined;
    }
  };
  const refresh = (): Promise<boolean> => (fetching ??= fetchList());
  return {
    lists: (email) => typeof email === "string" && (held?.lists(email) ?? false),
    keepFresh() {
      if (place.nowMs() >= nextMs) void refresh();
    },
    refresh,
  };
}
