import { addressBalance, entryNote, withNote } from "../../core/batch/result-cells.ts";
import { type FullResult, isInconclusive } from "../../core/validate/result.ts";
import type { EntryCheck } from "../../bulk/jobs/entry-check.ts";
import { createShares, type Share } from "../../base/shares.ts";
import { keyOf } from "../../core/batch/batch.ts";
import type { ListRow } from "../../core/batch/list-table.ts";
import type { ListPage } from "../../bulk/files/list-file.ts";
import type { CheckedRow } from "./entry-writer.ts";

/** Checks entries with a DNS client that waits longer than a single check does. */
export interface CommandBulkChecker {
  readonly check: EntryCheck;
  /** Undefined while the resolver accepts questions; otherwise resolves when it does. */
  readonly room: () => Promise<void> | undefined;
  readonly close: () => Promise<void>;
}

export interface CheckedPage extends Pick<ListPage, "shape"> {
  readonly rows: readonly CheckedRow[];
}

const BLOCK_ENTRIES = 500;

/** Blocks checked at once: enough that a few slow names delay no other block, few enough to fit in memory. */
const BLOCKS_MAX = 16;

const AGAIN = { total: 400, perOwner: 400, queuePerOwner: Infinity };

const OWNER = "command";

/** The command line runs every check that needs no lookup of its own. */
const SPAM_TRAP = true;

/**
 * Checks the entries, many at once, and yields them in their order. After `stop` it starts no more; those
 * already started are still yielded.
 */
export async function* checkPages(
  pages: AsyncIterable<ListPage>,
  { check, room }: CommandBulkChecker,
  stop: AbortSignal,
): AsyncGenerator<CheckedPage> {
  const again = createShares(undefined, { again: AGAIN }).of("again");
  const open: Promise<CheckedPage>[] = [];
  let fault: unknown;
  try {
    for await (const block of blocks(pages)) {
      if (stop.aborted) break;
      const checked = checkBlock(block, { check, room, again });
      checked.catch(() => undefined); // `next` reports the fault when the block's turn comes
      open.push(checked);
      if (open.length >= BLOCKS_MAX) yield await next(open);
    }
  } catch (error) {
    fault = error; // the input is broken: yield what was read before the fault
  }
  while (open.length > 0) yield await next(open);
  // After `stop` the input may end anywhere, so its fault means nothing.
  if (fault !== undefined && !stop.aborted) throw fault;
}

async function next(open: Promise<CheckedPage>[]): Promise<CheckedPage> {
  const page = await open.shift();
  if (page === undefined) throw new Error("no block is open");
  return page;
}

interface Block extends Pick<ListPage, "shape"> {
  readonly rows: readonly (ListRow & { readonly isDuplicate: boolean })[];
}

/** Cuts pages into blocks and marks rows whose entries all came before. An empty page is kept for its header. */
async function* blocks(pages: AsyncIterable<ListPage>): AsyncGenerator<Block> {
  const seen = new Set<string>();
  const marked = (row: ListRow): Block["rows"][number] => {
    const fresh = row.entries.map(keyOf).filter((key) => seen.size < seen.add(key).size);
    return { ...row, isDuplicate: row.entries.length > 0 && fresh.length === 0 };
  };
  for await (const { shape, rows } of pages) {
    if (rows.length === 0) yield { shape, rows: [] };
    for (let at = 0; at < rows.length; at += BLOCK_ENTRIES) {
      yield { shape, rows: rows.slice(at, at + BLOCK_ENTRIES).map(marked) };
    }
  }
}

/** Checks a block, then once more those entries that DNS did not answer for. */
async function checkBlock(
  { shape, rows }: Block,
  { check, room, again }: Pick<CommandBulkChecker, "check" | "room"> & { readonly again: Share },
): Promise<CheckedPage> {
  const entries = rows.flatMap((row) => row.entries);
  const begun: Promise<FullResult>[] = [];
  for (const entry of entries) {
    const wait = room();
    if (wait !== undefined) await wait;
    const result = check(entry, { spamTrap: SPAM_TRAP });
    result.catch(() => undefined); // `Promise.all` reports it
    begun.push(result);
  }
  const checked = await Promise.all(begun);
  const finished = await Promise.all(
    checked.map(async (result, at) =>
      isInconclusive(result)
        ? await again.run(OWNER, () =>
            check(entries[at] ?? "", { spamTrap: SPAM_TRAP, again: true }),
          )
        : result,
    ),
  );
  const among = addressBalance(entries) > 0 ? "addresses" : "anything";
  const noted = finished.map((result, at) => {
    const note = entryNote(entries[at] ?? "", among);
    return note === undefined ? result : withNote(result, note);
  });
  let at = 0;
  return {
    shape,
    rows: rows.map((row) => ({ ...row, results: noted.slice(at, (at += row.entries.length)) })),
  };
}
