import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What an installation needs beside the code, from the root of the package. */
const FILES = [
  "package.json",
  "feeds/castle.csv",
  "dist/bundled.lists",
  "dist/dashboard/index.html",
];

const ROOT = new URL("../../../../", import.meta.url);

/** The files that a copy of the program lacks, each with its whole path. */
export const missingFiles = (root = ROOT): readonly string[] =>
  FILES.map((file) => fileURLToPath(new URL(file, root))).filter((path) => !existsSync(path));

/** Throws a sentence that names every missing file. */
export function needWholeProgram(): void {
  const missing = missingFiles();
  if (missing.length === 0) return;
  const words = missing.map((path) => `${path}: missing from this installation`).join("\n");
  throw new Error(`${words}\nInstall the whole package again: docs/operations/install.md`);
}
