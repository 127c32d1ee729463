import { createHash } from "node:crypto";
import { dayOf, isoDate } from "../core/calendar.ts";
import type { Datasets, FeedKind } from "../core/evidence/datasets.ts";
import type { FeedLicence } from "./sources/licences.ts";
import { standingOf } from "../core/evidence/list-evidence.ts";
import { parseDomain } from "../core/name/domain.ts";
import { domainVerdict } from "../core/evidence/verdict.ts";

/** One list as text and as JSON, compressed: together they have 13 MB. */
export interface PublishedFiles {
  readonly txt: PublishedFile;
  readonly json: PublishedFile;
}

export interface PublishedFile {
  /** Compressed with gzip. */
  readonly gzip: Uint8Array;
  /** With its quotes and as a weak one: the same for the compressed and the plain body. */
  readonly etag: string;
}

export interface PublishedSource {
  /** With the feeds alone that may be passed on. */
  readonly datasets: Datasets;
  /** Names of feeds; may repeat. */
  readonly names: () => Iterable<string>;
  readonly licenceOf: (feed: string) => FeedLicence | undefined;
  /** Feeds whose licence does not allow to pass their names on. */
  readonly leftOut: readonly string[];
  /** By SPDX identifier. */
  readonly texts: Readonly<Record<string, string>>;
}

export interface PublishDeps {
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
  readonly compress: (text: string) => Promise<Uint8Array>;
}

/** A name and the feeds behind it. */
interface PublishedName {
  readonly name: string;
  readonly first_seen: string | null;
  readonly kinds: readonly FeedKind[];
  readonly feeds: readonly string[];
}

/** Names between two pauses: about 2 ms of work. */
const SLICE_NAMES = 250;

/**
 * The names that are disposable by feeds that may be passed on, in alphabetical order. The operator's own deny rules
 * are not in it, and what the operator allows is not either.
 */
export async function makePublishedList(
  source: PublishedSource,
  { pause, compress }: PublishDeps,
): Promise<PublishedFiles> {
  const published: PublishedName[] = [];
  let seen = 0;
  for (const name of source.names()) {
    seen += 1;
    if (seen % SLICE_NAMES === 0) await pause();
    const row = rowOf(name, source.datasets);
    if (row !== undefined) published.push(row);
  }
  const sorted = await inOrder(published, pause);
  const feeds = feedsOf(sorted, source);
  const txt = await fileOf(textOf(sorted, feeds), { pause, compress });
  const json = await fileOf(jsonOf(sorted, feeds, source), { pause, compress });
  return { txt, json };
}

/** By name. Sorting all at once would hold the process up for 50 ms. */
async function inOrder(
  rows: readonly PublishedName[],
  pause: PublishDeps["pause"],
): Promise<readonly PublishedName[]> {
  const byFirst = new Map<string, PublishedName[]>();
  for (const row of rows) {
    const first = row.name.charAt(0);
    const others = byFirst.get(first);
    if (others === undefined) byFirst.set(first, [row]);
    else others.push(row);
  }
  const sorted: PublishedName[] = [];
  for (const first of [...byFirst.keys()].sort()) {
    await pause();
    for (const row of byFirst.get(first)?.sort(byName) ?? []) sorted.push(row);
  }
  return sorted;
}

const byName = (a: PublishedName, b: PublishedName): number => (a.name < b.name ? -1 : 1);

async function fileOf(
  pieces: Iterable<string>,
  { pause, compress }: PublishDeps,
): Promise<PublishedFile> {
  const hash = createHash("sha256");
  const texts: string[] = [];
  for (const piece of pieces) {
    hash.update(piece);
    texts.push(piece);
    await pause();
  }
  const gzip = await compress(texts.join(""));
  return { gzip, etag: `W/"${hash.digest("hex").slice(0, 32)}"` };
}

function rowOf(name: string, datasets: Datasets): PublishedName | undefined {
  const standing = standingOf(name, datasets);
  // The operator's word has no sources: it is for this service alone.
  if (standing === undefined || standing.sources === 0) return undefined;
  const parsed = parseDomain(name);
  if (!parsed.ok || !domainVerdict(parsed.value, { kind: "unknown" }, datasets).disposable) {
    return undefined;
  }
  const held = datasets.sources.flatMap(({ id, kind }, bit) =>
    ((standing.sources >> bit) & 1) === 1 ? [{ id, kind, bit }] : [],
  );
  return {
    name,
    first_seen: firstSeen(name, held, datasets),
    kinds: [...new Set(held.map(({ kind }) => kind))],
    feeds: held.map(({ id }) => id),
  };
}

/** The earliest day; null when it came with the program. */
function firstSeen(
  name: string,
  held: readonly { readonly bit: number }[],
  { history }: Datasets,
): string | null {
  const days = held.map(({ bit }) => history?.sinceMs(name, bit));
  const known = days.filter((ms): ms is number => ms !== undefined);
  if (known.length === 0 || known.length < days.length) return null;
  return isoDate(dayOf(Math.min(...known)));
}

interface PublishedFeed extends FeedLicence {
  readonly id: string;
  readonly kind: FeedKind;
  /** Of the list: names that this feed holds. */
  readonly names: number;
}

function feedsOf(
  published: readonly PublishedName[],
  { datasets, licenceOf }: PublishedSource,
): readonly PublishedFeed[] {
  const counts = new Map<string, number>();
  for (const { feeds } of published) {
    for (const id of feeds) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return datasets.sources.flatMap(({ id, kind }) => {
    const licence = licenceOf(id);
    const names = counts.get(id) ?? 0;
    return licence === undefined || names === 0 ? [] : [{ id, kind, names, ...licence }];
  });
}

/** Rows of one piece of a file: about 2 ms of work. */
const PIECE_ROWS = 1_000;

/** Remarks begin with "#"; then one name a line. */
function* textOf(
  published: readonly PublishedName[],
  feeds: readonly PublishedFeed[],
): Generator<string> {
  yield "# Disposable email domains, one a line. Names of these feeds, under their licences:\n";
  for (const { id, spdx, copyright, url } of feeds) {
    yield `# ${id}: ${spdx}, ${copyright}, ${url}\n`;
  }
  yield "# /feeds/disposable.json has the texts of the licences.\n";
  for (let at = 0; at < published.length; at += PIECE_ROWS) {
    const rows = published.slice(at, at + PIECE_ROWS);
    yield rows.map(({ name }) => `${name}\n`).join("");
  }
}

function* jsonOf(
  published: readonly PublishedName[],
  feeds: readonly PublishedFeed[],
  { leftOut, texts }: PublishedSource,
): Generator<string> {
  const used = new Set(feeds.map(({ spdx }) => spdx));
  const head = {
    feeds,
    left_out: leftOut,
    licences: Object.fromEntries(Object.entries(texts).filter(([spdx]) => used.has(spdx))),
    count: published.length,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"names":[`;
  for (let at = 0; at < published.length; at += PIECE_ROWS) {
    const rows = published.slice(at, at + PIECE_ROWS);
    yield `${at === 0 ? "" : ","}\n${rows.map((row) => JSON.stringify(row)).join(",\n")}`;
  }
  yield "\n]}\n";
}
