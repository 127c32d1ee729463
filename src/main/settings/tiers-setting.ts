import { readFileSync } from "node:fs";
import {
  DEFAULT_TIERS,
  readTiers,
  type Tiers,
  TiersFault,
} from "../../accounts/admission/tiers.ts";

const NAME = "GATEPOST_TIERS_FILE";

/** The tier table, with what the operator's file overrides. Throws one Error that names every mistake in it. */
export function readTiersFile(path: string | undefined): Tiers {
  if (path === undefined) return DEFAULT_TIERS;
  const text = textOf(path);
  try {
    return readTiers(text);
  } catch (fault) {
    if (!(fault instanceof TiersFault)) throw fault;
    throw new Error(fault.mistakes.map((mistake) => `${NAME}: ${mistake}`).join("\n"));
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["ENOTDIR", "there is no such file"],
  ["EISDIR", "it is a directory"],
  ["EACCES", "this user may not read it"],
]);

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    throw new Error(`${NAME}: cannot read ${path}: ${REASONS.get(code) ?? message}`, { cause });
  }
}
