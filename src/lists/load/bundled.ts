import { LARGE_PROVIDERS } from "../../core/tables/data.ts";
import { NEVER_DISPOSABLE } from "../sources/exceptions.ts";
import { FREE_ADDITIONS, NOT_FREE } from "../sources/free-additions.ts";
import { NOT_ROLES, ROLE_ADDITIONS } from "../sources/role-additions.ts";
import { heldNames, type FeedCopy } from "../files/feed-copy.ts";
import { FETCHED_SOURCES, type FetchedSource } from "../sources/feed-sources.ts";
import { namesOfPackage, type PackageId } from "../sources/packages.ts";
import type { DisposableList, ListContents } from "../table/shared-datasets.ts";

/** The version of the bundled lists; later fetches count up from here. */
export const BUNDLED_VERSION = 1;

/** Shorter words of the package are initials of people; the additions name those that are functions. */
const ROLE_MIN_LENGTH = 3;

/** The names that came with the program. */
export interface Stock {
  names(list: PackageId): Iterable<string>;
  readonly free: () => readonly string[];
  readonly roles: () => readonly string[];
}

/** Read from the list packages. */
const packageStock: Stock = {
  names: namesOfPackage,
  free: () => [
    ...namesOfPackage("freemail").filter((name) => !NOT_FREE.has(name)),
    ...FREE_ADDITIONS,
  ],
  roles: () => [
    ...namesOfPackage("roles").filter(
      (role) => role.length >= ROLE_MIN_LENGTH && !NOT_ROLES.has(role),
    ),
    ...Object.values(ROLE_ADDITIONS).flat(),
  ],
};

/**
 * What is known without fetching: the last good copy of each list, in its absence the package that came with
 * the program. Throws a fault that names a package when one has changed its shape: a service that silently lost
 * a list would call disposable addresses good.
 */
export function readLists(
  copies: ReadonlyMap<string, FeedCopy>,
  mailServers: ListContents["mailServers"] = [],
  stock = packageStock,
): ListContents {
  return {
    version: BUNDLED_VERSION,
    disposable: FETCHED_SOURCES.flatMap(
      (source) => listOf(source, copies.get(source.id), stock) ?? [],
    ),
    exceptions: NEVER_DISPOSABLE,
    free: stock.free(),
    knownGood: [...LARGE_PROVIDERS],
    roles: stock.roles(),
    mailServers,
  };
}

/** What the bundled list packages hold. */
export const readBundledLists = (): ListContents => readLists(new Map());

function listOf(
  { id, kind, bundled }: FetchedSource,
  copy: FeedCopy | undefined,
  stock: Stock,
): DisposableList | undefined {
  if (copy !== undefined) return { kind, ...listOfCopy(copy) };
  return bundled && { id, kind, read: () => stock.names(bundled) };
}

function listOfCopy(copy: FeedCopy): Omit<DisposableList, "kind"> {
  const { id, fetchedAtMs, baseDay } = copy.head;
  return {
    id,
    fetchedAtMs,
    read: () => namesIn(copy),
    history: { baseDay, later: () => laterNames(copy) },
  };
}

function* namesIn(copy: FeedCopy): Generator<string> {
  for (const { name } of heldNames(copy)) yield name;
}

function* laterNames(copy: FeedCopy): Generator<readonly [string, number]> {
  for (const { name, sinceDay } of heldNames(copy)) {
    if (sinceDay !== copy.head.baseDay) yield [name, sinceDay];
  }
}
