import { dayOf } from "../../core/calendar.ts";
import { BEST_KNOWN_PROVIDERS } from "../../core/tables/data.ts";
import type { ListRefusal } from "../feed-refresh.ts";
import { domainOfLine } from "../sources/domain-line.ts";
import { type CopyHead, type HeldName, heldNames, type FeedCopy } from "../files/feed-copy.ts";
import { ALWAYS_LISTED, type FetchedSource, KEPT_UNSEEN_DAYS } from "../sources/feed-sources.ts";

/** A fetched file with what must be known to test it. */
export interface Fetched {
  readonly text: string;
  readonly fetchedAtMs: number;
  readonly etag?: string;
  readonly lastModified?: string;
  /** The fetch before was refused because many names had gone. */
  readonly removalSeen: boolean;
  /** The operator confirms the change: size and removals are not tested. */
  readonly isConfirmed: boolean;
}

export type Judgement =
  | { readonly kind: "accepted"; readonly copy: FeedCopy }
  | { readonly kind: "refused"; readonly why: ListRefusal; readonly detail?: string };

const VALID_SHARE_MIN = 0.98;
const SHRINK_MIN = 0.8;
const GROWTH_MAX = 1.3;
const REMOVED_SHARE_MAX = 0.05;

/** Decides whether a fetched file replaces `previous`, the last good copy. Pure; linear in the file. */
export function assessFeed(
  source: FetchedSource,
  fetched: Fetched,
  previous: FeedCopy | undefined,
): Judgement {
  const read = readNames(source, fetched.text);
  if (read.kind === "refused") return read;
  const { names } = read;
  const held = heldBefore(source, previous);
  const refusal =
    fewNames(names.size, source) ??
    oddContent(names, source) ??
    (fetched.isConfirmed ? undefined : swing(names.size, previous?.head)) ??
    (isRemovalFine(source, fetched) ? undefined : manyRemoved(source.id, names, held));
  if (refusal !== undefined) return refusal;
  return { kind: "accepted", copy: copyOf(names, { source, fetched, previous, held }) };
}

/** Whether a copy that another machine accepted could have been accepted here, when it was its first. */
export function isTrusted(source: FetchedSource, copy: FeedCopy): boolean {
  const names = new Set<string>();
  for (const { name, sinceDay, seenDay } of heldNames(copy)) {
    if (domainOfLine(name) !== name || !isDay(sinceDay) || !isDay(seenDay)) return false;
    names.add(name);
  }
  const size = Math.min(names.size, copy.head.fetchedNames);
  return (fewNames(size, source) ?? oddContent(names, source)) === undefined;
}

const isDay = (day: number): boolean => Number.isSafeInteger(day) && day >= 0;

/** What the list held before this fetch: its last copy, in its absence the names that came with the release. */
function heldBefore(
  { seed }: FetchedSource,
  previous: FeedCopy | undefined,
): ReadonlyMap<string, HeldName> {
  const names = previous === undefined ? (seed?.() ?? []) : heldNames(previous);
  return new Map(Array.from(names, (each) => [each.name, each]));
}

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

const isRemovalFine = (
  { rotating }: FetchedSource,
  { removalSeen, isConfirmed }: Fetched,
): boolean => rotating || removalSeen || isConfirmed;

function fewNames(size: number, { floor }: FetchedSource) {
  return size < floor ? refused("below_floor", `${String(size)} names`) : undefined;
}

function swing(size: number, last: CopyHead | undefined) {
  if (last === undefined) return undefined;
  const ratio = size / last.fetchedNames;
  if (ratio >= SHRINK_MIN && ratio <= GROWTH_MAX) return undefined;
  const change = `${String(last.fetchedNames)} names became ${String(size)}`;
  return refused("size_swing", `${change}; if that is right: ${wayOut(last.id)}`);
}

/** How the operator accepts a list whose size really changed. */
const wayOut = (id: string): string => `gatepost lists refresh --accept ${id}`;

function oddContent(names: ReadonlySet<string>, { rotating }: FetchedSource) {
  const canary = BEST_KNOWN_PROVIDERS.find((name) => names.has(name));
  if (canary !== undefined) return refused("holds_provider", canary);
  const missing = ALWAYS_LISTED.find((name) => !names.has(name));
  return missing === undefined || rotating ? undefined : refused("lacks_known", missing);
}

function manyRemoved(id: string, names: ReadonlySet<string>, held: ReadonlyMap<string, HeldName>) {
  let removed = 0;
  for (const name of held.keys()) if (!names.has(name)) removed += 1;
  if (removed <= REMOVED_SHARE_MAX * held.size) return undefined;
  const gone = `${String(removed)} of ${String(held.size)} names`;
  return refused("many_removed", `${gone}; the next fetch may say so too, or ${wayOut(id)}`);
}

interface Making {
  readonly source: FetchedSource;
  readonly fetched: Fetched;
  readonly previous: FeedCopy | undefined;
  readonly held: ReadonlyMap<string, HeldName>;
}

function copyOf(names: ReadonlySet<string>, { source, fetched, previous, held }: Making): FeedCopy {
  const today = dayOf(fetched.fetchedAtMs);
  const baseDay = previous?.head.baseDay ?? today;
  const lines: string[] = [];
  const add = (name: string, sinceDay: number, seenDay: number): void => {
    const isPlain = sinceDay === baseDay && !source.rotating;
    lines.push(isPlain ? name : `${name} ${String(sinceDay)} ${String(seenDay)}`);
  };
  for (const name of names) add(name, held.get(name)?.sinceDay ?? today, today);
  const observed = source.rotating ? observedDays(previous, held, today) : undefined;
  for (const each of stillKept(held, observed)) {
    if (!names.has(each.name)) add(each.name, each.sinceDay, each.seenDay);
  }
  const figures = { baseDay, fetchedNames: names.size, names: lines.length, observed };
  return { head: headOf(source.id, fetched, figures), lines };
}

/** Of the names held so far those that were seen on one of the last `KEPT_UNSEEN_DAYS` fetches; none without `observed`. */
function stillKept(
  held: ReadonlyMap<string, HeldName>,
  observed: readonly number[] | undefined,
): readonly HeldName[] {
  if (observed === undefined) return [];
  const oldest = observed.length < KEPT_UNSEEN_DAYS ? -Infinity : (observed[0] ?? 0);
  return [...held.values()].filter(({ seenDay }) => seenDay >= oldest);
}

/** A copy of an older version has no such list: the days on which names were last seen stand in. */
function observedDays(
  previous: FeedCopy | undefined,
  held: ReadonlyMap<string, HeldName>,
  today: number,
): readonly number[] {
  const before =
    previous?.head.observed ?? Array.from(held.values(), ({ seenDay }) => seenDay).sort(ascending);
  return [...new Set([...before, today])].slice(-KEPT_UNSEEN_DAYS);
}

const ascending = (a: number, b: number): number => a - b;

interface Figures extends Pick<CopyHead, "baseDay" | "fetchedNames" | "names"> {
  readonly observed: readonly number[] | undefined;
}

function headOf(
  id: string,
  { fetchedAtMs, etag, lastModified }: Fetched,
  { observed, ...figures }: Figures,
): CopyHead {
  return {
    id,
    fetchedAtMs,
    ...figures,
    ...(observed !== undefined && { observed }),
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { lastModified }),
  };
}
