import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { FETCHED_SOURCES, licenceOf } from "../../lists/sources/feed-sources.ts";
import { LICENCE_TEXTS } from "../../lists/sources/licences.ts";
import { familiesUnder } from "../../lists/table/families.ts";
import { encodeLists } from "../../lists/table/lists-file.ts";
import { namesOfTable, nameTableBuilder } from "../../lists/table/name-table.ts";
import type { SharedDatasets } from "../../lists/table/shared-datasets.ts";
import type { Rules } from "../../core/evidence/datasets.ts";
import type { PublishDeps, PublishedFile } from "../../lists/published-list.ts";

/** Names between two pauses: about 2 ms of work. */
const SLICE_NAMES = 5_000;

/** The lists in use as one file for the library: without feeds that `rules` switch off, and without the operator's words. */
export async function makePackedFile(
  shared: SharedDatasets,
  rules: Rules,
  {
    pause,
    compress,
  }: Omit<PublishDeps, "compress"> & {
    readonly compress: (octets: Uint8Array) => Promise<Uint8Array>;
  },
): Promise<PublishedFile> {
  const { sources } = shared;
  const on = sources.reduce((bits, { id }, bit) => bits | (rules.isFeedOff(id) ? 0 : 1 << bit), 0);
  const builder = nameTableBuilder();
  let seen = 0;
  for (const [name, bits] of namesOfTable(shared.disposable, on)) {
    builder.put(name, bits & on);
    seen += 1;
    if (seen % SLICE_NAMES === 0) await pause();
  }
  const packed = {
    ...shared,
    disposable: builder.finish(),
    families: familiesUnder(rules, shared),
  };
  const feeds = FETCHED_SOURCES.map(({ id }) => ({ id, ...licenceOf(id) }));
  const parts = encodeLists(packed, { feeds, licences: LICENCE_TEXTS }, crc32);
  const whole = Buffer.concat(parts);
  const hash = createHash("sha256").update(whole).digest("hex");
  return { gzip: await compress(whole), etag: `W/"${hash.slice(0, 32)}"` };
}
