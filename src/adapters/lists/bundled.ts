import type { Datasets, OperatorLists } from "../../core/datasets.ts";
import { LARGE_PROVIDERS } from "../../core/tables/large-providers.ts";
import { NEVER_DISPOSABLE } from "./exceptions.ts";
import { FREE_ADDITIONS } from "./free-additions.ts";
import { noOperatorLists } from "./operator.ts";
import { namesOfPackage } from "./packages.ts";
import { attachDatasets, type ListContents, shareDatasets } from "./shared-datasets.ts";

/** The version of what came with the program; whatever is fetched later counts on from here. */
export const BUNDLED_VERSION = 1;

/** Local parts that the package calls roles and that are people's or nobody's names as well. */
const NO_ROLES: ReadonlySet<string> = new Set(["aaa", "abc", "asd"]);
const ROLE_MIN_LENGTH = 3;

/**
 * What the bundled list packages hold. Throws a fault that names the package when one has changed its shape:
 * a service that silently lost a list would call disposable addresses good.
 */
export function readBundledLists(): ListContents {
  return {
    version: BUNDLED_VERSION,
    disposable: [
      { id: "fakefilter", curated: true, read: () => namesOfPackage("fakefilter") },
      { id: "ded", curated: true, read: () => namesOfPackage("ded") },
      { id: "mailchecker", curated: false, read: () => namesOfPackage("mailchecker") },
      { id: "tompec", curated: false, read: () => namesOfPackage("tompec") },
    ],
    exceptions: NEVER_DISPOSABLE,
    free: [...namesOfPackage("freemail"), ...FREE_ADDITIONS],
    knownGood: [...LARGE_PROVIDERS],
    roles: namesOfPackage("roles").filter(
      (role) => role.length >= ROLE_MIN_LENGTH && !NO_ROLES.has(role),
    ),
    mailServers: [],
  };
}

/** Datasets from the bundled packages, for a process that fetches nothing. */
export function loadBundledDatasets(operator: OperatorLists = noOperatorLists): Datasets {
  return attachDatasets(shareDatasets(readBundledLists()), operator);
}
