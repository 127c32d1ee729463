import { splitText } from "../../core/batch/batch-chunk.ts";
import { spellingsMax } from "../../core/batch/spellings.ts";
import type { ReadFile } from "../../http/api/read-file.ts";
import type { Decode } from "../../http/request/decode.ts";
import { inSlices, turn } from "../../http/request/slices.ts";
import type { Splitter } from "../../ports/bulk/splitter.ts";
import type { Share } from "../../ports/sharing/share.ts";
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
    decode: (order) => thread.run("decode", order, [order.bytes.buffer]),
    async readFile({ chunks, options }) {
      const copies = await copied(chunks);
      return await thread.run("file", { chunks: copies, options }, copies.map(bufferOf));
    },
    close: () => thread.close(),
  };
}

/** Chunks that are copied between two turns of other requests: about 1 ms. */
const COPIED_PER_TURN = 16;

/** In memory of their own: that of a chunk may hold a part of another request. The chunks are taken out. */
async function copied(chunks: Uint8Array[]): Promise<Uint8Array[]> {
  const copies: Uint8Array[] = [];
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    copies.push(new Uint8Array(chunk));
    if (copies.length % COPIED_PER_TURN === 0) await turn();
  }
  return copies;
}

const bufferOf = ({ buffer }: Uint8Array): ArrayBufferLike => buffer;
