import { Refusal } from "../../base/refusals.ts";
import { createShares } from "../../base/shares.ts";
import type { FileSlices, ListOptions, ListPage } from "../../bulk/list-file.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { ReadingThread } from "./reading-thread.ts";

const OWNER = "command";

const TERMS = { heapMb: 512, idleMs: 60_000, isUrgent: true } as const;

/** Reads a file of any length in a thread, a page ahead of who takes the pages. Throws a `TableFault`. */
export async function* threadPages(
  slices: FileSlices,
  options: ListOptions,
): AsyncGenerator<ListPage> {
  const thread = new ReadingThread({ ...TERMS, share: createShares().of("files") });
  const iterator = slices[Symbol.asyncIterator]();
  const slice = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await iterator.next();
    return done === true ? undefined : value;
  };
  const ask = (): Promise<string | undefined> => {
    const work = { name: "page", order: options, what: "The file", octets: 1 } as const;
    const page = thread.run(OWNER, { ...work, source: { slice } });
    page.catch(() => undefined); // it is told when its turn comes
    return page;
  };
  try {
    let ahead = ask();
    for (let page = await ahead; page !== undefined; page = await ahead) {
      ahead = ask();
      yield JSON.parse(page) as ListPage;
    }
  } catch (error) {
    throw error instanceof Refusal ? new TableFault(error.message) : error;
  } finally {
    await thread.close();
  }
}
