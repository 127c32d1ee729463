import { Readable } from "node:stream";
import { turn } from "../../base/slices.ts";
import type { Log } from "../../base/log.ts";

/** Text is handed on in pieces of about this many UTF-16 code units. */
const PIECE_UNITS = 65_536;

/** What stands around and between the texts of a body. */
export interface Frame {
  readonly head: string;
  readonly between: string;
  readonly tail: string;
}

/** One text for each item, framed, in pieces of about 64 KiB, independent of the page size. */
export async function* framed<T>(
  pages: AsyncIterable<readonly T[]>,
  write: (item: T) => string,
  { head, between, tail }: Frame,
): AsyncGenerator<string> {
  let text = head;
  let separator = "";
  for await (const page of pages) {
    for (const item of page) {
      text += separator + write(item);
      separator = between;
      if (text.length < PIECE_UNITS) continue;
      yield text;
      text = "";
    }
  }
  yield text + tail;
}

/**
 * A body that is made as fast as the client reads it. A fault in the middle breaks the connection, because the
 * status is already sent; it is logged here.
 */
export function streamed(texts: AsyncGenerator<string>, log: Log): Readable {
  return Readable.from(watched(texts, log), { objectMode: false });
}

async function* watched(texts: AsyncGenerator<string>, log: Log): AsyncGenerator<string> {
  try {
    for await (const text of texts) {
      if (text !== "") yield text;
      // A fast reader would otherwise keep everybody else waiting until its body is whole.
      await turn();
    }
  } catch (error) {
    log.error("http.body_failed", error);
    throw error;
  }
}
