import type { TestContext } from "node:test";
import { keptLog } from "../process/kept-log.ts";
import { listServer } from "./list-server.ts";
import { manualClock } from "../time/manual-clock.ts";
import { realClock } from "../time/real-clock.ts";
import { type FeedCopy, parseCopy } from "../../src/lists/assess-feed.ts";
import { copyName, FeedFiles, unpackFeedFile } from "../../src/lists/feed-files.ts";
import { openEmbedded } from "../../src/store/database.ts";
import type { Datasets } from "../../src/core/evidence/datasets.ts";
import { createOutbound } from "../../src/outbound/outbound.ts";
import { AddressRanges } from "../../src/outbound/public-address.ts";
import { FeedRefresher } from "../../src/lists/feed-refresher.ts";
import { listWork } from "../../src/lists/feed-worker.ts";
import type { LoadedLists } from "../../src/lists/load-lists.ts";
import { noRules } from "../../src/lists/shared-datasets.ts";
import { attachDatasets } from "../../src/lists/shared-datasets.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const allowed = new AddressRanges(["127.0.0.0/8"]);

export async function openWorld(t: TestContext) {
  const folder = temporaryFolder();
  const { db, close } = await openEmbedded(folder, 0, { waitsForDisk: false });
  t.after(() => close());
  const files = new FeedFiles(db);
  const server = await listServer(t);
  const clock = manualClock();
  const log = keptLog();
  let datasets: Datasets | undefined;
  const swap = ({ shared }: LoadedLists): void => {
    datasets = attachDatasets(shared, noRules);
  };
  const refresher = async (
    more: { timeoutMsOfDed?: number; base?: string } = {},
  ): Promise<FeedRefresher> => {
    const outbound = createOutbound({
      addresses: () => ({ kind: "absent", why: "noName" }),
      clock: realClock,
      allowed,
    });
    const { timeoutMsOfDed: timeoutMs } = more;
    const made = await FeedRefresher.open({
      files,
      urlOf: ({ id }) => `${more.base ?? server.url}/${id}`,
      http: (question) =>
        outbound.http(
          timeoutMs !== undefined && question.url.endsWith("/ded")
            ? { ...question, timeoutMs }
            : question,
        ),
      clock: { nowMs: () => clock.nowMs(), after: (ms, task) => clock.after(ms, task) },
      log,
      work: listWork, // a thread for each file would take most of the time
    });
    t.after(() => made.stop());
    return made;
  };
  const sourcesOf = (name: string): readonly string[] => {
    const bits = datasets?.disposable.sourcesOf(name) ?? 0;
    return (datasets?.sources ?? []).flatMap(({ id }, bit) => ((bits >> bit) & 1 ? id : []));
  };
  const copy = async (id: string): Promise<FeedCopy | undefined> =>
    parseCopy(unpackFeedFile((await files.read(copyName(id)))[0]) ?? "", id);
  return {
    db,
    files,
    copy,
    server,
    clock,
    log,
    refresher,
    swap,
    sourcesOf,
    datasets: () => datasets,
  };
}

export const whyOf = async (refresher: FeedRefresher, id: string) =>
  (await refresher.status()).find((each) => each.id === id)?.refusal?.why;
