import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Trouble } from "../base/health.ts";

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

const FILES_LEAST = 1_024;

/** What this process may open; undefined where that is enough, or not known. Node raises its own limit to the hard one. */
export function fewFiles(limits = readLimits()): Trouble | undefined {
  const hard = Number(/^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  if (hard >= FILES_LEAST) return undefined;
  return {
    says: `This process may open ${String(hard)} files and connections at once.`,
    toDo: `Raise the hard limit to ${FILES_LEAST.toLocaleString("en-US")} or more (ulimit -Hn, LimitNOFILE=).`,
  };
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}

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
