import { dayOf } from "../core/calendar.ts";
import type { ListRefusal } from "../core/evidence/list-refusal.ts";
import { BEST_KNOWN_PROVIDERS } from "../core/tables/data.ts";
import { domainOfLine } from "./packages.ts";
import {
  ALWAYS_LISTED,
  type FetchedSource,
  type RetainedName,
  KEPT_UNSEEN_DAYS,
} from "./feed-sources.ts";

/** What a server takes to say whether its file has changed (RFC 9110 section 8.8). */
export interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** What is known of the copy of one list beside its names. Days are counted from the Unix epoch, UTC. */
export interface CopyHead {
  readonly id: string;
  readonly fetchedAtMs: number;
  /** The day of the first copy: the one on which names came that say nothing else. */
  readonly baseDay: number;
  readonly fetchedNames: number;
  readonly names: number;
  /** Of a rotating list: the days on which it was fetched, oldest first, at most `KEPT_UNSEEN_DAYS` of them. */
  readonly observed?: readonly number[];
  readonly validators: Validators;
}

export interface FeedCopy {
  readonly head: CopyHead;
  readonly lines: readonly string[];
}

export function* namesOfCopy({ head, lines }: FeedCopy): Generator<RetainedName> {
  const fetchDay = dayOf(head.fetchedAtMs);
  for (const line of lines) {
    const [name = "", since, seen] = line.split(" ");
    yield {
      name,
      sinceDay: since === undefined ? head.baseDay : Number(since),
      seenDay: seen === undefined ? fetchDay : Number(seen),
    };
  }
}

const VERSION = 1;

export const copyText = ({ head, lines }: FeedCopy): string =>
  [JSON.stringify({ v: VERSION, ...head }), ...lines, ""].join("\n");

export function parseCopy(text: string, id: string): FeedCopy | undefined {
  const [first = "", ...lines] = text.split("\n");
  const last = lines.pop(); // every line ends with a line feed
  const head = headOf(first);
  const isWhole = head?.id === id && last === "" && head.names === lines.length;
  return isWhole ? { head, lines } : undefined;
}

function headOf(line: string): CopyHead | undefined {
  try {
    const head = JSON.parse(line) as CopyHead & { readonly v: number };
    const { fetchedAtMs, baseDay, fetchedNames, names, observed = [] } = head;
    const figures = [fetchedAtMs, baseDay, fetchedNames, names, ...observed];
    const isOurs = head.v === VERSION && typeof head.validators === "object";
    return isOurs && figures.every(Number.isSafeInteger) ? head : undefined;
  } catch {
    return undefined;
  }
}

export interface Fetched {
  readonly text: string;
  readonly fetchedAtMs: number;
  readonly validators: Validators;
  readonly removalSeen: boolean;
  /** The operator confirms the change: size and removals are not tested. */
  readonly isConfirmed: boolean;
}

interface RefusedFeed {
  readonly kind: "refused";
  readonly why: ListRefusal;
  readonly detail: string;
}

export type Judgement = RefusedFeed | { readonly kind: "accepted"; readonly copy: FeedCopy };

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
  const names = readNames(source, fetched.text);
  if ("why" in names) return names;
  // What the list had before: its last copy, in its absence the names that came with the release.
  const before = previous === undefined ? (source.seed?.() ?? []) : namesOfCopy(previous);
  const retained = new Map(Array.from(before, (each) => [each.name, each]));
  const mayRemove = source.rotating || fetched.removalSeen || fetched.isConfirmed;
  const refusal =
    oddContent(names, source) ??
    (fetched.isConfirmed ? undefined : swing(names.size, previous?.head)) ??
    (mayRemove ? undefined : manyRemoved(source.id, names, retained));
  return refusal ?? { kind: "accepted", copy: copyOf(names, source, fetched, previous, retained) };
}

const refused = (why: ListRefusal, detail: string): RefusedFeed => ({
  kind: "refused",
  why,
  detail,
});

function readNames(source: FetchedSource, text: string): ReadonlySet<string> | RefusedFeed {
  let lines: readonly string[];
  try {
    lines = source.read(text);
  } catch {
    return refused("not_a_list", "another format");
  }
  if (lines.length === 0) return refused("not_a_list", "empty");
  const names = lines.flatMap((line) => domainOfLine(line) ?? []);
  const share = names.length / lines.length;
  if (share >= VALID_SHARE_MIN) return new Set(names);
  return refused("not_a_list", `${(100 * share).toFixed(1)} % are names`);
}

function oddContent(names: ReadonlySet<string>, { floor, rotating }: FetchedSource) {
  if (names.size < floor) return refused("below_floor", `${String(names.size)} names`);
  const canary = BEST_KNOWN_PROVIDERS.find((name) => names.has(name));
  if (canary !== undefined) return refused("holds_provider", canary);
  const missing = ALWAYS_LISTED.find((name) => !names.has(name));
  return missing === undefined || rotating ? undefined : refused("lacks_known", missing);
}

const wayOut = (id: string): string => `gatepost lists refresh --accept ${id}`;

function swing(size: number, last: CopyHead | undefined) {
  if (last === undefined) return undefined;
  const ratio = size / last.fetchedNames;
  if (ratio >= SHRINK_MIN && ratio <= GROWTH_MAX) return undefined;
  const change = `${String(last.fetchedNames)} names became ${String(size)}`;
  return refused("size_swing", `${change}; if that is right: ${wayOut(last.id)}`);
}

function manyRemoved(
  id: string,
  names: ReadonlySet<string>,
  retained: ReadonlyMap<string, RetainedName>,
) {
  let removed = 0;
  for (const name of retained.keys()) if (!names.has(name)) removed += 1;
  if (removed <= REMOVED_SHARE_MAX * retained.size) return undefined;
  const gone = `${String(removed)} of ${String(retained.size)} names`;
  return refused("many_removed", `${gone}; the next fetch may say so too, or ${wayOut(id)}`);
}

function copyOf(
  names: ReadonlySet<string>,
  { id, rotating }: FetchedSource,
  { fetchedAtMs, validators }: Fetched,
  previous: FeedCopy | undefined,
  retained: ReadonlyMap<string, RetainedName>,
): FeedCopy {
  const today = dayOf(fetchedAtMs);
  const baseDay = previous?.head.baseDay ?? today;
  const lines: string[] = [];
  const add = (name: string, sinceDay: number, seenDay: number): void => {
    const isPlain = sinceDay === baseDay && !rotating;
    lines.push(isPlain ? name : `${name} ${String(sinceDay)} ${String(seenDay)}`);
  };
  for (const name of names) add(name, retained.get(name)?.sinceDay ?? today, today);
  const observed = rotating ? observedDays(previous, retained, today) : undefined;
  if (observed !== undefined) {
    // Names that were seen on one of the last `KEPT_UNSEEN_DAYS` fetches stay.
    const oldest = observed.length < KEPT_UNSEEN_DAYS ? -Infinity : (observed[0] ?? 0);
    for (const { name, sinceDay, seenDay } of retained.values()) {
      if (seenDay >= oldest && !names.has(name)) add(name, sinceDay, seenDay);
    }
  }
  return {
    head: {
      id,
      fetchedAtMs,
      baseDay,
      fetchedNames: names.size,
      names: lines.length,
      ...(observed !== undefined && { observed }),
      validators,
    },
    lines,
  };
}

/** The first copy has no such list: the days on which names of the release were last seen stand in. */
function observedDays(
  previous: FeedCopy | undefined,
  retained: ReadonlyMap<string, RetainedName>,
  today: number,
): readonly number[] {
  const seen = (): readonly number[] =>
    Array.from(retained.values(), ({ seenDay }) => seenDay).sort((a, b) => a - b);
  return [...new Set([...(previous?.head.observed ?? seen()), today])].slice(-KEPT_UNSEEN_DAYS);
}
