import { type FeatureName, featureNamed, readFeatures } from "../../service/check/features.ts";

/** What turns a single check into a bulk one when it stands behind the entries. */
const BULK_SUFFIXES: ReadonlySet<string> = new Set(["mass", "bulk"]);

export interface CheckPath {
  /** The segments that are no suffix, joined with "/" again; absent when the path names no entry. */
  readonly entry: string | undefined;
  /** In the order they stand. */
  readonly features: readonly FeatureName[];
  readonly bulk: boolean;
}

/**
 * Reads suffixes from the right as long as they are known names, in any case; the first segment always
 * stays the entry, so a local part may hold "/" and `/api/email/mass` checks "mass".
 */
export function readCheckPath(path: readonly string[]): CheckPath {
  if (path.length < 2) return { entry: path[0], features: NO_FEATURES, bulk: false };
  const features: FeatureName[] = [];
  let bulk = false;
  let end = path.length;
  for (; end > 1; end -= 1) {
    const segment = path[end - 1] ?? "";
    const feature = featureNamed(segment);
    if (feature !== undefined) features.push(feature);
    else if (BULK_SUFFIXES.has(segment.toLowerCase())) bulk = true;
    else break;
  }
  return {
    entry: end === 0 ? undefined : path.slice(0, end).join("/"),
    features: [...new Set(features.reverse())],
    bulk,
  };
}

const NO_FEATURES: readonly FeatureName[] = [];

/** What path and parameters ask for together, the path first. */
export function askedFeatures(
  inPath: readonly FeatureName[],
  byParameter: readonly string[],
): readonly FeatureName[] {
  return byParameter.length === 0 ? inPath : readFeatures([...inPath, ...byParameter]);
}
