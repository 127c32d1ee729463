import { fakefilterHosts, jsonStrings, lines, type PackageId } from "./packages.ts";

/** A public list that is fetched, as its repository publishes it. */
export interface FetchedSource {
  readonly id: string;
  readonly curated: boolean;
  /** Of the raw file: repository, default branch, file. */
  readonly path: string;
  readonly read: (text: string) => readonly string[];
  /** Fewer names are no list any more. */
  readonly floor: number;
  /** Only a part of it is published each day: names are kept until they were unseen for `KEPT_UNSEEN_DAYS`. */
  readonly rotating: boolean;
  /** The package that stands in until it is fetched. */
  readonly bundled?: PackageId;
}

/**
 * The order is that of the lists' bits: the bundled ones as they always stood. Floors are well below what each
 * held in 2026-11 (its swings were measured over the months before).
 */
export const FETCHED_SOURCES: readonly FetchedSource[] = [
  {
    id: "fakefilter",
    curated: true,
    path: "7c/fakefilter/HEAD/json/data_version2.json",
    read: fakefilterHosts,
    floor: 3_000,
    rotating: false,
    bundled: "fakefilter",
  },
  {
    id: "ded",
    curated: true,
    path: "disposable-email-domains/disposable-email-domains/HEAD/disposable_email_blocklist.conf",
    read: listLines,
    floor: 6_500,
    rotating: false,
    bundled: "ded",
  },
  {
    id: "mailchecker",
    curated: false,
    path: "FGRibreau/mailchecker/HEAD/list.txt",
    read: listLines,
    floor: 45_000,
    rotating: false,
    bundled: "mailchecker",
  },
  {
    id: "tompec",
    curated: false,
    path: "tompec/disposable-email-domains/HEAD/index.json",
    read: jsonStrings,
    floor: 110_000,
    rotating: false,
    bundled: "tompec",
  },
  {
    id: "castle",
    curated: true,
    path: "castle/disposable-email-domains/HEAD/disposable-email-domains.txt",
    read: listLines,
    floor: 900,
    rotating: true,
  },
  {
    id: "disposable",
    curated: false,
    path: "disposable/disposable-email-domains/HEAD/domains.txt",
    read: listLines,
    floor: 60_000,
    rotating: false,
  },
  {
    id: "wesbos",
    curated: false,
    path: "wesbos/burner-email-providers/HEAD/emails.txt",
    read: listLines,
    floor: 20_000,
    rotating: false,
  },
];

/** Days without a sight of it after which a rotating list forgets a name. */
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
