import type { Shares } from "../../base/shares.ts";
import { inSlices } from "../../base/slices.ts";
import type { Splitter } from "../../bulk/bulk.ts";
import type { ReadsLists } from "../../bulk/list-reader.ts";
import type { ListOrder, ListSource } from "../../bulk/list-view.ts";
import { splitText } from "../../core/batch/batch-chunk.ts";
import type { ReadFile } from "../../http/api/read-file.ts";
import type { Decode } from "../../http/decode.ts";
import { ReadingThread, type ThreadTerms } from "./reading-thread.ts";

export interface Texts {
  readonly split: Splitter;
  readonly decode: Decode;
  readonly readFile: ReadFile;
  readonly lists: ReadsLists;
  readonly close: () => Promise<void>;
}

/** Texts up to this length are split in slices where they are, without waiting: about 3,000 entries. */
const INLINE_MAX_UNITS = 65_536;

/** A large text leaves some 60 MB that an idle thread would keep. */
const IDLE_MS = 5_000;

/** Lists that were read stay in memory as long. */
const LISTS_IDLE_MS = 120_000;

const THREADS = {
  texts: { heapMb: 192, idleMs: IDLE_MS },
  files: { heapMb: 320, idleMs: IDLE_MS },
  lists: { heapMb: 384, idleMs: LISTS_IDLE_MS },
} as const;

/** A thread each for the texts in requests, for uploaded files, and for lists of the dashboard. */
export function threadTexts(
  shares: Pick<Shares, "of">,
  terms: Partial<Pick<ThreadTerms, "limitMs" | "heapMb">> = {},
): Texts {
  const launch = (name: keyof typeof THREADS): ReadingThread =>
    new ReadingThread({ share: shares.of(name), ...THREADS[name], ...terms });
  const [texts, files, lists] = [launch("texts"), launch("files"), launch("lists")];
  return {
    async split({ text, owner, entriesMax }) {
      const uniqueMax = entriesMax ?? Infinity;
      if (text.length <= INLINE_MAX_UNITS) return await inSlices(splitText(text, uniqueMax));
      const order = { text, uniqueMax };
      return await texts.run(owner, { name: "split", order, what: LIST, octets: text.length });
    },
    decode: (order, owner) => texts.run(owner, { name: "decode", what: LIST, ...given(order) }),
    readFile: (order, owner) =>
      files.run(owner, { name: "file", what: shown(order.options.name), ...given(order) }),
    lists: {
      facts: (order, source) => lists.run(order.owner, { name: "facts", ...of(order, source) }),
      rows: (order, source) => lists.run(order.owner, { name: "rows", ...of(order, source) }),
      entries: (order, source) => lists.run(order.owner, { name: "entries", ...of(order, source) }),
      fixed: (order, source) => lists.run(order.owner, { name: "fixed", ...of(order, source) }),
      piece: (order, source) => lists.run(order.owner, { name: "piece", ...of(order, source) }),
    },
    close: async () => {
      await Promise.all([texts.close(), files.close(), lists.close()]);
    },
  };
}

const LIST = "The list";
const NAME_MAX = 100;

const shown = (name = ""): string =>
  name.replaceAll(/\p{Cc}/gu, "").slice(0, NAME_MAX) || "The file";

/** Reading the results of a chunk again, which we wrote ourselves, takes up to this. */
const CHUNK_MS = 50;

function of<Order extends ListOrder>(order: Order, source: ListSource) {
  const { options, octets, sessions } = order;
  const chunks = sessions.reduce((sum, run) => sum + run.chunks, 0);
  return { order, source, what: shown(options.name), octets, moreMs: chunks * CHUNK_MS };
}

/** The chunks are taken out of the order, and their memory is given to the thread. */
function given<Order extends { readonly chunks: Uint8Array[] }>(order: Order) {
  const chunks = order.chunks.splice(0);
  const octets = chunks.reduce((sum, { length }) => sum + length, 0);
  return { order: { ...order, chunks }, transfer: chunks.map(({ buffer }) => buffer), octets };
}
