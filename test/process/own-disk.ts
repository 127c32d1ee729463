import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

export interface OwnDisk {
  readonly folder: string;
  remount(options: string): void;
  end(): void;
}

/** A file system of its own, in memory, with these options of mount(8); undefined where mounting is not permitted. */
export function ownDisk(options: string): OwnDisk | undefined {
  const folder = join(temporaryFolder(), "disk");
  mkdirSync(folder);
  const run = (program: string, ...words: readonly string[]): void =>
    void execFileSync(program, words, { stdio: "ignore" });
  try {
    run("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder);
  } catch {
    return undefined;
  }
  return {
    folder,
    remount: (changed) => run("mount", "-o", `remount,${changed}`, folder),
    end: () => run("umount", "-l", folder),
  };
}
