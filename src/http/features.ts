import { FEATURES } from "../core/checks/check.ts";

/** Asked by clients of this API and offered on no plan: answered honestly, so they are read. */
const UNSUPPORTED = ["smtp", "catch_all"] as const;

const KNOWN: ReadonlySet<string> = new Set<string>([...FEATURES, ...UNSUPPORTED]);

/** What turns a single check into a bulk one when it stands behind the entries. */
const BULK_SUFFIXES: ReadonlySet<string> = new Set(["mass", "bulk"]);

export interface CheckPath {
  /** The segments that are no suffix, joined with "/" again; absent when the path names no entry. */
  readonly entry: string | undefined;
  /** In the order they stand, lower case. */
  readonly features: readonly string[];
  readonly bulk: boolean;
}

/**
 * Reads suffixes from the right as long as they are known names, in any case; the first segment always
 * stays the entry, so a local part may hold "/" and `/api/email/mass` checks "mass".
 */
export function readCheckPath(path: readonly string[]): CheckPath {
  const features: string[] = [];
  let bulk = false;
  let end = path.length;
  for (; end > 1; end -= 1) {
    const name = (path[end - 1] ?? "").toLowerCase();
    if (KNOWN.has(name)) features.push(name);
    else if (BULK_SUFFIXES.has(name)) bulk = true;
    else break;
  }
  return {
    entry: end === 0 ? undefined : path.slice(0, end).join("/"),
    features: features.reverse(),
    bulk,
  };
}

/** The known names among those asked, each once, in the order they were asked. */
export function askedFeatures(names: readonly string[]): readonly string[] {
  return names.length === 0 ? names : [...new Set(names)].filter((name) => KNOWN.has(name));
}
