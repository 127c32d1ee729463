import { dayOf } from "../../core/calendar.ts";
import type { ListRefusal } from "../../ports/list-refresh.ts";
import { CANARIES } from "./canaries.ts";
import { domainOfLine } from "./domain-line.ts";
import { type CopyHead, type HeldName, heldNames, type ListCopy } from "./list-copy.ts";
import { ALWAYS_LISTED, type FetchedSource, KEPT_UNSEEN_DAYS } from "./list-sources.ts";

/** A fetched file with what must be known to judge it. */
export interface Fetched {
  readonly text: string;
  readonly fetchedAtMs: number;
  readonly etag?: string;
  readonly lastModified?: string;
  /** The fetch before was refused because many names had gone. */
  readonly removalSeen: boolean;
}

export type Judgement =
  | { readonly kind: "accepted"; readonly copy: ListCopy }
  | { readonly kind: "refused"; readonly why: ListRefusal; readonly detail?: string };

const VALID_SHARE_MIN = 0.98;
const SHRINK_MIN = 0.8;
const GROWTH_MAX = 1.3;
const REMOVED_SHARE_MAX = 0.05;

/** Decides whether a fetched file replaces `previous`, the last good copy. Pure; linear in the file. */
export function judgeList(
  source: FetchedSource,
  fetched: Fetched,
  previous: ListCopy | undefined,
): Judgement {
  const read = readNames(source, fetched.text);
  if (read.kind === "refused") return read;
  const { names } = read;
  const held = previous === undefined ? NOTHING_HELD : heldBy(previous);
  const refusal =
    oddSize(names.size, source, previous?.head) ??
    oddContent(names, source) ??
    (source.rotating || fetched.removalSeen ? undefined : manyRemoved(names, held));
  if (refusal !== undefined) return refusal;
  return { kind: "accepted", copy: copyOf(names, { source, fetched, previous, held }) };
}

const NOTHING_HELD: ReadonlyMap<string, HeldName> = new Map();

const heldBy = (copy: ListCopy): ReadonlyMap<string, HeldName> =>
  new Map([...heldNames(copy)].map((each) => [each.name, each]));

const refused = (why: ListRefusal, detail?: string): Judgement & { readonly kind: "refused" } =>
  detail === undefined ? { kind: "refused", why } : { kind: "refused", why, detail };

function readNames(
  source: FetchedSource,
  text: string,
): { readonly kind: "read"; readonly names: ReadonlySet<string> } | ReturnType<typeof refused> {
  let lines: readonly string[];
  try {
    lines = source.read(text);
  } catch {
    return refused("not_a_list", "another format");
  }
  const found = lines.map(domainOfLine);
  const names = found.filter((name): name is string => name !== undefined);
  if (lines.length === 0) return refused("not_a_list", "empty");
  const share = names.length / lines.length;
  if (share < VALID_SHARE_MIN) {
    return refused("not_a_list", `${(100 * share).toFixed(1)} % are names`);
  }
  return { kind: "read", names: new Set(names) };
}

function oddSize(size: number, { floor }: FetchedSource, last: CopyHead | undefined) {
  if (size < floor) return refused("below_floor", `${String(size)} names`);
  if (last === undefined) return undefined;
  const ratio = size / last.fetchedNames;
  if (ratio >= SHRINK_MIN && ratio <= GROWTH_MAX) return undefined;
  return refused("size_swing", `${String(last.fetchedNames)} names became ${String(size)}`);
}

function oddContent(names: ReadonlySet<string>, { rotating }: FetchedSource) {
  const canary = CANARIES.find((name) => names.has(name));
  if (canary !== undefined) return refused("holds_provider", canary);
  const missing = ALWAYS_LISTED.find((name) => !names.has(name));
  return missing === undefined || rotating ? undefined : refused("lacks_known", missing);
}

function manyRemoved(names: ReadonlySet<string>, held: ReadonlyMap<string, HeldName>) {
  let removed = 0;
  for (const name of held.keys()) if (!names.has(name)) removed += 1;
  if (removed <= REMOVED_SHARE_MAX * held.size) return undefined;
  return refused("many_removed", `${String(removed)} of ${String(held.size)} names`);
}

interface Making {
  readonly source: FetchedSource;
  readonly fetched: Fetched;
  readonly previous: ListCopy | undefined;
  readonly held: ReadonlyMap<string, HeldName>;
}

function copyOf(names: ReadonlySet<string>, { source, fetched, previous, held }: Making): ListCopy {
  const today = dayOf(fetched.fetchedAtMs);
  const baseDay = previous?.head.baseDay ?? today;
  const lines: string[] = [];
  const add = (name: string, sinceDay: number, seenDay: number): void => {
    const isPlain = sinceDay === baseDay && !source.rotating;
    lines.push(isPlain ? name : `${name} ${String(sinceDay)} ${String(seenDay)}`);
  };
  for (const name of names) add(name, held.get(name)?.sinceDay ?? today, today);
  if (source.rotating) {
    for (const { name, sinceDay, seenDay } of held.values()) {
      if (!names.has(name) && today - seenDay < KEPT_UNSEEN_DAYS) add(name, sinceDay, seenDay);
    }
  }
  const figures = { baseDay, fetchedNames: names.size, names: lines.length };
  return { head: headOf(source.id, fetched, figures), lines };
}

function headOf(
  id: string,
  { fetchedAtMs, etag, lastModified }: Fetched,
  figures: Pick<CopyHead, "baseDay" | "fetchedNames" | "names">,
): CopyHead {
  return {
    id,
    fetchedAtMs,
    ...figures,
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { lastModified }),
  };
}
