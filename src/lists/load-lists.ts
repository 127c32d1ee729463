import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import {
  INBOX_PROVIDERS,
  LARGE_PROVIDERS,
  listOf,
  SHARED_MAIL_SUFFIXES,
} from "../core/tables/data.ts";
import * as TEXTS from "../core/tables/texts.ts";
import { type FeedCopy, namesOfCopy, parseCopy, type Validators } from "./assess-feed.ts";
import {
  copyName,
  type FeedFile,
  LEARNED_FILE,
  parseLearned,
  unpackFeedFile,
} from "./feed-files.ts";
import type { FeedStatus } from "./feed-status.ts";
import { FETCHED_SOURCES, type FetchedSource } from "./feed-sources.ts";
import { decodeLists, encodeLists } from "./lists-file.ts";
import { namesOfPackage, packageVersions } from "./packages.ts";
import {
  type DisposableList,
  type ListContents,
  packMailServers,
  type SharedDatasets,
  shareDatasets,
} from "./shared-datasets.ts";

/** Names that no list may call disposable, domains that carry other people's mail among them. */
export const NEVER_DISPOSABLE: ReadonlySet<string> = new Set([
  ...LARGE_PROVIDERS,
  ...SHARED_MAIL_SUFFIXES,
  ...INBOX_PROVIDERS.flatMap(({ suffixes }) => suffixes),
  ...listOf(TEXTS.listedByMistake),
]);

const NOT_FREE: ReadonlySet<string> = new Set(listOf(TEXTS.notFree));
const NOT_ROLES: ReadonlySet<string> = new Set(listOf(TEXTS.notRoles));

/** Shorter words of the package are initials of people; the additions name those that are functions. */
const ROLE_MIN_LENGTH = 3;

const BUNDLED_VERSION = 1;

type Copies = ReadonlyMap<string, FeedCopy>;

/** Throws when a package has changed its shape: a service that silently lost a list would call disposable names good. */
export function readPackagedLists(
  copies: Copies = new Map(),
  mailServers: ListContents["mailServers"] = [],
): ListContents {
  return {
    version: BUNDLED_VERSION,
    disposable: FETCHED_SOURCES.flatMap((source) => listOfSource(source, copies) ?? []),
    exceptions: NEVER_DISPOSABLE,
    free: [
      ...namesOfPackage("freemail").filter((name) => !NOT_FREE.has(name)),
      ...listOf(TEXTS.freeAdditions),
    ],
    knownGood: [...LARGE_PROVIDERS],
    roles: [
      ...namesOfPackage("roles").filter(
        (role) => role.length >= ROLE_MIN_LENGTH && !NOT_ROLES.has(role),
      ),
      ...listOf(TEXTS.roleAdditions),
    ],
    mailServers,
  };
}

function listOfSource(
  { id, kind, bundled }: FetchedSource,
  copies: Copies,
): DisposableList | undefined {
  const copy = copies.get(id);
  if (copy === undefined) return bundled && { id, kind, read: () => namesOfPackage(bundled) };
  const { fetchedAtMs, baseDay } = copy.head;
  return {
    id,
    kind,
    fetchedAtMs,
    *read() {
      for (const { name } of namesOfCopy(copy)) yield name;
    },
    history: {
      baseDay,
      *later() {
        for (const { name, sinceDay } of namesOfCopy(copy)) {
          if (sinceDay !== baseDay) yield [name, sinceDay];
        }
      },
    },
  };
}

export interface LoadedList extends Pick<
  FeedStatus,
  "id" | "curated" | "names" | "from" | "fetchedAtMs"
> {
  readonly validators?: Validators;
}

export interface LoadedLists {
  readonly shared: SharedDatasets;
  readonly lists: readonly LoadedList[];
}

/** Reads and packs the copies, and in their absence the packages: a quarter of a second of work. Throws as `readLists`. */
export function packLists(
  copies: Copies = new Map(),
  mailServers: ListContents["mailServers"] = [],
): LoadedLists {
  const contents = readPackagedLists(copies, mailServers);
  const counts = new Map<string, number>();
  const disposable = contents.disposable.map((list) => ({
    ...list,
    *read() {
      let count = 0;
      for (const line of list.read()) {
        count += 1;
        yield line;
      }
      counts.set(list.id, count);
    },
  }));
  const shared = shareDatasets({ ...contents, disposable });
  const lists = FETCHED_SOURCES.map(({ id, kind }): LoadedList => {
    const its = { id, curated: kind === "curated", names: counts.get(id) ?? 0 };
    const head = copies.get(id)?.head;
    if (head === undefined) return { ...its, from: its.names > 0 ? "package" : "nowhere" };
    const { fetchedAtMs, validators } = head;
    return { ...its, from: "fetch", fetchedAtMs, validators };
  });
  return { shared, lists };
}

/** A few milliseconds as long as nothing was fetched, else the work of `packLists`. Throws as `readLists`. */
export function loadLists(files: readonly FeedFile[] = []): LoadedLists {
  const textOf = (name: string): string | undefined =>
    unpackFeedFile(files.find((file) => file.name === name));
  const copies = new Map<string, FeedCopy>();
  for (const { id } of FETCHED_SOURCES) {
    const copy = parseCopy(textOf(copyName(id)) ?? "", id);
    if (copy !== undefined) copies.set(id, copy);
  }
  const learned = parseLearned(textOf(LEARNED_FILE));
  const built =
    copies.size === 0 ? readBuiltLists(BUILT_LISTS_FILE, packMailServers(learned)) : undefined;
  return built ?? packLists(copies, learned);
}

export const BUILT_LISTS_FILE = fileURLToPath(new URL("../../bundled.lists", import.meta.url));

interface Built extends Pick<LoadedLists, "lists"> {
  /** The versions of the list packages: with other versions installed, the file is not used. */
  readonly packages: Readonly<Record<string, string>>;
}

export function writeBuiltLists(path: string, { shared, lists }: LoadedLists): void {
  const built: Built = { packages: packageVersions(), lists };
  writeFileSync(path, Buffer.concat(encodeLists(shared, built, crc32)));
}

/** Curated lists, free providers and roles alone: a sixth of it, for programs that count octets. */
export function writeSmallLists(path: string): void {
  const whole = readPackagedLists();
  const disposable = whole.disposable.filter(({ kind }) => kind === "curated");
  const parts = encodeLists(shareDatasets({ ...whole, disposable }), {}, crc32);
  writeFileSync(path, Buffer.concat(parts));
}

/** Undefined when there is no file, none that is whole, or one that was packed of other packages than are installed. */
export function readBuiltLists(
  path: string,
  mailServers: SharedArrayBuffer,
): LoadedLists | undefined {
  try {
    const make = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(bytes);
    const { head, packed } = decodeLists(readFileSync(path), make, crc32);
    const { packages, lists } = head as Built;
    if (JSON.stringify(packages) !== JSON.stringify(packageVersions())) return undefined;
    return { shared: { ...packed, version: BUNDLED_VERSION, mailServers }, lists };
  } catch {
    return undefined;
  }
}
