import { type FullResult, isInconclusive } from "../../core/validate/result.ts";
import type { Judge } from "../../service/bulk/judge.ts";
import { Places } from "../../ports/process/places.ts";
import type { SourceEntry, SourcePage } from "./entry-source.ts";
import type { JudgedEntry } from "./entry-writer.ts";

/** Judges entries on a DNS client that has patience. */
export interface BulkJudge {
  readonly judge: Judge;
  /** Undefined while the resolver takes questions, else a promise of that. */
  readonly room: () => Promise<void> | undefined;
  readonly close: () => Promise<void>;
}

export interface JudgedPage {
  readonly header: readonly string[];
  readonly entries: readonly JudgedEntry[];
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
export async function* judgePages(
  pages: AsyncIterable<SourcePage>,
  { judge, room }: BulkJudge,
  { skip, stop }: { readonly skip: number; readonly stop: AbortSignal },
): AsyncGenerator<JudgedPage> {
  const again = new Places(AGAIN_MAX);
  const open: Promise<JudgedPage>[] = [];
  let fault: unknown;
  try {
    for await (const block of blocks(pages, skip)) {
      if (stop.aborted) break;
      const judged = judgeBlock(block, { judge, room, again });
      judged.catch(() => undefined); // told when its turn comes
      open.push(judged);
      if (open.length >= BLOCKS_MAX) yield await next(open);
    }
  } catch (error) {
    fault = error; // of the input: what was read before it is worth having
  }
  while (open.length > 0) yield await next(open);
  // An input that is cut short by `stop` may end in the middle of anything.
  if (fault !== undefined && !stop.aborted) throw fault;
}

async function next(open: Promise<JudgedPage>[]): Promise<JudgedPage> {
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

interface Judging extends Pick<BulkJudge, "judge" | "room"> {
  /** For the second pass, shared by all blocks under way. */
  readonly again: Places;
}

/** Judges a block, then once more those entries that nobody could say anything of. */
async function judgeBlock(
  { header, entries }: SourcePage,
  { judge, room, again }: Judging,
): Promise<JudgedPage> {
  const open: Promise<JudgedEntry>[] = [];
  for (const source of entries) {
    const wait = room();
    if (wait !== undefined) await wait;
    open.push(judgeEntry(source, judge));
  }
  const judged = await Promise.all(open);
  const settled = judged.map(async (each) =>
    each.result !== undefined && isInconclusive(each.result)
      ? again.hold(() => judgeEntry(each, judge, { again: true }))
      : each,
  );
  return { header, entries: await Promise.all(settled) };
}

async function judgeEntry(
  source: SourceEntry,
  judge: Judge,
  options: { readonly again?: true } = {},
): Promise<JudgedEntry> {
  if (source.entry === "") return source;
  const result: FullResult = await judge(source.entry, { spamTrap: SPAM_TRAP, ...options });
  return { ...source, result };
}
