import { splitText } from "../../core/batch/batch-chunk.ts";
import { spellingsMax } from "../../core/batch/count-spellings.ts";
import type { ReadFile } from "../../http/api/bulk/read-file.ts";
import type { Decode } from "../../http/decode.ts";
import { inSlices } from "../../base/slices.ts";
import type { Splitter } from "../../bulk/bulk.ts";
import type { Share } from "../../base/shares.ts";
import { TextThread } from "./text-thread.ts";

/** Reads large texts beside the main thread. */
export interface Texts {
  readonly split: Splitter;
  readonly decode: Decode;
  readonly readFile: ReadFile;
  readonly close: () => Promise<void>;
}

/** Texts up to this length are split in slices where they are, without waiting: about 3,000 entries. */
const INLINE_MAX_UNITS = 65_536;

/** In a thread that lives as long as there are any; lists are split in their owners' turns. */
export function threadTexts(splitting: Share): Texts {
  const thread = new TextThread();
  return {
    async split({ text, layout, owner, entriesMax }) {
      if (text.length <= INLINE_MAX_UNITS) return await inSlices(splitText(text, layout));
      const uniqueMax = entriesMax ?? Infinity;
      const order = { text, layout, uniqueMax, spellingsMax: spellingsMax(uniqueMax) };
      return await splitting.run(owner, () => thread.run("split", order));
    },
    decode: (order) => thread.run("decode", ...given(order)),
    readFile: (order) => thread.run("file", ...given(order)),
    close: () => thread.close(),
  };
}

/** The chunks are taken out of the order, and their memory is given to the thread. */
function given<Order extends { readonly chunks: Uint8Array[] }>(
  order: Order,
): [Order, ArrayBufferLike[]] {
  const chunks = order.chunks.splice(0);
  return [{ ...order, chunks }, chunks.map(({ buffer }) => buffer)];
}
