import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { recordingTerminal } from "../process/recording-terminal.ts";
import { runBulkCommand, type BulkCommandOptions } from "./bulk-command.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

export interface Ran {
  readonly code: number;
  readonly err: string;
}

export interface Folder {
  readonly path: (name: string) => string;
  readonly put: (name: string, content: string | Uint8Array) => Promise<string>;
  readonly read: (name: string) => Promise<string>;
  readonly names: () => Promise<readonly string[]>;
  readonly run: (words: readonly string[], more?: Partial<BulkCommandOptions>) => Promise<Ran>;
}

export async function folder(t: TestContext): Promise<Folder> {
  const dir = temporaryFolder();
  t.after(() => rm(dir, { recursive: true }));
  const path = (name: string): string => join(dir, name);
  return {
    path,
    put: async (name, content) => {
      await writeFile(path(name), content);
      return path(name);
    },
    read: (name) => readFile(path(name), "utf8"),
    names: async () => (await readdir(dir)).sort(),
    run: async (words, more = {}) => {
      const terminal = recordingTerminal();
      const code = await runBulkCommand(words, { terminal, ...more });
      return { code, err: terminal.complained() };
    },
  };
}

export const MANY = Array.from({ length: 12_000 }, (_, at) => `e${String(at)}@x.example`);
