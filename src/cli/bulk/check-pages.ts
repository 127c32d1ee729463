import { type FullResult, isInconclusive } from "../../core/validate/result.ts";
import type { EntryCheck } from "../../service/bulk/entry-check.ts";
import { Places } from "../../ports/process/places.ts";
import type { SourceEntry, SourcePage } from "./entry-source.ts";
import type { CheckedEntry } from "./entry-writer.ts";

/** Judges entries on a DNS client that has patience. */
export interface BulkChecker {
  readonly check: EntryCheck;
  /** Undefined while the resolver takes questions, else a promise of that. */
  readonly room: () => Promise<void> | undefined;
  readonly close: () => Promise<void>;
}

export interface CheckedPage {
  readonly header: readonly string[];
  readonly entries: readonly CheckedEntry[];
}

/** Entries judged together. */
const BLOCK_ENTRIES = 500;

/** Blocks under way: enough that a few slow names hold up nobody, and few enough to fit in memory. */
const BLOCKS_MAX = 16;

/** Names asked once more at the same time. */
const AGAIN_MAX = 400;

/** The command line has every check that costs no lookup of its own. */
const SPAM_TRAP = true;

/**
 * Judges the entries behind the first `skip`, many at once, and gives them back in their order. After `stop` no
 * more are begun; those under way still come.
 */
export async function* checkPages(
  pages: AsyncIterable<SourcePage>,
  { check, room }: BulkChecker,
  { skip, stop }: { readonly skip: number; readonly stop: AbortSignal },
): AsyncGenerator<CheckedPage> {
  const again = new Places(AGAIN_MAX);
  const open: Promise<CheckedPage>[] = [];
  let fault: unknown;
  try {
    for await (const block of blocks(pages, skip)) {
      if (stop.aborted) break;
      const checked = checkBlock(block, { check, room, again });
      checked.catch(() => undefined); // told when its turn comes
      open.push(checked);
      if (open.length >= BLOCKS_MAX) yield await next(open);
    }
  } catch (error) {
    fault = error; // of the input: what was read before it is worth having
  }
  while (open.length > 0) yield await next(open);
  // An input that is cut short by `stop` may end in the middle of anything.
  if (fault !== undefined && !stop.aborted) throw fault;
}

async function next(open: Promise<CheckedPage>[]): Promise<CheckedPage> {
  return (await open.shift()) ?? { header: [], entries: [] };
}

/** Cuts pages into blocks, less what is skipped. An empty page tells its header. */
async function* blocks(pages: AsyncIterable<SourcePage>, skip: number): AsyncGenerator<SourcePage> {
  let left = skip;
  for await (const { header, entries } of pages) {
    const passed = Math.min(left, entries.length);
    left -= passed;
    if (entries.length === 0) yield { header, entries };
    for (let at = passed; at < entries.length; at += BLOCK_ENTRIES) {
      yield { header, entries: entries.slice(at, at + BLOCK_ENTRIES) };
    }
  }
}

interface Checking extends Pick<BulkChecker, "check" | "room"> {
  /** For the second pass, shared by all blocks under way. */
  readonly again: Places;
}

/** Judges a block, then once more those entries that nobody could say anything of. */
async function checkBlock(
  { header, entries }: SourcePage,
  { check, room, again }: Checking,
): Promise<CheckedPage> {
  const open: Promise<CheckedEntry>[] = [];
  for (const source of entries) {
    const wait = room();
    if (wait !== undefined) await wait;
    open.push(checkEntry(source, check));
  }
  const checked = await Promise.all(open);
  const settled = checked.map(async (each) =>
    each.result !== undefined && isInconclusive(each.result)
      ? again.hold(() => checkEntry(each, check, { again: true }))
      : each,
  );
  return { header, entries: await Promise.all(settled) };
}

async function checkEntry(
  source: SourceEntry,
  check: EntryCheck,
  options: { readonly again?: true } = {},
): Promise<CheckedEntry> {
  if (source.entry === "") return source;
  const result: FullResult = await check(source.entry, { spamTrap: SPAM_TRAP, ...options });
  return { ...source, result };
}
