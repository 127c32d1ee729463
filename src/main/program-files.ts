import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NEEDED = ["package.json", "feeds/castle.csv"];
/** It starts without these: slower, or without its pages and those of the API. */
const MISSED = [
  "dist/bundled.lists",
  "dist/dashboard/index.html",
  "dist/docs/swagger-ui-bundle.js",
  "dist/docs/swagger-ui.css",
];

const ROOT = new URL("../../../", import.meta.url);

export const missingFiles = (files = [...NEEDED, ...MISSED]): readonly string[] =>
  files.map((file) => fileURLToPath(new URL(file, ROOT))).filter((path) => !existsSync(path));

export function requireFiles(): void {
  const missing = missingFiles(NEEDED);
  if (missing.length === 0) return;
  const words = missing.map((path) => `${path}: missing from this installation`).join("\n");
  throw new Error(`${words}\nInstall the whole package again: docs/operations/install.md`);
}

export function programVersion(): string {
  const file = new URL("../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}
