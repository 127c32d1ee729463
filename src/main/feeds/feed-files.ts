import type { Readable } from "node:stream";
import { createGunzip, gzip } from "node:zlib";
import { promisify } from "node:util";
import { FETCHED_SOURCES, licenceOf } from "../../lists/sources/feed-sources.ts";
import { LICENCE_TEXTS } from "../../lists/sources/licences.ts";
import { attachDatasets } from "../../lists/table/shared-datasets.ts";
import { namesOfTable } from "../../lists/table/name-table.ts";
import type { Rules } from "../../core/evidence/datasets.ts";
import { createCurrentFile, type CurrentFile } from "../../lists/current-file.ts";
import {
  makePublishedList,
  type PublishedFile,
  type PublishedFiles,
  type PublishedSource,
} from "../../lists/published-list.ts";
import type { Lists } from "./lists.ts";
import { makePackedFile } from "./packed-file.ts";
import type { Serving } from "../parts/serving.ts";

export interface FeedFiles {
  readonly published: CurrentFile<PublishedFiles>;
  readonly packed: CurrentFile<PublishedFile>;
  readonly expand: (gzip: Uint8Array) => Readable;
}

type Parts = Pick<Serving, "lists" | "clock" | "log">;

/** Lets other work run. */
const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const compress: (plain: string | Uint8Array) => Promise<Uint8Array> = promisify(gzip);

const expand = (bytes: Uint8Array): Readable => {
  const plain = createGunzip();
  plain.end(bytes);
  return plain;
};

/** What this installation serves of its lists: every process makes the same files. */
export function openFeedFiles({ lists, clock, log }: Parts): FeedFiles {
  const { version } = lists;
  return {
    expand,
    published: createCurrentFile({
      make: () => makePublishedList(publishedSource(lists), { pause, compress }),
      version,
      clock,
      log,
      name: "published_list",
    }),
    packed: createCurrentFile({
      make: () => makePackedFile(lists.shared(), sharedRules(lists), { pause, compress }),
      version,
      clock,
      log,
      name: "packed_lists",
    }),
  };
}

const MAY_NOT_SHARE: ReadonlySet<string> = new Set(
  FETCHED_SOURCES.filter(({ licence }) => licence === undefined).map(({ id }) => id),
);

/** Without the feeds that may not be passed on, as if the operator had switched them off. */
function sharedRules(lists: Pick<Lists, "datasets">): Rules {
  const { operator } = lists.datasets();
  return { ...operator, isFeedOff: (id) => MAY_NOT_SHARE.has(id) || operator.isFeedOff(id) };
}

function publishedSource(lists: Pick<Lists, "datasets" | "shared">): PublishedSource {
  const shared = lists.shared();
  return {
    datasets: attachDatasets(shared, sharedRules(lists)),
    licenceOf,
    leftOut: [...MAY_NOT_SHARE],
    texts: LICENCE_TEXTS,
    *names() {
      for (const [name] of namesOfTable(shared.disposable)) yield name;
    },
  };
}
