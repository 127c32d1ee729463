import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { crc32, gzip } from "node:zlib";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { dayOf, isoDate } from "../core/calendar.ts";
import type { Datasets, FeedKind, Rules } from "../core/evidence/datasets.ts";
import { domainVerdict, standingOf } from "../core/evidence/domain-evidence.ts";
import { parseDomain } from "../core/name/domain.ts";
import { type FeedLicence, FETCHED_SOURCES, LICENCE_TEXTS, licenceOf } from "./feed-sources.ts";
import { encodeLists } from "./lists-file.ts";
import {
  attachDatasets,
  familiesUnder,
  type SharedDatasets,
  namesOfTable,
  NameTableBuilder,
} from "./shared-datasets.ts";

interface PublishedListParts {
  readonly lists: {
    datasets(): Datasets;
    shared(): SharedDatasets;
  };
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "error">;
}

export interface PublishedLists {
  readonly published: () => Promise<PublishedFiles>;
  readonly free: () => Promise<TextFiles>;
  readonly packed: () => Promise<PublishedFile>;
}

export function openPublishedLists(parts: PublishedListParts): PublishedLists {
  const { lists } = parts;
  return {
    published: currentFile("published_list.make_failed", parts, () => {
      const shared = lists.shared();
      const datasets = attachDatasets(shared, sharedRules(lists.datasets()));
      return makePublishedList(datasets, namesOfTable(shared.disposable));
    }),
    free: currentFile("free_list.make_failed", parts, async () => {
      const names = Array.from(namesOfTable(lists.shared().free), ([name]) => ({ name }));
      return await textFiles(await inOrder(names), FREE_HEAD);
    }),
    packed: currentFile("packed_lists.make_failed", parts, () =>
      makePackedFile(lists.shared(), sharedRules(lists.datasets())),
    ),
  };
}

/** Changes of the operator come one by one; each would cost about 1.5 s of work. */
const REMADE_AFTER_MS = 60_000;

/** Made when it is asked for and the lists have changed, up to once a minute. `event` is logged when that fails. */
function currentFile<File>(
  event: string,
  { lists, clock, log }: PublishedListParts,
  makeFile: () => Promise<File>,
): () => Promise<File> {
  let made: { readonly file: File; readonly version: number } | undefined;
  let making: Promise<File> | undefined;
  let madeAtMs = -Infinity;
  const make = async (): Promise<File> => {
    const { version } = lists.datasets();
    try {
      const file = await makeFile();
      made = { file, version };
      return file;
    } finally {
      madeAtMs = clock.monotonicMs();
      making = undefined;
    }
  };
  return async () => {
    if (made === undefined) return (making ??= make());
    const isOld = made.version !== lists.datasets().version;
    if (isOld && making === undefined && clock.monotonicMs() - madeAtMs >= REMADE_AFTER_MS) {
      making = make();
      making.catch((fault: unknown) => log.error(event, fault));
    }
    return made.file;
  };
}

const MAY_NOT_SHARE: ReadonlySet<string> = new Set(
  FETCHED_SOURCES.filter(({ licence }) => licence === undefined).map(({ id }) => id),
);

const sharedRules = ({ operator }: Datasets): Rules => ({
  ...operator,
  isFeedOff: (id) => MAY_NOT_SHARE.has(id) || operator.isFeedOff(id),
});

const compress: (plain: string | Uint8Array) => Promise<Uint8Array> = promisify(gzip);

const PACKED_SLICE_NAMES = 5_000;

/** The lists in use as one file for the library: without feeds that `rules` switch off, and without the operator's words. */
async function makePackedFile(shared: SharedDatasets, rules: Rules): Promise<PublishedFile> {
  const on = shared.sources.reduce(
    (bits, { id }, bit) => bits | (rules.isFeedOff(id) ? 0 : 1 << bit),
    0,
  );
  const builder = new NameTableBuilder();
  let seen = 0;
  for (const [name, bits] of namesOfTable(shared.disposable, on)) {
    builder.put(name, bits & on);
    seen += 1;
    if (seen % PACKED_SLICE_NAMES === 0) await nextTurn();
  }
  const families = familiesUnder(rules, shared);
  const packed = { ...shared, disposable: builder.finish(), families };
  const feeds = FETCHED_SOURCES.map(({ id }) => ({ id, ...licenceOf(id) }));
  const parts = encodeLists(packed, { feeds, licences: LICENCE_TEXTS }, crc32);
  return await fileOf(parts);
}

interface TextForm {
  /** Commas stand between names. Such a text has no remarks. */
  readonly isLine: boolean;
  readonly hasWildcards: boolean;
}

/** One list in every form, compressed: together they have 14 MB plain and 0.8 MB here. */
interface PublishedFiles extends TextFiles {
  readonly json: PublishedFile;
}

type TextFiles = Readonly<Record<"txt" | "wildcards" | "comma" | "wildcardsComma", PublishedFile>>;

interface PublishedFile {
  readonly gzip: Uint8Array;
  /** With its quotes and as a weak one: the same for the compressed and the plain body. */
  readonly etag: string;
}

interface NamedRow {
  readonly name: string;
}

interface PublishedName extends NamedRow {
  readonly first_seen: string | null;
  readonly kinds: readonly FeedKind[];
  readonly feeds: readonly string[];
}

/** Names between two pauses: about 2 ms of work. */
const SLICE_NAMES = 250;

/** In alphabetical order, of feeds that may be passed on; without the operator's own rules. */
export async function makePublishedList(
  datasets: Datasets,
  names: Iterable<readonly [name: string, ...unknown[]]>,
  licences = licenceOf,
): Promise<PublishedFiles> {
  const published: PublishedName[] = [];
  let seen = 0;
  for (const [name] of names) {
    seen += 1;
    if (seen % SLICE_NAMES === 0) await nextTurn();
    const row = rowOf(name, datasets);
    if (row !== undefined) published.push(row);
  }
  const sorted = await inOrder(published);
  const feeds = feedsOf(sorted, datasets, licences);
  const head = [
    "Disposable email domains, one a line. Names of these feeds, under their licences:",
    ...feeds.map(({ id, spdx, copyright, url }) => `${id}: ${spdx}, ${copyright}, ${url}`),
    "/feeds/disposable.json has the texts of the licences.",
  ];
  return { ...(await textFiles(sorted, head)), json: await fileOf(jsonOf(sorted, feeds)) };
}

const FREE_HEAD = ["Public mailbox providers, one a line: anybody gets an address there."];

async function textFiles(rows: readonly NamedRow[], head: readonly string[]): Promise<TextFiles> {
  const text = (form: TextForm) => fileOf(textOf(rows, head, form));
  return {
    txt: await text({ isLine: false, hasWildcards: false }),
    wildcards: await text({ isLine: false, hasWildcards: true }),
    comma: await text({ isLine: true, hasWildcards: false }),
    wildcardsComma: await text({ isLine: true, hasWildcards: true }),
  };
}

/** Sorting all at once would hold the process up for 50 ms. */
async function inOrder<Row extends NamedRow>(rows: readonly Row[]): Promise<readonly Row[]> {
  const byFirst = new Map<string, Row[]>();
  for (const row of rows) {
    const first = row.name.charAt(0);
    const others = byFirst.get(first) ?? [];
    others.push(row);
    byFirst.set(first, others);
  }
  const sorted: Row[] = [];
  for (const first of [...byFirst.keys()].sort()) {
    await nextTurn();
    for (const row of byFirst.get(first)?.sort(byName) ?? []) sorted.push(row);
  }
  return sorted;
}

const byName = (a: NamedRow, b: NamedRow): number => (a.name < b.name ? -1 : 1);

async function fileOf(pieces: Iterable<string | Uint8Array>): Promise<PublishedFile> {
  const hash = createHash("sha256");
  const octets: Uint8Array[] = [];
  for (const piece of pieces) {
    hash.update(piece);
    octets.push(Buffer.from(piece as string));
    await nextTurn();
  }
  const etag = `W/"${hash.digest("hex").slice(0, 32)}"`;
  return { gzip: await compress(Buffer.concat(octets)), etag };
}

function rowOf(name: string, datasets: Datasets): PublishedName | undefined {
  const standing = standingOf(name, datasets);
  // The operator's word has no sources: it is for this service alone.
  if (standing === undefined || standing.sources === 0) return undefined;
  const parsed = parseDomain(name);
  if (!parsed.ok || !domainVerdict(parsed.value, { kind: "unknown" }, datasets).disposable) {
    return undefined;
  }
  const listing = listingOf(standing, datasets);
  const since = listing.flatMap(({ bit }) => datasets.history?.sinceMs(name, bit) ?? []);
  const isKnown = since.length > 0 && since.length === listing.length;
  return {
    name,
    first_seen: isKnown ? isoDate(dayOf(Math.min(...since))) : null,
    kinds: [...new Set(listing.map(({ kind }) => kind))],
    feeds: listing.map(({ id }) => id),
  };
}

const listingOf = ({ sources }: { readonly sources: number }, datasets: Datasets) =>
  datasets.sources.flatMap(({ id, kind }, bit) =>
    ((sources >> bit) & 1) === 1 ? [{ id, kind, bit }] : [],
  );

/** The public lists that hold the domain of an address or domain now, or its registrable domain. */
export function listsWith(entry: string, datasets: Datasets): readonly string[] {
  const parsed = parseDomain(entry.slice(entry.lastIndexOf("@") + 1));
  if (!parsed.ok) return [];
  const { name, registrableDomain = name } = parsed.value;
  const standing = standingOf(name, datasets) ?? standingOf(registrableDomain, datasets);
  return standing === undefined ? [] : listingOf(standing, datasets).map(({ id }) => id);
}

interface PublishedFeed extends FeedLicence {
  readonly id: string;
  readonly kind: FeedKind;
  readonly names: number;
}

function feedsOf(
  published: readonly PublishedName[],
  datasets: Datasets,
  licences: typeof licenceOf,
): readonly PublishedFeed[] {
  const counts = new Map<string, number>();
  for (const { feeds } of published) {
    for (const id of feeds) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return datasets.sources.flatMap(({ id, kind }) => {
    const licence = licences(id);
    const names = counts.get(id) ?? 0;
    return licence === undefined || names === 0 ? [] : [{ id, kind, names, ...licence }];
  });
}

const PIECE_ROWS = 1_000;

function* textOf(
  published: readonly NamedRow[],
  head: readonly string[],
  { isLine, hasWildcards }: TextForm,
): Generator<string> {
  if (!isLine) yield* head.map((line) => `# ${line}\n`);
  const between = isLine ? "," : "\n";
  for (let at = 0; at < published.length; at += PIECE_ROWS) {
    const names = published
      .slice(at, at + PIECE_ROWS)
      .flatMap(({ name }) => (hasWildcards ? [name, `*.${name}`] : [name]));
    const isLast = at + PIECE_ROWS >= published.length;
    yield names.join(between) + (isLine && isLast ? "" : between);
  }
}

function* jsonOf(
  published: readonly PublishedName[],
  feeds: readonly PublishedFeed[],
): Generator<string> {
  const used = new Set(feeds.map(({ spdx }) => spdx));
  const head = {
    feeds,
    left_out: [...MAY_NOT_SHARE],
    licences: Object.fromEntries(Object.entries(LICENCE_TEXTS).filter(([spdx]) => used.has(spdx))),
    count: published.length,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"names":[`;
  for (let at = 0; at < published.length; at += PIECE_ROWS) {
    const rows = published.slice(at, at + PIECE_ROWS);
    yield `${at === 0 ? "" : ","}\n${rows.map((row) => JSON.stringify(row)).join(",\n")}`;
  }
  yield "\n]}\n";
}
