import { addressBalance, entryNote, withNote } from "../../core/batch/entry-note.ts";
import { isInconclusive } from "../../core/validate/result.ts";
import type { EntryCheck } from "../../service/bulk/worker/entry-check.ts";
import { checkAll } from "../../service/bulk/worker/check-all.ts";
import { Places } from "../../ports/process/places.ts";
import type { SourceEntry, SourcePage } from "./entry-source.ts";
import type { CheckedEntry } from "./entry-writer.ts";

/** Checks entries with a DNS client that waits longer than a single check does. */
export interface BulkChecker {
  readonly check: EntryCheck;
  /** Undefined while the resolver accepts questions; otherwise resolves when it does. */
  readonly room: () => Promise<void> | undefined;
  readonly close: () => Promise<void>;
}

export interface CheckedPage extends Omit<SourcePage, "entries"> {
  readonly entries: readonly CheckedEntry[];
}

/** Entries checked together. */
const BLOCK_ENTRIES = 500;

/** Blocks checked at once: enough that a few slow names delay no other block, few enough to fit in memory. */
const BLOCKS_MAX = 16;

/** Names of the second pass asked at once. */
const AGAIN_MAX = 400;

/** The command line runs every check that needs no lookup of its own. */
const SPAM_TRAP = true;

/**
 * Checks the entries, many at once, and yields them in their order. After `stop` it starts no more; those
 * already started are still yielded.
 */
export async function* checkPages(
  pages: AsyncIterable<SourcePage>,
  { check, room }: BulkChecker,
  stop: AbortSignal,
): AsyncGenerator<CheckedPage> {
  const again = new Places(AGAIN_MAX);
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
  return (await open.shift()) ?? { header: [], entries: [] };
}

/** Cuts pages into blocks. An empty page is yielded for its header. */
async function* blocks(pages: AsyncIterable<SourcePage>): AsyncGenerator<SourcePage> {
  for await (const { entries, ...table } of pages) {
    if (entries.length === 0) yield { ...table, entries };
    for (let at = 0; at < entries.length; at += BLOCK_ENTRIES) {
      yield { ...table, entries: entries.slice(at, at + BLOCK_ENTRIES) };
    }
  }
}

interface Checking extends Pick<BulkChecker, "check" | "room"> {
  /** Limits the second pass of all running blocks together. */
  readonly again: Places;
}

/** Checks a block, then once more those entries that DNS did not answer for. */
async function checkBlock(
  { entries, ...table }: SourcePage,
  { check, room, again }: Checking,
): Promise<CheckedPage> {
  const checked = await checkAll(entries, (source) => checkEntry(source, check), room);
  const settled = checked.map(async (each) =>
    each.result !== undefined && isInconclusive(each.result)
      ? again.hold(() => checkEntry(each, check, { again: true }))
      : each,
  );
  return { ...table, entries: withNotes(await Promise.all(settled)) };
}

function withNotes(entries: readonly CheckedEntry[]): readonly CheckedEntry[] {
  const texts = entries.map(({ entry }) => entry).filter((entry) => entry !== "");
  const among = addressBalance(texts) > 0 ? "addresses" : "anything";
  return entries.map((each) => {
    const note = each.result === undefined ? undefined : entryNote(each.entry, among);
    if (note === undefined || each.result === undefined) return each;
    return { ...each, result: withNote(each.result, note) };
  });
}

async function checkEntry(
  source: SourceEntry,
  check: EntryCheck,
  options: { readonly again?: true } = {},
): Promise<CheckedEntry> {
  if (source.entry === "") return source;
  const heard = await check(source.entry, { spamTrap: SPAM_TRAP, ...options });
  return { ...source, result: heard.conclude() };
}
