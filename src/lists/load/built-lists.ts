import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { BUNDLED_VERSION, readBundledLists } from "./bundled.ts";
import type { LoadedLists } from "./pack-lists.ts";
import { packageVersions } from "../sources/packages.ts";
import { decodeLists, encodeLists } from "../table/lists-file.ts";
import { shareDatasets } from "../table/shared-datasets.ts";

/** The lists that came with the program as its build packed them. */
export const BUILT_LISTS_FILE = fileURLToPath(new URL("../../../bundled.lists", import.meta.url));

interface Built extends Pick<LoadedLists, "lists"> {
  /** The versions of the list packages: with other versions installed, the file is not used. */
  readonly packages: Readonly<Record<string, string>>;
}

/** Writes what `packLists` made of the packages alone. */
export function writeBuiltLists(path: string, { shared, lists }: LoadedLists): void {
  const built: Built = { packages: packageVersions(), lists };
  writeFileSync(path, Buffer.concat(encodeLists(shared, built, crc32)));
}

/** Curated lists, free providers and roles alone: a sixth of it, for programs that count octets. */
export function writeSmallLists(path: string): void {
  const whole = readBundledLists();
  const disposable = whole.disposable.filter(({ kind }) => kind === "curated");
  const parts = encodeLists(shareDatasets({ ...whole, disposable }), {}, crc32);
  writeFileSync(path, Buffer.concat(parts));
}

/**
 * What lies there, with `mailServers`, which belong to the data directory; undefined when there is none, none that is
 * whole, or one that was packed of other packages than those that are installed.
 */
export function readBuiltLists(
  path: string,
  mailServers: SharedArrayBuffer,
): LoadedLists | undefined {
  try {
    const { head, packed } = decodeLists(readFileSync(path), shared, crc32);
    const { packages, lists } = head as Built;
    if (JSON.stringify(packages) !== JSON.stringify(packageVersions())) return undefined;
    return { shared: { ...packed, version: BUNDLED_VERSION, mailServers }, lists };
  } catch {
    return undefined;
  }
}

const shared = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(bytes);
