import { readFileSync } from "node:fs";
import { DEFAULT_TIERS, type Tiers } from "../service/tiers.ts";
import { readTiers } from "../service/tiers-file.ts";

/** The tier table, with what the operator's file overrides. Throws one Error that names every mistake in it. */
export function readTiersFile(path: string | undefined): Tiers {
  if (path === undefined) return DEFAULT_TIERS;
  return readTiers(textOf(path));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Error(`GATEPOST_TIERS_FILE: cannot read ${path}`, { cause });
  }
}
