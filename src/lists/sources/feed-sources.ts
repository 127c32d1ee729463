import type { FeedKind } from "../../core/evidence/datasets.ts";
import type { FeedLicence } from "./licences.ts";
import { castleDays, type DatedName } from "./castle.ts";
import { fakefilterHosts, jsonStrings, lines, type PackageId } from "./packages.ts";

/** A public list that is fetched, as its repository publishes it. */
export interface FetchedSource {
  readonly id: string;
  readonly kind: FeedKind;
  /** Of the raw file: repository, default branch, file. */
  readonly path: string;
  readonly read: (text: string) => readonly string[];
  /** Fewer names mean a broken list. */
  readonly floor: number;
  /** On which its names may be passed on; absent: they may not, and `/feeds/disposable` leaves them out. */
  readonly licence?: FeedLicence;
  /** Only a part of it is published each day: names are kept as `KEPT_UNSEEN_DAYS` says. */
  readonly rotating: boolean;
  /** The package that stands in until it is fetched. */
  readonly bundled?: PackageId;
  /** Of a rotating list: the names and days that the first fetched copy starts from. */
  readonly seed?: () => readonly DatedName[];
}

/**
 * The order is that of the lists' bits: the bundled ones as they always stood. Floors are well below what each
 * held in 2026-11 (its swings were measured over the months before).
 */
export const FETCHED_SOURCES: readonly FetchedSource[] = [
  {
    id: "fakefilter",
    kind: "curated",
    path: "7c/fakefilter/HEAD/json/data_version2.json",
    read: fakefilterHosts,
    floor: 3_000,
    licence: {
      spdx: "BSD-3-Clause",
      copyright: "Copyright (c) 2022, 7c",
      url: "https://github.com/7c/fakefilter",
    },
    rotating: false,
    bundled: "fakefilter",
  },
  {
    id: "ded",
    kind: "curated",
    path: "disposable-email-domains/disposable-email-domains/HEAD/disposable_email_blocklist.conf",
    read: listLines,
    floor: 6_500,
    licence: {
      spdx: "CC0-1.0",
      copyright: "no rights reserved",
      url: "https://github.com/disposable-email-domains/disposable-email-domains",
    },
    rotating: false,
    bundled: "ded",
  },
  {
    id: "mailchecker",
    kind: "weak",
    path: "FGRibreau/mailchecker/HEAD/list.txt",
    read: listLines,
    floor: 45_000,
    licence: {
      spdx: "MIT",
      copyright: "Copyright (c) 2013 Francois-Guillaume Ribreau",
      url: "https://github.com/FGRibreau/mailchecker",
    },
    rotating: false,
    bundled: "mailchecker",
  },
  {
    id: "tompec",
    kind: "doubtful",
    path: "tompec/disposable-email-domains/HEAD/index.json",
    read: jsonStrings,
    floor: 110_000,
    licence: {
      spdx: "MIT",
      copyright: "Copyright (c) 2017 Ilya Volodarsky, 2025 Thomas Petracco",
      url: "https://github.com/tompec/disposable-email-domains",
    },
    rotating: false,
    bundled: "tompec",
  },
  {
    id: "castle",
    kind: "curated",
    path: "castle/disposable-email-domains/HEAD/disposable-email-domains.txt",
    read: listLines,
    floor: 900,
    licence: {
      spdx: "MIT",
      copyright: "Copyright (c) Castle Intelligence, Inc. and contributors",
      url: "https://github.com/castle/disposable-email-domains",
    },
    rotating: true,
    bundled: "castle",
    seed: castleDays,
  },
  {
    id: "disposable",
    kind: "uncurated",
    path: "disposable/disposable-email-domains/HEAD/domains.txt",
    read: listLines,
    floor: 60_000,
    licence: {
      spdx: "MIT",
      copyright: "Copyright (c) 2017 Andrei Simionescu",
      url: "https://github.com/disposable/disposable-email-domains",
    },
    rotating: false,
  },
  {
    id: "wesbos",
    kind: "weak",
    path: "wesbos/burner-email-providers/HEAD/emails.txt",
    read: listLines,
    floor: 20_000,
    licence: {
      spdx: "MIT",
      copyright: "Copyright 2018 Wes Bos",
      url: "https://github.com/wesbos/burner-email-providers",
    },
    rotating: false,
  },
];

/**
 * A rotating list forgets a name that was absent on this many days on which the list was fetched. Days without a fetch
 * do not count: after months offline the first fetch would otherwise drop the whole history.
 */
export const KEPT_UNSEEN_DAYS = 180;

/** Every whole list holds these four; one without them is some other file. */
export const ALWAYS_LISTED: readonly string[] = [
  "guerrillamail.com",
  "mailinator.com",
  "sharklasers.com",
  "yopmail.com",
];

/** A line that begins with "#" is a remark. */
function listLines(text: string): readonly string[] {
  return lines(text).filter((line) => !line.startsWith("#"));
}

export const licenceOf = (id: string): FeedLicence | undefined =>
  FETCHED_SOURCES.find((source) => source.id === id)?.licence;
