import { readEntry } from "../../core/address/address.ts";
import { ENTRY_MAX_UNITS } from "../../core/name/domain.ts";
import { type FeatureName, featureNamed, readFeatures } from "../../check/features.ts";

/** What turns a single check into a bulk one when it stands behind the entries. */
const BULK_SUFFIXES: ReadonlySet<string> = new Set(["mass", "bulk"]);

export interface CheckPath {
  /** The segments before the suffixes, joined with "/" again; absent when the path names no entry. */
  readonly entry: string | undefined;
  /** In the order they stand. */
  readonly features: readonly FeatureName[];
  readonly bulk: boolean;
}

/**
 * Reads suffixes from the right as long as they are known names, in any case; the first segment always stays the
 * entry, so a local part may hold "/" and `/api/email/mass` checks "mass". One segment may hold several feature names
 * joined by an encoded slash or comma. An unknown segment behind a valid entry is ignored.
 */
export function readCheckPath(path: readonly string[], mode: "address" | "domain"): CheckPath {
  if (path.length < 2) return { entry: path[0], features: NO_FEATURES, bulk: false };
  let end = path.length;
  while (end > 1 && suffixOf(path[end - 1] ?? "") !== undefined) end -= 1;
  end = endOfEntry(path, end, mode);
  const suffixes = path.slice(end).map((segment) => suffixOf(segment) ?? UNKNOWN);
  return {
    entry: path.slice(0, end).join("/"),
    features: [...new Set(suffixes.flatMap(({ features }) => features))],
    bulk: suffixes.some(({ bulk }) => bulk),
  };
}

interface Suffix {
  readonly features: readonly FeatureName[];
  readonly bulk: boolean;
}

const NO_FEATURES: readonly FeatureName[] = [];
const UNKNOWN: Suffix = { features: NO_FEATURES, bulk: false };

/** All feature names, repeated a few times, fit in a segment of this length. */
const SEGMENT_MAX_UNITS = 1_000;

/** What a segment asks for; undefined if a piece of it is unknown. */
function suffixOf(segment: string): Suffix | undefined {
  if (segment.length > SEGMENT_MAX_UNITS) return undefined;
  if (BULK_SUFFIXES.has(segment.toLowerCase())) return { features: NO_FEATURES, bulk: true };
  const features: FeatureName[] = [];
  for (const piece of segment.split(/[/,]/)) {
    const feature = featureNamed(piece);
    if (feature === undefined) return undefined;
    features.push(feature);
  }
  return { features, bulk: false };
}

/** The end of the longest valid entry at the start of the path; `end` when the first `end` segments hold none. */
function endOfEntry(path: readonly string[], end: number, mode: "address" | "domain"): number {
  if (end === 1) return end;
  let best = end;
  let text = "";
  for (let at = 0; at < end && text.length <= ENTRY_MAX_UNITS; at += 1) {
    text = at === 0 ? (path[0] ?? "") : `${text}/${path[at] ?? ""}`;
    if (mayEnd(path, at, mode) && readEntry(text, mode).kind !== "malformed") best = at + 1;
  }
  return best;
}

/** No domain holds a "/". To read what cannot be an entry, segment after segment, would take 5 ms. */
const mayEnd = (path: readonly string[], at: number, mode: "address" | "domain"): boolean =>
  mode === "domain" ? at === 0 : path[at]?.includes("@") === true;

/** What path and parameters ask for together, the path first. */
export function askedFeatures(
  inPath: readonly FeatureName[],
  byParameter: readonly string[],
): readonly FeatureName[] {
  return byParameter.length === 0 ? inPath : readFeatures([...inPath, ...byParameter]);
}
